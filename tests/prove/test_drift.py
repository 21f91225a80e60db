"""The fields that agents send: the committed tables match the captures, and changes are reported."""

from __future__ import annotations

from onehook.hosts import HOSTS
from onehook.prove.drift import changes, fields_of, known_fields
from tests.host_folders import captures, lines_of


def test_the_committed_fields_are_those_of_the_captures() -> None:
    sent = [(host, line["stdin"]) for host in HOSTS for path in captures(host) for line in lines_of(path)]
    assert known_fields() == fields_of(sent)  # otherwise run: python -m onehook.prove.drift CAPTURES


def test_new_and_missing_fields_are_reported_for_events_that_both_tables_have() -> None:
    before = {"claude": {"PreToolUse Bash": ["cwd", "tool_input"], "Stop": ["cwd"]}}
    now = {"claude": {"PreToolUse Bash": ["tool_input", "turn"], "SessionEnd": ["reason"]}, "codex": {"Stop": ["cwd"]}}
    assert changes(before, now) == ["claude PreToolUse Bash: new field turn", "claude PreToolUse Bash: field cwd is gone"]


def test_a_payload_of_no_known_agent_is_left_out() -> None:
    assert fields_of([("claude", {"hello": "world"})]) == {}
