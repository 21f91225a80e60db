"""Cursor in reverse: MCP calls, and what a script may rewrite."""

from __future__ import annotations

import json

import pytest

from onehook.core import HandlerError, Response
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from tests.host_folders import facts
from tests.hostkit.reversing import event_on, reverse_of


def test_a_rewritten_cursor_mcp_call_stays_json_text() -> None:
    reverse, wire = reverse_of("cursor"), load("cursor")
    event = wire.parse(reverse.payload(sample("PreToolUse", "MCP", server="db", tool="q", sql="drop"), "beforeMCPExecution"), "")
    assert reverse.payload(event) == event.native
    assert reverse.payload(event.rewritten({"sql": "select"}))["tool_input"] == '{"sql":"select"}'


def test_a_rewrite_that_the_events_own_host_cannot_make_is_an_error_and_not_lost() -> None:
    event = event_on("claude", "Bash", command="ls")
    with pytest.raises(HandlerError, match="rewrites"):
        reverse_of("cursor").answer(event, json.dumps(facts("cursor").rewrite({"command": "ls", "cwd": "/tmp"})), "", 0)


def test_an_answer_is_read_for_the_native_event_that_the_script_was_shown() -> None:
    event = event_on("claude", "Read", file_path="a")
    ask = '{"permission": "ask"}'
    assert reverse_of("cursor").answer(event, ask, "", 0) == Response("ask")
    assert reverse_of("cursor").answer(event, ask, "", 0, "beforeReadFile").decision == "deny"
