"""Factory Droid: the folders that a person trusts (0.225.2). Only interactive sessions ask."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Found, Machine, Place, table_at
from onehook.hostkit.trust import Grant, repository

LEVEL = "note"
EFFECT = "interactive sessions skip hooks until it does (droid exec runs them)"
ASKS = "start droid in this folder and trust it"


def store(machine: Machine) -> Place:
    folder = machine.folder("FACTORY_HOME_OVERRIDE", "") / ".factory"
    return Place("user", folder / "settings.json", "jsonc", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    root = repository(machine.project.resolve())
    if place.scope != "project" or any(root.is_relative_to(Path(folder)) for folder in table_at(stored, "trustedFolders")):
        return []
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return [Grant(("trustedFolders", str(root), "trustedAt"), now, "this folder")]
