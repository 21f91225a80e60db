"""Qwen Code in reverse: permission requests, todos, repeated prompts."""

from __future__ import annotations

from onehook.core import Response
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from tests.hostkit.reversing import COMMON, native_event_of, reverse_of, specific


def test_only_a_permission_request_rewrites_for_a_qwen_script() -> None:
    event = load("claude").parse(reverse_of("claude").payload(sample("PermissionRequest", "Read", file_path="/a")), "")
    dialog = specific("PermissionRequest", decision={"behavior": "allow", "updatedInput": {"file_path": "/b"}})
    assert reverse_of("qwen").answer(event, dialog, "", 0) == Response("allow", modified_input={"file_path": "/b"})


def test_a_todo_that_is_written_already_is_not_refused() -> None:
    event = native_event_of("qwen", "TodoCreated")
    event.native["phase"] = "postWrite"
    assert reverse_of("qwen").answer(event, '{"decision": "block", "reason": "R"}', "", 0) == Response()


def test_a_qwen_prompt_that_is_repeated_on_the_way_back_from_a_tool_stays_an_echo() -> None:
    event = sample("UserPromptSubmit", **COMMON)
    assert not load("qwen").parse(reverse_of("qwen").payload(event), "").echo
    event.echo = True
    assert load("qwen").parse(reverse_of("qwen").payload(event), "").echo
