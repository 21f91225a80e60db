"""Claude Code: the folders that a person trusts (2.1.325). Only interactive sessions ask."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Found, Machine, Place, table_at
from onehook.hostkit.trust import Grant, in_repository, repository

LEVEL = "note"
EFFECT = "interactive sessions skip hooks until it does (claude -p runs them)"
ASKS = "start claude in this folder and accept its question"
_KEY = "hasTrustDialogAccepted"


def store(machine: Machine) -> Place:
    folder = machine.folder("CLAUDE_CONFIG_DIR", "")
    older = machine.folder("CLAUDE_CONFIG_DIR", ".claude") / ".config.json"  # used as long as it exists
    return Place("user", older if older.is_file() else folder / ".claude.json", "json", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    project = Path(os.path.realpath(machine.project))
    folders = in_repository(project)
    if place.scope not in ("project", "local") or any(table_at(stored, "projects", str(folder)).get(_KEY) is True for folder in folders):
        return []
    return [Grant(("projects", str(repository(project)), _KEY), True, "this folder")]
