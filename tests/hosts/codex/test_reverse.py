"""Codex in reverse: its schemas, and patches shown to hosts that have none."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.core import Change, Event, HandlerError
from onehook.hostkit.reverse import patch_of, sample
from onehook.hosts import HOSTS, load
from tests.host_folders import facts
from tests.hostkit.reversing import COMMON, CWD, FAST, changes, event_on, reverse_of, samples_for
from tests.rows import check_each

SCHEMAS = {
    schema["properties"]["hook_event_name"]["const"]: schema
    for path in (Path(__file__).parent / "schemas-0.166.0").glob("*.input.schema.json")
    for schema in [json.loads(path.read_text(encoding="utf-8"))]
}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
@FAST
@given(data=st.data())
def test_a_codex_payload_keeps_to_the_schema(name: str, data: st.DataObject) -> None:
    event = data.draw(samples_for("codex", name))
    event.agent_id = data.draw(st.sampled_from(["", "a-1"]))
    event.transcript_path = data.draw(st.sampled_from(["", "/x/.claude/t.jsonl", "/x/rollout-1.jsonl"]))
    jsonschema.validate(reverse_of("codex").payload(event), SCHEMAS[name])


def test_every_codex_event_but_the_two_undocumented_ones_has_a_schema() -> None:
    assert set(load("codex").EVENTS) - set(SCHEMAS) == {"PreModelRequest", "PostModelRequest"}


def test_a_codex_tool_whose_arguments_were_no_json_is_sent_as_that_text_again() -> None:
    body = {**reverse_of("codex").payload(sample("PreToolUse", "odd", x=1)), "tool_input": "not json"}
    event = load("codex").parse(body, "")
    assert reverse_of("codex").payload(event) == body


def test_a_patch_names_files_inside_the_folder_as_codex_does() -> None:
    event = sample("PreToolUse", "Edit", file_path="src/a.py", old_string="x = 1", new_string="x = 2\ny = 3", **COMMON)
    body = reverse_of("codex").payload(event)
    assert body["tool_name"] == "apply_patch"
    assert body["tool_input"] == {"command": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x = 1\n+x = 2\n+y = 3\n*** End Patch\n"}


def steps(made: list[Change]) -> list[Change]:
    """Moves as they are shown to other hosts."""
    told: list[Change] = []
    for change, after in zip(made, [*made[1:], None]):
        if change.kind != "move":
            told.append(change)
            continue
        told.append(Change(change.path, "delete"))
        if after is None or after.path != change.to:
            told.append(Change(str(change.to), "edit", "", ""))
    return told


@settings(max_examples=150)
@given(made=changes())
def test_a_patch_of_several_files_is_shown_file_by_file_to_every_other_host(made: list[Change]) -> None:
    body = reverse_of("codex").payload(sample("PreToolUse", "Edit", file_path="x", **COMMON))
    event = load("codex").parse({**body, "tool_input": {"command": patch_of(made, CWD)}}, "")

    def check(host: str) -> None:
        parsed = [load(host).parse(reverse_of(host).payload(part), "") for part in reverse_of(host).parts(event.copy())]
        assert [change for one in parsed for change in one.changes] == facts(host).changes_as_told("", steps(event.changes))
        assert {path for one in parsed for path in one.paths} == set(event.paths)
        if len(parsed) > 1:
            with pytest.raises(HandlerError, match="several files"):
                reverse_of(host).payload(event.copy())

    check_each(check, [host for host in HOSTS if host != "codex"])


def rewritten_patch(event: Event, command: str) -> Event:
    """The event as its own host's later handlers see it, after a Codex hook has rewritten the patch that it was shown."""
    read = reverse_of("codex").answer(event, json.dumps(facts("codex").rewrite({"command": command})), "", 0)
    assert read.decision == "allow"
    return event.rewritten(read.modified_input or {})


@pytest.mark.parametrize("event_host", [host for host in HOSTS if host != "codex"])
def test_a_rewritten_patch_reaches_a_host_without_patches(event_host: str) -> None:
    event = event_on(event_host, "Write", file_path="a", content="old")
    (change,) = rewritten_patch(event, patch_of([Change("a", "write", None, "new")], "")).changes
    assert (change.kind, change.new) == ("write", "new\n")
    assert change.path in (f"{CWD}/a", "a")  # the contract does not report the working directory


@pytest.mark.parametrize("command", [patch_of([Change("a", "delete")], ""), "no patch"])
def test_a_rewritten_patch_that_cannot_be_carried_is_an_error_and_not_lost(command: str) -> None:
    with pytest.raises(HandlerError, match="rewrites"):
        rewritten_patch(event_on("claude", "Write", file_path="a", content="x"), command)


def test_one_file_of_a_patch_of_two_cannot_be_rewritten_alone() -> None:
    body = event_on("codex", "Write", file_path="a", content="x").native
    two = patch_of([Change("a", "write", None, "x\n"), Change("b", "write", None, "y\n")], "")
    part = reverse_of("claude").parts(load("codex").parse({**body, "tool_input": {"command": two}}, ""))[1]
    with pytest.raises(HandlerError, match="as a whole"):
        reverse_of("claude").answer(part, json.dumps(facts("claude").rewrite({"content": "z"})), "", 0)
