"""Kimi Code: where hooks are configured and what an entry looks like (2.1.0).

Seen with `kimi -p ...`: one unknown key in one entry drops the whole `hooks` section, with a warning on stderr, and every tool runs. A
project's .kimi-code/config.toml is not read for hooks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import TOOL_EVENTS, Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.kimi import wire

TITLE = "Kimi Code"
BINARIES = ("kimi",)
FOLDERS = (".kimi-code",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
PROJECT = ""  # the only file is the user's

_KEYS = ("event", "matcher", "command", "timeout")
# Events that onehook has no equivalent for, but that an entry may name.
_OTHERS = ("UserPromptQueued", "TurnStarted", "PermissionResult", "SessionHeartbeat", "TaskStarted")
_LONGEST = 600  # seconds
_DROPPED = "Kimi Code drops all hooks of the file"


def home(machine: Machine) -> Path:
    return machine.folder("KIMI_CODE_HOME", ".kimi-code")


def places(machine: Machine) -> list[Place]:
    folder = home(machine)
    return [Place("user", folder / "config.toml", "toml", machine.scope_of(folder))]


TRAITS = Traits(
    captured=("2.1.0",),
    longest_timeout=_LONGEST,  # seen with 2.1.0: it waits for a hook that takes nine and a half minutes, and obeys its denial
    processes=(*BINARIES, "kimi-code"),  # seen with 2.1.0: the title of its process; it sets no variable for its shell
    reloads=False,  # seen with 2.1.0: removing its hooks from the file does not change a running session
    same_command_runs_once=True,
    switches=Switches(files=lambda machine: [home(machine) / "plugins"]),
    unguarded={},
)


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    tools = kit.anchored(kit.native_tools(wish.matcher(event), wire.TOOLS, "mcp__.*")) if event in TOOL_EVENTS else ""
    command = commands.cmd if windows and commands.cmd else commands.posix
    entry: dict[str, Any] = {"event": EVENTS[event], **({"matcher": tools} if tools else {})}
    return ("hooks",), {**entry, "command": command, "timeout": min(wish.host_timeout, _LONGEST)}


def found(data: Any) -> Iterator[Found]:
    for index, entry in enumerate(_entries(data)):
        if isinstance(entry, dict) and isinstance(entry.get("command"), str) and isinstance(entry.get("event"), str):
            yield Found(entry["event"], ("hooks", index), entry["command"], entry, kit.written_matcher(entry))


def _entries(data: Any) -> list[Any]:
    hooks = data.get("hooks") if isinstance(data, dict) else None
    return hooks if isinstance(hooks, list) else []


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    return kit.byte_order_mark(TITLE, text)


def problems(data: Any) -> list[str]:
    """What makes Kimi Code drop every hook."""
    if isinstance(data, dict) and not isinstance(data.get("hooks", []), list):
        return [f'"hooks" is not a list of tables ([[hooks]]); {_DROPPED}']
    return [f"hooks[{index}]: {why}; {_DROPPED}" for index, entry in enumerate(_entries(data)) if (why := _fault(entry))]


def _fault(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "an entry must be a table"
    unknown = next((key for key in entry if key not in _KEYS), None)
    if unknown is not None:
        return f"unknown key {unknown!r}"
    if entry.get("event") not in (*wire.EVENTS, *_OTHERS):
        return f"{entry.get('event')!r} is not an event"
    if not isinstance(entry.get("command"), str) or not entry["command"]:
        return '"command" must be a string'
    timeout = entry.get("timeout", 1)
    if not isinstance(timeout, int) or isinstance(timeout, bool) or not 1 <= timeout <= _LONGEST:
        return f'"timeout" must be a whole number from 1 to {_LONGEST}'
    return "" if isinstance(entry.get("matcher", ""), str) else '"matcher" is not a string'


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    if not any(entry.event == "Stop" for entry in ours):
        return []
    return [Diagnosis("note", "the end of a subagent is also reported as a Stop, and a stop can be refused once in a turn")]
