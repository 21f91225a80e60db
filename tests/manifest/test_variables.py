"""Variables that a program sets for the commands of a session, on agents that have no file for them."""

from __future__ import annotations

import json
import subprocess

import pytest

from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.manifest.needs import events_of, tools_of
from onehook.policy import load_policy
from onehook.runner import answer
from tests.manifest.kit import manifest_of, sh

SETS = """cat > /dev/null; [ -z "$CLAUDE_ENV_FILE" ] || echo "export TOPIC='a b'" >> "$CLAUDE_ENV_FILE" """


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "a state"))
    monkeypatch.delenv("CLAUDE_ENV_FILE", raising=False)


def asked(path, host, event, tool="", session="s-1", **fields):
    payload = load(host, "reverse").payload(sample(event, tool, session_id=session, cwd="/p", **fields))
    return answer(json.dumps(payload).encode(), lambda: load_policy(str(path)), hosts=[host], event_name=event)


def command_of(output):
    return (output.answer.modified_input or {}).get("command")


@pytest.mark.parametrize("host", ["gemini", "codex"])
def test_a_variable_that_is_set_at_the_start_is_there_in_the_sessions_commands(tmp_path, host):
    path = manifest_of(tmp_path, sh(SETS, "claude", '["SessionStart"]'))
    assert command_of(asked(path, host, "PreToolUse", "Bash", command="printf %s x")) is None
    asked(path, host, "SessionStart", source="startup")
    command = command_of(asked(path, host, "PreToolUse", "Bash", command='printf %s "$TOPIC"'))
    assert subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout == "a b"
    assert command_of(asked(path, host, "PreToolUse", "Bash", session="another", command="printf %s x")) is None


@pytest.mark.parametrize("host", ["gemini", "codex"])
def test_a_program_is_not_told_of_the_rewrite(tmp_path, host):
    """Neither after the command nor in the transcript: the program sees the command that the agent wanted to run."""
    find = r"""s/.*"transcript_path":"\([^"]*\)".*/\1/"""
    after = f"""cat > {tmp_path}/seen; cat "$(sed '{find}' {tmp_path}/seen)" > {tmp_path}/talk"""
    path = manifest_of(tmp_path / "m", sh(SETS, "claude", '["SessionStart"]'), sh(after, "claude", '["PostToolUse"]'))
    asked(path, host, "SessionStart", source="startup")
    run = command_of(asked(path, host, "PreToolUse", "Bash", command="printf here"))
    assert run != "printf here"
    asked(path, host, "PostToolUse", "Bash", command=run, tool_response="here")
    assert json.loads((tmp_path / "seen").read_text())["tool_input"]["command"] == "printf here"
    assert "printf here" in (talk := (tmp_path / "talk").read_text()) and "/variables/" not in talk


def test_on_its_own_agent_the_agents_file_is_used(tmp_path):
    path = manifest_of(tmp_path, sh(SETS, "claude", '["SessionStart"]'))
    asked(path, "claude", "SessionStart", source="startup")
    assert command_of(asked(path, "claude", "PreToolUse", "Bash", command="ls")) is None


def test_commands_are_installed_for_a_program_that_sets_variables(tmp_path):
    sets = load_policy(str(manifest_of(tmp_path / "1", sh(SETS, "claude", '["SessionStart"]'))))
    assert list(events_of(sets, "gemini")) == ["SessionStart", "PreToolUse"] and tools_of(sets) == {"PreToolUse": "Bash"}
    assert list(events_of(sets, "claude")) == ["SessionStart"]
    other = load_policy(str(manifest_of(tmp_path / "2", sh("echo hello", "claude", '["SessionStart"]'))))
    assert list(events_of(other, "gemini")) == ["SessionStart"] and tools_of(other) == {}
