"""Hermes Agent: what the entry that install writes does when something goes wrong, and what switches hooks off."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onehook.hostkit.config import GUARD_ON_STDOUT, Commands, Machine, Wish
from onehook.hosts.hermes import config, imports, trust, wire
from onehook.setup.command import LAUNCHER, without_guard

CALL = {
    "hook_event_name": "pre_tool_call",
    "tool_name": "terminal",
    "tool_input": {"command": "ls"},
    "session_id": "s",
    "cwd": "/p",
    "extra": {},
}
POLICY = "from onehook import Hooks, deny\nhooks = Hooks(fail='closed')\n@hooks.on('PreToolUse')\ndef no(event):\n    return deny('no')\n"


def stdout_of(python: str, policy: Path, payload: Any = CALL) -> str:
    """What Hermes reads: it splits the command into words, starts them without a shell, and ignores exit codes and stderr."""
    words = (python, "-I", "-S", str(LAUNCHER), str(policy), "--host", "hermes", "--event", "PreToolUse", "--fail", "closed")
    commands = Commands(shlex.join(words) + GUARD_ON_STDOUT, "", "", words)
    _, entry = config.slot("PreToolUse", commands, Wish(fail_closed=True), False)
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return subprocess.run(shlex.split(entry["command"]), input=text, capture_output=True, text=True, timeout=60, check=False).stdout


def blocked(stdout: str) -> bool:
    said = json.loads(stdout)  # exactly one object: two would not count
    return said["decision"] == "block" and bool(said["reason"])


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    (tmp_path / "policy.py").write_text(POLICY)
    return tmp_path / "policy.py"


def test_a_deny_is_one_object_on_stdout(policy: Path) -> None:
    assert json.loads(stdout_of(sys.executable, policy)) == {"decision": "block", "reason": "no"}


@pytest.mark.parametrize("program", [None, "#!/bin/sh\nexit 1\n", "#!/bin/sh\nkill -9 $$\n", "not a program"])
def test_an_interpreter_that_is_gone_or_fails_blocks(policy: Path, tmp_path: Path, program: str | None) -> None:
    python = tmp_path / "python"
    if program is not None:
        python.write_text(program)
        python.chmod(0o755)
    assert blocked(stdout_of(str(python), policy))


@pytest.mark.parametrize("payload", ["", "{", "[]", {**CALL, "tool_name": None}, {**CALL, "hook_event_name": "nonsense"}])
def test_a_payload_that_cannot_be_read_blocks(policy: Path, payload: Any) -> None:
    assert blocked(stdout_of(sys.executable, policy, payload))


def test_a_policy_that_cannot_be_loaded_blocks(policy: Path) -> None:
    policy.write_text("def broken(:\n")
    assert blocked(stdout_of(sys.executable, policy))
    policy.unlink()
    assert blocked(stdout_of(sys.executable, policy))


def test_an_entry_is_read_back_without_the_shell_around_it() -> None:
    text = "python3 /x/onehook/launch.py" + GUARD_ON_STDOUT
    (path, entry) = config.slot("PreToolUse", Commands(text, "", "", ()), Wish(), False)
    (found,) = config.found({"hooks": {path[1]: [entry], "output_spill": {"x": 1}}})
    assert (found.event, found.command) == ("pre_tool_call", text)
    assert without_guard(found.command) == ("python3 /x/onehook/launch.py", GUARD_ON_STDOUT)
    (other,) = config.found({"hooks": {"pre_tool_call": [{"command": "bash 'x"}, {"matcher": "y"}]}})
    assert other.command == "bash 'x"


@pytest.mark.parametrize("variable", ["HERMES_SAFE_MODE", "HERMES_IGNORE_USER_CONFIG"])
def test_doctor_says_which_variable_switches_hooks_off(tmp_path: Path, variable: str) -> None:
    data = {"hooks": {"pre_tool_call": [{"command": "x"}]}}
    on, off = (Machine(tmp_path, tmp_path, {variable: value}) for value in ("1", "0"))
    (place,) = config.places(on)
    ours = list(config.found(data))
    assert [diagnosis.level for diagnosis in config.diagnose(on, place, data, ours)] == ["fail"]
    assert config.diagnose(off, place, data, ours) == config.diagnose(on, place, data, []) == []


@pytest.mark.parametrize(
    ("settings", "variables", "asked"),
    [
        ("", {}, True),
        ("hooks_auto_accept: true\n", {}, False),
        ("hooks_auto_accept: 'yes'\n", {}, False),
        ("hooks_auto_accept: false\n", {}, True),
        ("", {"HERMES_ACCEPT_HOOKS": "1"}, False),
        ("a: &b 1\n", {}, True),
    ],
)
def test_consent_is_for_an_event_and_a_command(tmp_path: Path, settings: str, variables: dict[str, str], asked: bool) -> None:
    machine = Machine(tmp_path, tmp_path / "p", variables)
    (place,) = config.places(machine)
    place.path.parent.mkdir(parents=True)
    place.path.write_text(settings)
    ours = list(config.found({"hooks": {"pre_tool_call": [{"command": "/bin/sh -c 'x'"}], "pre_verify": [{"command": "/bin/sh -c 'x'"}]}}))
    known = {"approvals": [{"event": "pre_verify", "command": "/bin/sh -c 'x'"}, "strange"]}
    grants = trust.needed(machine, place, ours, known)
    assert [(grant.value["event"], grant.value["command"]) for grant in grants] == ([("pre_tool_call", "/bin/sh -c 'x'")] if asked else [])


@pytest.mark.parametrize(
    ("entry", "run", "tools", "refused"),
    [
        ({"command": "~/x.sh --flag 'a b'", "timeout": 900}, ["~/x.sh", "--flag", "a b"], [], ""),
        ({"command": "x", "matcher": "terminal|write_file"}, ["x"], ["Bash", "Write"], ""),
        ({"command": "x", "matcher": "mcp__db__.*"}, ["x"], ["mcp__db__*"], ""),
        ({"command": "x 'y"}, "", [], "its command cannot be split into words, so Hermes does not run it"),
        ({"matcher": "terminal"}, "", [], "it is of type 'command', not a command"),
    ],
)
def test_hooks_are_imported_as_hermes_runs_them(entry: dict[str, Any], run: object, tools: list[str], refused: str) -> None:
    (hook,) = imports.handlers({"hooks": {"pre_tool_call": [entry]}})
    assert (hook.run, hook.tools, hook.refused) == (run, tools, refused)
    assert hook.timeout <= config.MAX_SECONDS


def test_an_event_that_onehook_does_not_know_is_reported() -> None:
    (hook,) = imports.handlers({"hooks": {"pre_api_request": [{"command": "x"}]}})
    assert hook.refused == "Hermes has no event 'pre_api_request'" and "pre_api_request" not in wire.EVENTS
