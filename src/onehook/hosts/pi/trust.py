"""Pi: the folders that a person trusts (0.87.1). Without trust nothing in the project's .pi is loaded; a run with -p does not even ask."""

from __future__ import annotations

from typing import Any

from onehook.hostkit.config import Found, Machine, Place
from onehook.hostkit.trust import Grant
from onehook.hosts.pi.config import agent_folder, always_trusts

LEVEL = "fail"
EFFECT = "it does not load the project's extensions, and no hook runs"
ASKS = "start pi in this folder and trust it, or use /trust"


def store(machine: Machine) -> Place:
    folder = agent_folder(machine)
    return Place("user", folder / "trust.json", "json", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    """The entry for the closest folder decides; if there is none, the user's settings do."""
    if place.scope != "project":
        return []
    where = machine.project.resolve()
    said = [stored.get(str(folder)) for folder in (where, *where.parents)] if isinstance(stored, dict) else []
    decided = next((value for value in said if isinstance(value, bool)), None)
    if decided or (decided is None and always_trusts(machine)):
        return []
    return [Grant((str(where),), True, "this folder")]
