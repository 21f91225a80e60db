"""onehook fire: through the real launcher, as a table and as JSON."""

from __future__ import annotations

import json
import subprocess

import pytest
import warm
from click.testing import CliRunner
from harness import tool_payload

from onehook.cli import main
from onehook.hosts import HOSTS

POLICY = """
from onehook import Hooks, ask, deny

hooks = Hooks()


@hooks.on("PreToolUse")
def guard(event):
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked")
    if any(path.endswith(".env") for path in event.paths):
        return ask("secrets")
    if event.command == "crash":
        raise ValueError("crash")
"""


@pytest.fixture
def onehook(cold_onehook, monkeypatch):
    """Its launchers are forks of a warm process."""
    monkeypatch.setattr(subprocess, "run", warm.run_any)
    return cold_onehook


@pytest.fixture
def cold_onehook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.py").write_text(POLICY)
    return lambda *words, **keywords: CliRunner().invoke(main, list(words), **keywords)


def shots(result):
    return {row["host"]: row for row in json.loads(result.stdout)}


def test_a_denied_command_is_blocked_on_every_host(cold_onehook):
    result = cold_onehook("fire", "policy.py", "PreToolUse", "Bash", "command=rm -rf /", "--json")
    assert result.exit_code == 0
    rows = shots(result)
    assert list(rows) == list(HOSTS)
    assert {row["effect"] for row in rows.values()} == {"blocked"}
    assert rows["codex"]["exit_code"] == 2
    assert rows["codex"]["stderr"] == "rm -rf is blocked"
    assert rows["claude"]["payload"]["tool_input"] == {"command": "rm -rf /"}


def test_the_table_says_what_each_host_is_told_and_what_is_lost(onehook):
    text = onehook("fire", "policy.py", "Write", "file_path=.env").stdout
    flat = " ".join(text.replace("│", " ").split())
    assert "claude asked" in flat
    assert "codex blocked" in flat
    assert "'ask' is not honoured" in flat
    assert '"permissionDecision": "ask"' in flat
    assert "exit 2" in flat


def test_a_table_without_losses_has_no_column_for_them(onehook):
    assert "lost" not in onehook("fire", "policy.py", "Bash", "command=ls").stdout


def test_some_hosts(onehook):
    result = onehook("fire", "policy.py", "PreToolUse", "Bash", "command=ls", "--host", "codex,claude", "--json")
    assert list(shots(result)) == ["codex", "claude"]
    assert shots(result)["codex"]["effect"] == "runs"


def test_a_host_that_lacks_the_event_has_a_row_that_says_so(onehook):
    result = onehook("fire", "policy.py", "SubagentStart")
    assert result.exit_code == 0
    assert "not fired: has no event SubagentStart" in result.stdout
    assert shots(onehook("fire", "policy.py", "SubagentStart", "--json"))["contract"] == {
        "host": "contract",
        "absent": "has no event SubagentStart",
    }


def test_an_error_of_the_policy_is_exit_1_and_said_once(onehook):
    result = onehook("fire", "policy.py", "Bash", "command=crash")
    assert result.exit_code == 1
    assert result.stderr.count("error in the policy: handler 'guard' raised ValueError: crash") == 1
    assert "error, continues" in result.stdout


def test_values_that_are_no_texts(onehook):
    rows = shots(onehook("fire", "policy.py", "Stop", "stop_hook_active:=true", "--host", "claude", "--json"))
    assert rows["claude"]["payload"]["stop_hook_active"] is True
    rows = shots(onehook("fire", "policy.py", "mcp__db__query", "limit:=3", "--host", "claude", "--json"))
    assert rows["claude"]["payload"]["tool_input"] == {"limit": 3}


def test_the_events_folder_is_the_current_one(onehook, tmp_path):
    rows = shots(onehook("fire", "policy.py", "Bash", "command=ls", "--host", "claude", "--json"))
    assert rows["claude"]["payload"]["cwd"] == str(tmp_path)


