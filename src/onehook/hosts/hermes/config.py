"""Hermes Agent's shell hooks in ~/.hermes/config.yaml (0.19.0): projects do not have hooks.

A command is split into words and started without a shell. A hook that fails, cannot be started or takes too long is ignored, so install
writes a command for /bin/sh, which blocks if what it starts does not succeed.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.hermes import wire

TITLE = "Hermes"
BINARIES = ("hermes",)
FOLDERS = (".hermes",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
PROJECT = ""
text_problems = kit.no_text_problems
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
    """Without a shell, variables are not expanded, so on Windows the command consists only of the words."""
    native = EVENTS.get(event, event)
    command = shlex.join(commands.words) if windows else shlex.join((*_SHELL, commands.posix))
    matcher = kit.native_tools(wish.matcher(event), wire.TOOLS, "mcp__.*") if event in kit.TOOL_EVENTS else ""
    timeout = min(wish.host_timeout, MAX_SECONDS)
    return ("hooks", native), {"command": command, **({"matcher": matcher} if matcher else {}), "timeout": timeout}


def command_of(entry: Any) -> str | None:
    """What an entry's shell runs; the command itself if it does not name a shell."""
    command = entry.get("command") if isinstance(entry, dict) else None
    if not isinstance(command, str):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and tuple(words[:2]) == _SHELL else command


def found(data: Any) -> Iterator[Found]:
    return kit.listed_entries(data, command_of)


def problems(data: Any) -> list[str]:
    """Hermes skips faulty entries, with a line in its log."""
    hooks = data.get("hooks") if isinstance(data, dict) else None
    known = {"hooks": {} if hooks is None else hooks} if isinstance(data, dict) else data
    return kit.hook_faults(known, "the file is not a mapping", '"hooks" is not a mapping', _fault, _effect)


def _effect(event: str) -> str:
    return "Hermes skips it" if event != "output_spill" else ""


def _fault(entry: Any) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str) or not entry["command"].strip():
        return 'an entry needs a "command"'
    return "" if kit.above_zero(entry.get("timeout", 60)) else '"timeout" is not a number of seconds'


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    on = [name for name in _OFF if ours and machine.variables.get(name, "").strip().lower() in ("1", "true", "yes", "on")]
    return [Diagnosis("fail", f"{name} is set: Hermes runs no shell hooks", f"unset {name}") for name in on]


def _switches(machine: Machine) -> list[Path]:
    bases = (hermes_folder(machine), machine.home / ".hermes")
    return [base / name for base in bases for name in ("config.yaml", ".env", "plugins", "shell-hooks-allowlist.json")]


TRAITS = Traits(
    captured=("0.19.0",),
    longest_timeout=MAX_SECONDS,  # seen with 0.19.0: it waits for a hook that takes four and a half minutes, and obeys its denial
    programs=(".local/bin/hermes",),
    shell_variables=("HERMES_SESSION_ID",),
    reloads=False,
    guard=kit.GUARD_ON_STDOUT,
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
