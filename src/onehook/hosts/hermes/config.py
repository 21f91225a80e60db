"""Hermes Agent's shell hooks in ~/.hermes/config.yaml (0.19.0): no project has hooks of its own.

A command is split into words and started without a shell. What fails, cannot be started or takes too long is passed over, so the command
that install writes is one for /bin/sh, which blocks if what it starts does not end well.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.config import (
    GUARD_ON_STDOUT,
    TOOL_EVENTS,
    Commands,
    Diagnosis,
    Found,
    Machine,
    Place,
    Switches,
    Traits,
    Wish,
    above_zero,
    hook_faults,
    listed_entries,
    native_tools,
    no_text_problems,
)
from onehook.hosts.hermes import wire

TITLE = "Hermes"
BINARIES = ("hermes",)
FOLDERS = (".hermes",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
HOST_IDS = ("hermes",)
PROJECT = ""
text_problems = no_text_problems
MAX_SECONDS = 300
_SHELL = ("/bin/sh", "-c")
_OFF = ("HERMES_SAFE_MODE", "HERMES_IGNORE_USER_CONFIG")


def hermes_folder(machine: Machine) -> Path:
    local = machine.variables.get("LOCALAPPDATA", "")
    return machine.folder("HERMES_HOME", str(Path(local) / "hermes") if machine.windows and local else ".hermes")


def places(machine: Machine) -> list[Place]:
    folder = hermes_folder(machine)
    return [Place("user", folder / "config.yaml", "yaml", machine.scope_of(folder))]


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    """Without a shell a variable stays as it is, so on Windows the command is the words alone."""
    native = EVENTS.get(event, event)
    command = shlex.join(commands.words) if windows else shlex.join((*_SHELL, commands.posix))
    matcher = native_tools(wish.matcher(event), wire.TOOLS, "mcp__.*") if event in TOOL_EVENTS else ""
    timeout = min(wish.host_timeout, MAX_SECONDS)
    return ("hooks", native), {"command": command, **({"matcher": matcher} if matcher else {}), "timeout": timeout}


def command_of(entry: Any) -> str | None:
    """What the shell of an entry runs; the command itself if it names none."""
    command = entry.get("command") if isinstance(entry, dict) else None
    if not isinstance(command, str):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and tuple(words[:2]) == _SHELL else command


def found(data: Any) -> Iterator[Found]:
    return listed_entries(data, command_of)


def problems(data: Any) -> list[str]:
    """Hermes passes over what is wrong, with a line in its log."""
    hooks = data.get("hooks") if isinstance(data, dict) else None
    known = {"hooks": {} if hooks is None else hooks} if isinstance(data, dict) else data
    return hook_faults(known, "the file is not a mapping", '"hooks" is not a mapping', _fault, _effect)


def _effect(event: str) -> str:
    return "Hermes passes over it" if event != "output_spill" else ""


def _fault(entry: Any) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str) or not entry["command"].strip():
        return 'an entry needs a "command"'
    return "" if above_zero(entry.get("timeout", 60)) else '"timeout" is not a number of seconds'


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    on = [name for name in _OFF if ours and machine.variables.get(name, "").strip().lower() in ("1", "true", "yes", "on")]
    return [Diagnosis("fail", f"{name} is set: Hermes runs no shell hooks", f"unset {name}") for name in on]


def _switches(machine: Machine) -> list[Path]:
    bases = (hermes_folder(machine), machine.home / ".hermes")
    return [base / name for base in bases for name in ("config.yaml", ".env", "plugins", "shell-hooks-allowlist.json")]


TRAITS = Traits(
    captured=("0.19.0",),
    longest_timeout=MAX_SECONDS,  # seen with 0.19.0: a hook of four and a half minutes is waited for, and its denial obeyed
    programs=(".local/bin/hermes",),
    shell_variables=("HERMES_SESSION_ID",),
    reloads=False,
    guard=GUARD_ON_STDOUT,
    whole=True,
    unguarded={
        "execute_code": "its Python code can start programs and write files by itself; only the tools that it calls are checked",
        "process": "it can type into a command that is already running",
    },
    switches=Switches(
        _switches,
        ("hooks revoke", "hooks remove", "hooks rm", "--safe-mode", "--ignore-user-config", "config", "plugins", "profile"),
        ("HERMES_HOME", *_OFF),
    ),
)