MISTAKES = {
    "an event that does not exist": (("PreTolUse", "Bash"), "unknown event 'PreTolUse'. Did you mean PreToolUse?"),
    "nothing at all": ((), "name an event"),
    "a value with blanks that was not quoted": (("PreToolUse", "Bash", "rm"), "'rm' is not an EVENT, TOOL or KEY=VALUE"),
    "a tool that does not belong": (("Stop", "Bash"), "Stop is not about a tool"),
    "no tool": (("PreToolUse",), "PreToolUse is about a tool: name one"),
    "a field that does not exist": (("Stop", "colour=red"), "Stop has no 'colour'"),
    "an input that does not exist": (("Bash", "comand=rm -rf /"), "Bash has no input 'comand'. Did you mean command?"),
    "an input as one agent spells it": (("Write", "filePath=x"), "Write has no input 'filePath'. Did you mean file_path?"),
    "an input that is nothing like one": (("Bash", "xyzzy=1"), "Known keys: command, timeout"),
    "a host that does not exist": (("Stop", "--host", "cursr"), "unknown agent 'cursr'. Did you mean cursor?"),
    "no JSON": (("Stop", "stop_hook_active:=yes"), "the value after := must be JSON"),
    "both": (("Stop", "--payload", "x.json"), "remove 'Stop'"),
    "a payload that is not there": (("--payload", "x.json"), "x.json: No such file"),
}


@pytest.mark.parametrize("words, text", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_answered_with_the_remedy(onehook, words, text):
    result = onehook("fire", "policy.py", *words)
    assert result.exit_code == 2
    assert text in result.stderr
    assert "Traceback" not in result.output


def test_a_policy_that_is_not_there(onehook):
    assert "policy not found: nowhere.py" in onehook("fire", "nowhere.py", "Stop").stderr


NOTES = {"Shell": "Shell is cursor's own name for Bash", "Bahs": "did you mean Bash?", "Quux": "Quux is not a unified tool (Bash"}


@pytest.mark.parametrize("tool", NOTES)
def test_a_tool_that_is_not_unified_is_noted(onehook, tool):
    result = onehook("fire", "policy.py", "PreToolUse", tool, "command=ls", "--host", "claude")
    assert result.exit_code == 0
    assert NOTES[tool] in result.stderr


def test_a_captured_payload_is_fired_at_the_host_that_sent_it(onehook, tmp_path):
    (tmp_path / "captured.json").write_text(json.dumps(tool_payload("codex", "rm -rf /")))
    rows = shots(onehook("fire", "policy.py", "--payload", "captured.json", "--json"))
    assert list(rows) == ["codex"]
    assert rows["codex"]["effect"] == "blocked"
    assert rows["codex"]["payload"] == tool_payload("codex", "rm -rf /")


def test_a_captured_payload_can_be_fired_at_every_host(onehook):
    line = json.dumps({"stdin": tool_payload("cursor", "rm -rf /")})
    rows = shots(onehook("fire", "policy.py", "--payload", "-", "--host", "all", "--json", input=line))
    assert list(rows) == list(HOSTS)
    assert {row["effect"] for row in rows.values()} == {"blocked"}


def test_a_call_that_changes_two_files_is_two_calls_on_hosts_that_change_one(onehook, tmp_path):
    patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: b.env\n+y\n*** End Patch\n"
    payload = {**tool_payload("codex"), "tool_name": "apply_patch", "tool_input": {"command": patch}}
    (tmp_path / "captured.json").write_text(json.dumps(payload))
    rows = shots(onehook("fire", "policy.py", "--payload", "captured.json", "--host", "codex,claude", "--json"))
    assert {host: row["effect"] for host, row in rows.items()} == {"codex": "blocked", "claude 1/2": "runs", "claude 2/2": "asked"}


def test_a_payload_of_nobody_is_an_error(onehook):
    assert "cannot tell which agent sent this payload" in onehook("fire", "policy.py", "--payload", "-", input="{}").stderr
    assert "is not a JSON object" in onehook("fire", "policy.py", "--payload", "-", input="[]").stderr
    assert "not JSON" in onehook("fire", "policy.py", "--payload", "-", input="nonsense").stderr
