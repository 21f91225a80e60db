"""Gemini CLI in reverse: prompts that contain a URL, calls that read several files, failures inside results."""

from __future__ import annotations

import json

import pytest

from onehook.core import HandlerError, Response
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, detect, load
from tests.host_folders import facts
from tests.hostkit.reversing import COMMON, CWD, event_on, reverse_of


def test_a_prompt_that_holds_the_url_is_rewritten_on_its_own_host_only() -> None:
    event = event_on("claude", "WebFetch", url="https://a.example", prompt="sum it up")
    sent = reverse_of("gemini").payload(event)["tool_input"]
    assert sent == {"prompt": "https://a.example sum it up"}
    assert reverse_of("gemini").answer(event, json.dumps(facts("gemini").rewrite(sent)), "", 0) == Response()
    with pytest.raises(HandlerError, match="contains the URL"):
        reverse_of("gemini").answer(event, json.dumps(facts("gemini").rewrite({"prompt": "https://b.example"})), "", 0)


@pytest.mark.parametrize("target", [host for host in HOSTS if host != "gemini"])
def test_a_call_that_reads_several_files_is_shown_file_by_file(target: str) -> None:
    body = reverse_of("gemini").payload(sample("PreToolUse", "Read", file_path="a", **COMMON))
    body.update(tool_name="read_many_files", tool_input={"include": ["a", "secrets/*"]})
    event = load("gemini").parse(body, "")
    shown = [load(target).parse(reverse_of(target).payload(part), "") for part in reverse_of(target).parts(event)]
    assert [one.paths for one in shown] == [[f"{CWD}/a"], [f"{CWD}/secrets/*"]]
    assert reverse_of("gemini").parts(event) == [event]


def test_a_gemini_failure_stays_in_the_result() -> None:
    event = sample("PostToolUse", "Bash", command="ls", error="no such file", **COMMON)
    assert load("gemini").parse(reverse_of("gemini").payload(event), "").error == "no such file"


def test_an_empty_transcript_does_not_make_a_gemini_session_a_copilot_one() -> None:
    body = reverse_of("gemini").payload(sample("SessionStart", **COMMON))
    assert body["transcript_path"] == ""
    assert detect(body).ID == "gemini"
