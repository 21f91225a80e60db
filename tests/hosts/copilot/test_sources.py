"""Copilot CLI's words for why a session starts."""

from __future__ import annotations

from onehook.hosts import load, wire_of


def test_copilots_other_word_for_a_start_stays_when_copilot_itself_sent_it():
    payload = {"sessionId": "s", "timestamp": 1, "cwd": "/p", "source": "startup"}
    event = wire_of("copilot").parse(payload, "SessionStart")
    assert event.source == "startup"
    assert load("copilot", "reverse").payload(event, "SessionStart")["source"] == "startup"


def test_a_source_of_another_event_is_left_alone():
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "timestamp": "t", "cwd": "/p", "prompt": "x", "source": "new"}
    assert wire_of("copilot").parse(payload, "").source == "new"
