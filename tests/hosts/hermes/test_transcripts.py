"""What only Hermes has: all sessions in one database. Those in databases/ are from real runs: one with a subagent, one compacted."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from onehook.hostkit.transcripts import Counts, moments, session_file
from onehook.hosts import load, wire_of
from onehook.manifest import transcripts as made
from onehook.record.sources import Source, read

DATABASES = Path(__file__).parent / "databases"
SESSION, CHILD = "20261117_005418_019047", "20261117_005422_1aff12"


def events_of(path, counts=None):
    return [wire_of("hermes").parse(one.payload, one.native_event) for one in read(Source(str(path), "hermes"), counts or Counts())]


def test_the_sessions_of_a_database_are_told_apart_and_a_subagent_is_one():
    events = events_of(DATABASES / "subagent.db")
    assert [(event.native_event, event.session_id) for event in events] == [
        ("on_session_start", SESSION),
        ("pre_llm_call", SESSION),
        ("pre_tool_call", SESSION),
        ("subagent_start", SESSION),
        ("on_session_start", CHILD),
        ("pre_llm_call", CHILD),
        ("pre_tool_call", CHILD),
        ("post_tool_call", CHILD),
        ("post_llm_call", CHILD),
        ("on_session_end", CHILD),
        ("subagent_stop", SESSION),
        ("post_tool_call", SESSION),
        ("post_llm_call", SESSION),
        ("on_session_end", SESSION),
    ]
    assert {event.cwd for event in events} == {"/home/dev/project"}
    assert [event.agent_id for event in events if event.event == "SubagentStop"] == [CHILD]


def test_what_a_compaction_writes_once_more_is_told_once():
    events = events_of(DATABASES / "compacted.db")
    commands = [event.command for event in events if event.event == "PreToolUse"]
    assert commands == [*(f"echo {number}; seq 3000" for number in range(18)), "echo full", "echo after"]
    assert [event.command for event in events if event.event == "PostToolUse"] == commands
    assert [event.prompt for event in events if event.event == "UserPromptSubmit"] == ["do much"]


def test_the_running_session_is_read_out_of_the_database_of_all(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / ".hermes").mkdir()
    shutil.copy(DATABASES / "subagent.db", tmp_path / ".hermes" / "state.db")
    call = {"hook_event_name": "pre_tool_call", "tool_name": "terminal", "tool_input": {"command": "echo sub"}, "session_id": CHILD}
    event = wire_of("hermes").parse({**call, "cwd": "/home/dev/project", "extra": {}}, "")
    text = Path(made.built("claude", event)).read_text()
    assert "subword: look" in text and "echo sub" in text and "delegate it" not in text
    assert session_file(load("hermes", "transcripts"), CHILD) == tmp_path / ".hermes" / "state.db"


@pytest.mark.parametrize("size, told", [(10, []), (1000, ["echo after"])])
def test_of_a_large_session_the_end_is_read(size, told):
    path = DATABASES / "compacted.db"
    found = list(moments(load("hermes", "transcripts").Transcript(path), path, Counts(), size))
    assert [one.payload["tool_input"]["command"] for one in found if one.payload["hook_event_name"] == "pre_tool_call"][-1:] == told


def test_a_database_in_use_is_read_with_what_is_not_yet_in_its_file_and_nothing_is_left_beside_another(tmp_path):
    path = tmp_path / "state.db"
    shutil.copy(DATABASES / "subagent.db", path)
    before = len(events_of(path))
    assert os.listdir(tmp_path) == ["state.db"]
    open_elsewhere = sqlite3.connect(path)
    try:
        open_elsewhere.execute("PRAGMA journal_mode=WAL")
        open_elsewhere.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'more', 1.0)", (SESSION,))
        open_elsewhere.commit()
        events = events_of(path)
    finally:
        open_elsewhere.close()
    assert len(events) == before + 1 and events[-1].prompt == "more"


@pytest.mark.parametrize("spoil", [lambda raw: raw[:5000], lambda raw: raw[:100] + b"\xff" * (len(raw) - 100)])
def test_a_broken_database_is_counted_and_ends_nothing(tmp_path, spoil):
    path = tmp_path / "state.db"
    path.write_bytes(spoil((DATABASES / "subagent.db").read_bytes()))
    counts = Counts()
    assert events_of(path, counts) == []
    assert any("database that cannot be read" in name for name in counts.unknown)
