"""Mistral Vibe: the folders that a person trusts (3.0.2). The decision for the nearest folder counts.

Seen with `vibe -p`: it silently skips the hooks of a folder that is not trusted.
"""

from __future__ import annotations

from typing import Any

from onehook.hostkit.config import Found, Machine, Place
from onehook.hostkit.trust import Grant

LEVEL = "fail"
EFFECT = "it silently skips the hooks"
ASKS = "start vibe in this folder and trust it"


def store(machine: Machine) -> Place:
    folder = machine.folder("VIBE_HOME", ".vibe")
    return Place("user", folder / "trusted_folders.toml", "toml", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    project = machine.project.resolve()
    if place.scope != "project" or not ours or trusts(stored, project):
        return []
    return [Grant(("trusted",), str(project), "this folder", listed=True)]


def trusts(stored: Any, folder: Any) -> bool:
    """Whether the nearest decision about a folder is to trust it; at the same folder, trust comes first."""
    lists = [stored.get(key) if isinstance(stored, dict) else None for key in ("trusted", "untrusted")]
    trusted, untrusted = (listed if isinstance(listed, list) else [] for listed in lists)
    for near in (folder, *folder.parents):
        if str(near) in trusted:
            return True
        if str(near) in untrusted:
            return False
    return False
