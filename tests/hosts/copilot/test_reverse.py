"""Copilot CLI in reverse: the end of a subagent's turn."""

from __future__ import annotations

from onehook.core import Response
from onehook.hosts import load
from tests.hostkit.reversing import native_event_of, reverse_of


def test_the_end_of_a_subagents_turn_takes_no_answer_from_a_copilot_script() -> None:
    body = {**native_event_of("copilot", "agentStop").native, "agentId": "a-1"}
    event = load("copilot").parse(body, "agentStop")
    assert reverse_of("copilot").payload(event) == body
    assert reverse_of("copilot").answer(event, '{"decision": "block", "reason": "R"}', "", 0) == Response()
