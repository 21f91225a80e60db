"""What is specific to Vibe's sessions: a journal that follows snapshots, subagents in separate folders, prompts that no hook gets."""

from __future__ import annotations

import json
import shutil

import pytest

from onehook.hostkit.transcripts import Counts, event_of, moments
from onehook.hosts.vibe import wire
from onehook.hosts.vibe.transcripts import FILES, FOLDER, Transcript
from tests.host_folders import transcripts

SESSIONS = sorted((transcripts("vibe") / FOLDER).glob(FILES[0]))


def events_of(path):
    return [event_of(moment, wire) for moment in moments(Transcript(path), path, Counts())]


@pytest.fixture
def delegating():
    """A session that started a subagent: only the end of its journal is left."""
    (path,) = [path for path in SESSIONS if not (path / "journal" / "0000000000000001.jsonl").exists() and (path / "meta.json").exists()]
    return path


def test_what_the_journal_no_longer_has_is_read_from_the_snapshot(delegating):
    told = [(event.event, event.tool, event.prompt or event.tool_input.get("message")) for event in events_of(delegating)]
    task = "subtask-alpha: run one command"
    assert told[:3] == [("UserPromptSubmit", "", "delegate it"), ("PreToolUse", "Agent", task), ("PostToolUse", "Agent", task)]


def test_a_session_is_the_same_by_either_of_its_snapshots(tmp_path):
    (whole,) = [path for path in SESSIONS if len(list(path.glob("journal/*1.jsonl"))) == 1 and len(events_of(path)) > 8]
    later = tmp_path / whole.name
    shutil.copytree(whole, later)
    shutil.rmtree(later / "generations" / "0000000000000001")
    (later / "journal" / "0000000000000001.jsonl").unlink()
    plain = [
        [(event.event, event.tool_input, event.prompt, event.last_assistant_message) for event in events_of(one)] for one in (whole, later)
    ]
    assert plain[0] == plain[1] and len(plain[0]) == 14


def test_a_subagents_session_has_its_parents_folder_and_is_told_as_the_subagents():
    (child,) = [path for path in SESSIONS if path.name.startswith("child-")]
    events = events_of(child)
    assert [event.event for event in events] == ["PreToolUse", "PostToolUse", "Stop"]  # its task is not a person's prompt
    assert {(event.cwd, event.agent_id) for event in events} == {("/home/dev/project", child.name)}


def test_a_call_that_a_hook_denied_is_told_without_a_result(tmp_path):
    """As written by 3.0.2: the hook's request contains the call, and the skipped effect has no input."""
    call = {"action_id": "a1", "call": {"arguments": {"command": "rm -rf x"}, "name": "file_system.bash"}, "call_id": "call_1_0"}
    asked = {"hook": "pre_tool_call", "input": {"tool_call": call}, "type": "hook_call"}
    detail, state = {"input": None, "kind": "tool", "toolName": "tool"}, {"reason": "no", "status": "skipped"}
    skipped = {"op": "append_entry", "entry": {"detail": detail, "id": "effect-a1", "state": state, "type": "effect"}}
    lines = [
        {"payload": {"kind": "hook", "request": asked}, "type": "action_intent"},
        {"payload": {"delta": [skipped]}, "type": "projection_delta"},
    ]
    path = tmp_path / "s-1" / "journal" / "0000000000000001.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert [(event.event, event.command) for event in events_of(tmp_path / "s-1")] == [("PreToolUse", "rm -rf x")]
