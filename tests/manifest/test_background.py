"""Programs in the background: they are started but not waited for, and their output is delivered with a later event."""

from __future__ import annotations

import json
import os
import time

import pytest

from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.manifest.needs import events_of
from onehook.policy import load_policy
from onehook.runner import answer
from tests.manifest.kit import manifest_of, sh

PATIENCE = 30  # seconds after which a job counts as lost


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def asked(path, host, event, tool="", session="s-1", **fields):
    payload = load(host, "reverse").payload(sample(event, tool, session_id=session, cwd="/p", **fields))
    return answer(json.dumps(payload).encode(), lambda: load_policy(str(path)), hosts=[host], event_name=event)


def wait_for(found):
    end = time.monotonic() + PATIENCE
    while not found() and time.monotonic() < end:
        time.sleep(0.02)
    return found()


def jobs(state, ending):
    return [name for _, _, names in os.walk(state / "background") for name in names if name.endswith(ending)]


CONTEXT = """cat > {seen}; echo '{{"hookSpecificOutput": {{"hookEventName": "PostToolUse", "additionalContext": "tests pass"}}}}'"""


def test_a_program_in_the_background_is_not_waited_for_and_its_context_comes_with_the_next_prompt(tmp_path, state):
    gate = tmp_path / "gate"
    script = f"while [ ! -e {gate} ]; do sleep 0.05; done; " + CONTEXT.format(seen=tmp_path / "seen")
    path = manifest_of(tmp_path, sh(script, "claude", '["PostToolUse"]', "background = true"))
    first = asked(path, "codex", "PostToolUse", "Bash", command="make test")
    assert first.stdout == "" and not (tmp_path / "seen").exists()
    assert asked(path, "codex", "UserPromptSubmit", prompt="hm").stdout == ""
    gate.touch()
    assert wait_for(lambda: jobs(state, ".rc"))
    assert json.loads((tmp_path / "seen").read_text())["tool_input"]["command"] == "make test"
    assert asked(path, "codex", "UserPromptSubmit", session="another", prompt="hm").stdout == ""
    told = json.loads(asked(path, "codex", "UserPromptSubmit", prompt="go on").stdout)
    assert told["hookSpecificOutput"]["additionalContext"] == "tests pass"
    assert jobs(state, "") == []


def test_a_program_in_the_background_decides_nothing(tmp_path, state):
    path = manifest_of(tmp_path, sh("exit 2", "claude", '["PreToolUse"]', "background = true"))
    assert asked(path, "gemini", "PreToolUse", "Bash", command="rm x").answer.decision is None


def test_one_that_wakes_sends_the_agent_back_to_work(tmp_path, state):
    path = manifest_of(tmp_path, sh("echo 'the build broke' >&2; exit 2", "claude", '["PostToolUse"]', "wake = true"))
    asked(path, "gemini", "PostToolUse", "Bash", command="make")
    assert wait_for(lambda: jobs(state, ".rc"))
    stopped = asked(path, "gemini", "Stop")
    assert (stopped.answer.decision, stopped.answer.reason) == ("deny", "the build broke")
    assert asked(path, "gemini", "Stop").answer.decision is None


def test_a_program_that_takes_too_long_is_ended(tmp_path, state):
    path = manifest_of(tmp_path, sh("sleep 60", "claude", '["PostToolUse"]', "background = true\ntimeout = 0.2"))
    asked(path, "gemini", "PostToolUse", "Bash", command="make")
    assert wait_for(lambda: jobs(state, ".rc"))


def test_the_events_with_which_it_is_told_are_installed(tmp_path):
    quiet = load_policy(str(manifest_of(tmp_path / "1", sh("exit 0", "claude", '["PostToolUse"]', "background = true"))))
    assert list(events_of(quiet, "claude")) == ["PostToolUse", "UserPromptSubmit"]
    waking = load_policy(str(manifest_of(tmp_path / "2", sh("exit 0", "claude", '["PostToolUse"]', "wake = true"))))
    assert list(events_of(waking, "claude")) == ["PostToolUse", "UserPromptSubmit", "Stop"]
