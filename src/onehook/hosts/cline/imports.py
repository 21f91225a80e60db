"""Hooks of Cline, which are files named after an event, as hooks of a manifest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from onehook.hostkit import imports as kit
from onehook.hostkit.config import Machine, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.cline.wire import EVENTS

TITLE = "Cline"
STOP_LIMIT = kit.NO_LIMIT
SHELL = ("/bin/sh", "-c")  # Cline itself uses none
_TIMEOUT = 120.0
_INTERPRETERS = {
    "": "bash", ".sh": "bash", ".bash": "bash", ".zsh": "zsh", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "bun run",
    ".mts": "bun run", ".cts": "bun run", ".py": "python3", ".ps1": "pwsh -NoProfile -File",
}  # fmt: skip
_NAMES = {name.lower(): name for name in EVENTS}
_SOURCES = {"TaskStart": ["startup", "clear"], "TaskResume": ["resume"]}


def found(machine: Machine, scope: str) -> Iterator[tuple[Place, Borrowed]]:
    root = machine.project if scope == "project" else machine.home
    for folder in _folders(machine, scope):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            event = _NAMES.get(path.stem.lower())
            if event and path.suffix in _INTERPRETERS and path.is_file():
                yield Place(scope, path, "file", root), _borrowed(event, path, machine.project if scope == "project" else None)


def _folders(machine: Machine, scope: str) -> list[Path]:
    return {
        "project": [machine.project / ".clinerules" / "hooks", machine.project / ".cline" / "hooks"],
        "user": [machine.home / "Documents" / "Cline" / "Hooks", machine.home / ".cline" / "hooks"],
    }.get(scope, [])


def _borrowed(event: str, path: Path, project: Path | None) -> Borrowed:
    hook = Borrowed(event, (), path.name, timeout=_TIMEOUT, sources=list(_SOURCES.get(event, ())))
    if path.suffix == ".ps1":
        hook.refused = kit.no_powershell()
    if event == "PreToolUse":
        hook.losses.append("a cancel only stops the call; Cline ends its whole run")
    # In the project, so that a clone of it finds it too.
    place = f'"$ONEHOOK_PROJECT_DIR"/{shlex.quote(str(path.relative_to(project)))}' if project else shlex.quote(str(path))
    hook.run = f"{_interpreter(path)} {place}"
    return hook


def _interpreter(path: Path) -> str:
    """What runs the file: its first line tells, else its name. It need not be executable."""
    with path.open("rb") as file:
        first = file.readline(1000)
    named = first[2:].decode("utf-8", "replace").strip() if first.startswith(b"#!") else ""
    return shlex.join(named.split(None, 1)) if named and "env -S" not in named else named or _INTERPRETERS[path.suffix]
