"""Hooks that are configured for Windsurf, as hooks of a manifest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import Machine, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.windsurf.wire import EVENTS
from onehook.jsonc import read_jsonc

TITLE = "Windsurf"
STOP_LIMIT = kit.NO_LIMIT
SHELL = ("bash", "-c")
_CARRIED = ("command", "powershell", "working_directory")
_ROOT = '"$ONEHOOK_PROJECT_DIR"'
_UNSAID = {
    "post_cascade_response_with_transcript": "it reads Windsurf's transcript, which onehook cannot write",
    "post_setup_worktree": "no other agent sets up a worktree in this way",
}


def found(machine: Machine, scope: str) -> Iterator[tuple[Place, Borrowed]]:
    for path in _files(machine, scope):
        place = Place(scope, path, "json", machine.project if scope == "project" else path.parent)
        for event, entry, where in kit.listed_handlers(read_jsonc(path)):
            yield place, _borrowed(event, entry, where)


def _files(machine: Machine, scope: str) -> list[Path]:
    codeium = machine.home / ".codeium"
    machine_wide = machine.system("/etc/windsurf", "/Library/Application Support/Windsurf", "C:\\ProgramData\\Windsurf")
    return {
        "project": [machine.project / ".windsurf" / "hooks.json"],
        "user": [codeium / "windsurf" / "hooks.json", codeium / "hooks.json"],  # the second is for the JetBrains plugin
        "enterprise": [machine_wide / "hooks.json"],
    }.get(scope, [])


def _borrowed(event: str, entry: dict[str, Any], path: tuple[str | int, ...]) -> Borrowed:
    hook = Borrowed(event, path, kit.shown_of(entry))
    where = entry.get("working_directory") or ""
    if event not in EVENTS:
        hook.refused = _UNSAID.get(event) or f"Windsurf has no event {event!r}"
    elif not isinstance(entry.get("command"), str) and not isinstance(entry.get("powershell"), str):
        hook.refused = "it has no command"
    elif not isinstance(where, str):
        hook.refused = "its working_directory is not a string"
    elif not isinstance(entry.get("command"), str):
        hook.refused = kit.no_powershell()
    if not hook.refused:
        hook.run = _command(entry, where)
        hook.losses += kit.lost(entry, _CARRIED)
    return hook


def _command(entry: dict[str, Any], where: str) -> str | list[str]:
    if not isinstance(entry.get("command"), str):
        return kit.in_powershell(entry["powershell"])
    inside = f"{_ROOT}/{shlex.quote(where)}" if where else _ROOT
    folder = shlex.quote(where) if where.startswith("/") else inside
    return f"cd {folder} || exit 1; {entry['command']}"
