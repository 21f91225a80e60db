"""What only Kimi Code's sessions have: a file for each subagent, and compactions."""

from __future__ import annotations

from onehook.hostkit.transcripts import Counts
from onehook.hosts import load, wire_of
from onehook.record.sources import read, transcripts
from tests.host_folders import transcripts as home


def told():
    """The events of each session, by the first prompt or, for a subagent, by its name."""
    found = {}
    for source in transcripts(["kimi"], 0, home("kimi")):
        events = [wire_of("kimi").parse(one.payload, one.native_event) for one in read(source, Counts())]
        key = next((event.prompt for event in events if event.event == "UserPromptSubmit"), source.path.split("/")[-2])
        found[key] = events
    return found


def test_a_subagent_is_told_in_both_files_and_its_session_starts_once():
    sessions = told()
    main, sub = sessions["delegate it, please"], sessions["agent-0"]
    names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart", "SubagentStop", "PostToolUse", "Stop"]
    assert [event.event for event in main] == names
    assert (main[3].agent_type, main[4].agent_type, main[4].last_assistant_message) == ("coder", "coder", "sub done")
    assert [(event.event, event.command) for event in sub] == [("PreToolUse", "echo sub"), ("PostToolUse", "echo sub"), ("Stop", "")]
    assert {event.session_id for event in main} == {event.session_id for event in sub}
    assert {event.cwd for event in (*main, *sub)} == {"/home/dev/project"}


def test_a_compaction_is_told_from_its_begin_to_its_end():
    events = told()["do it"]
    names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "Stop"]
    assert [event.native_event for event in events] == names


def test_a_session_is_found_by_its_id_although_no_payload_names_its_file(monkeypatch):
    from onehook.hostkit.transcripts import session_file

    monkeypatch.setenv("HOME", str(home("kimi")))
    path = session_file(load("kimi", "transcripts"), "session_89bec40d-18ad-4eab-baf1-c7bebb87666a")
    assert path.is_file() and path.name == "wire.jsonl" and "session_89bec40d" in str(path)
    assert not session_file(load("kimi", "transcripts"), "session_[0-9]*").is_file()
