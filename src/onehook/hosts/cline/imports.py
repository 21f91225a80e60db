"""Hooks of Cline, which are files named after an event, as hooks of a manifest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.cline.wire import EVENTS

STOP_LIMIT = kit.NO_LIMIT
PLUGINS = kit.Plugins((), ())
_TIMEOUT = 120.0
_INTERPRETERS = {
    "": "bash", ".sh": "bash", ".bash": "bash", ".zsh": "zsh", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "bun run",
    ".mts": "bun run", ".cts": "bun run", ".py": "python3", ".ps1": "pwsh -NoProfile -File",
}  # fmt: skip
_NAMES = {name.lower(): name for name in EVENTS}
_SOURCES = {"TaskStart": ["startup", "clear"], "TaskResume": ["resume"]}


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    """The one hook of a file; none if the file's name is not one that Cline expects."""
    event = _NAMES.get(place.path.stem.lower()) if place else None
    if place and event and place.path.suffix in _INTERPRETERS:
        yield _borrowed(event, place, data if isinstance(data, str) else "")


def _borrowed(event: str, place: Place, text: str) -> Borrowed:
    path = place.path
    hook = Borrowed(event, (), path.name, timeout=_TIMEOUT, sources=list(_SOURCES.get(event, ())))
    if path.suffix == ".ps1":
        hook.refused = kit.no_powershell()
    if event == "PreToolUse":
        hook.losses.append("a cancel only stops the call; Cline ends its whole run")
    # In the project, so that a clone of it finds it too.
    inside = place.scope == "project"
    where = f'"$ONEHOOK_PROJECT_DIR"/{shlex.quote(str(path.relative_to(place.root)))}' if inside else shlex.quote(str(path))
    hook.run = f"{_interpreter(path, text)} {where}"
    return hook


def _interpreter(path: Path, text: str) -> str:
    """The program that runs the file, from its first line or else from its name. The file need not be executable."""
    first = text.partition("\n")[0]
    named = first[2:].strip() if first.startswith("#!") else ""
    return shlex.join(named.split(None, 1)) if named and "env -S" not in named else named or _INTERPRETERS[path.suffix]
