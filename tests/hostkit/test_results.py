"""event.result: the parts that no capture shows. What the real agents send is in the captures of results (tests/hosts/<id>/captures)."""

from __future__ import annotations

from typing import Any

import pytest

from onehook import Event, Result
from onehook.hostkit.effects import Results
from onehook.hostkit.results import replaced, result_of
from onehook.hostkit.transcripts import Counts, event_of, moments
from onehook.hosts import HOSTS, having, load, wire_of
from tests.host_folders import captures, facts, folder, lines_of


def result_event(host: str, tool: str, name: str = "PostToolUse", **fields: Any) -> Event:
    payload = {"hook_event_name": name, "session_id": "s", "cwd": "/p", "tool_name": tool, "tool_input": {"command": "x"}, **fields}
    return wire_of(host).parse(payload, name)


def test_an_event_without_a_result_has_an_empty_one() -> None:
    event = result_event("claude", "Bash", "PreToolUse")
    assert event.result == Result()
    assert event.to_dict()["result"] is None


def test_the_result_is_read_once_and_only_when_it_is_asked_for() -> None:
    event = result_event("claude", "Bash", tool_response={"stdout": "out", "stderr": "err"})
    assert event._result is None
    assert event.result.text == "out\nerr"
    assert event.result is event.result


@pytest.mark.parametrize(
    ("host", "tool", "response", "text", "exit_code"), [(host, *row) for host in HOSTS for row in facts(host).RESULT_TEXTS]
)
def test_the_text_is_the_output_alone(host: str, tool: str, response: Any, text: str, exit_code: int | None) -> None:
    payload = facts(host).result_payload({"session_id": "s", "cwd": "/p", "tool_name": tool, "tool_input": {"command": "x"}}, response)
    event = wire_of(host).parse(payload, "")
    assert (event.result.text, event.result.exit_code) == (text, exit_code)
    assert event.result.structured == response


@pytest.mark.parametrize("host", HOSTS)
def test_a_captured_result_with_another_text_has_the_same_shape_and_nothing_of_the_old_one(host: str) -> None:
    form = wire_of(host).RESULTS
    for path in captures(host):
        for line in lines_of(path):
            event = wire_of(host).parse(line["stdin"], line["event"] if "event" in line else line["argv"][0])
            unheld = event.tool_response is None or event.tool in facts(host).UNHELD_RESULTS
            if event.event != "PostToolUse" or event.tool not in ("Bash", "Read", "MCP") or unheld:
                continue
            after = event.copy()
            after._result = None
            after.tool_response = replaced(event, form, "the new text")
            assert type(after.tool_response) is type(event.tool_response)
            assert after.result.text == "the new text"
            assert after.result.exit_code == event.result.exit_code
            if isinstance(event.tool_response, dict):
                assert after.tool_response.keys() == event.tool_response.keys()


def test_what_repeats_an_output_is_left_out_of_a_replaced_result() -> None:
    response = {"stdout": "secret", "stderr": "secret", "isImage": False, "persistedOutputPath": "/tmp/secret"}
    event = result_event("claude", "Bash", tool_response=response)
    assert replaced(event, wire_of("claude").RESULTS, "new") == {"stdout": "new", "stderr": "", "isImage": False}
    mcp = result_event("codex", "mcp__s__t", tool_response={"content": [{"type": "text", "text": "secret"}], "structuredContent": "secret"})
    assert replaced(mcp, wire_of("codex").RESULTS, "new") == {"content": [{"type": "text", "text": "new"}]}


def test_a_result_without_a_place_for_a_text_cannot_be_replaced() -> None:
    event = result_event("claude", "Read", tool_response={"type": "image", "file": {"base64": "x"}})
    assert replaced(event, wire_of("claude").RESULTS, "new") is None


@pytest.mark.parametrize("host", having("transcripts"))
def test_a_transcript_tells_what_each_tool_gave_back(host: str) -> None:
    """Each session ran `mkdir -p build && ls`, `false`, read old.txt where there is a tool for it, and called the MCP tool."""
    reader = load(host, "transcripts")
    found = [path for pattern in reader.FILES for path in sorted((folder(host) / "transcripts" / reader.FOLDER).glob(pattern))]
    events = [event_of(moment, wire_of(host)) for path in found for moment in moments(reader.Transcript(path), path, Counts())]
    results = [(event.tool, event.result.text.strip(), event.result.exit_code) for event in events if event.event.startswith("PostTool")]
    assert ("Bash", facts(host).LISTED, facts(host).SUCCESS) in results
    if load(host, "live").mcp("proof", "note", {}):
        assert ("MCP", "noted: hi", None) in results
    if "false" not in facts(host).FAILED_UNTOLD:
        assert [event.result.failed for event in events if event.command == "false" and event.event.startswith("PostTool")] == [True] * sum(
            result == ("Bash", "", 1) for result in results
        )
        assert ("Bash", "", 1) in results
    if facts(host).READ is not None:
        assert ("Read", facts(host).READ, None) in results


@pytest.mark.parametrize(
    ("output", "text", "exit_code", "instead"),
    [
        ("a\n\n\nended with 3", "a\n", 3, "new\n\nended with 3"),
        ("none\n\nended with 3", "", 3, "new\n\nended with 3"),
        ("a\nended with 3", "a\nended with 3", None, "new"),  # without the line that the agent puts before it
        ("\nended with 3", "", 3, "new\nended with 3"),
    ],
)
def test_a_tail_of_several_lines_is_taken_off_as_a_whole(output: str, text: str, exit_code: int | None, instead: str) -> None:
    event = result_event("claude", "Bash", tool_response=output)
    form = Results(tails=("\nended with #",), marker="ended with ", empty="none")
    found = result_of(event, form)
    assert (found.text, found.exit_code) == (text, exit_code)
    assert replaced(event, form, "new") == instead
