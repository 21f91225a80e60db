"""Codex CLI: the projects and hooks that a person trusts (0.166.0, the same in 0.147.0).

Codex runs a hook only if the project is trusted and the hash of the hook is recorded under the hook's place in its file. The hash covers
everything that a person is shown about the hook, so every change needs a new one.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from onehook.hostkit.config import Found, Machine, Place, table_at
from onehook.hostkit.trust import Grant, repository
from onehook.hosts.codex import asking

LEVEL = "fail"
EFFECT = "it silently skips the hooks"
ASKS = "start codex in this folder, trust it, then trust the hooks (/hooks)"
_NO_MATCHER = ("UserPromptSubmit", "Stop")
_KEPT = ("statusMessage", "additionalContextLimit")


def store(machine: Machine) -> Place:
    folder = machine.folder("CODEX_HOME", ".codex")
    return Place("user", folder / "config.toml", "toml", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    project = repository(machine.project)
    unread = place.scope == "project" and not machine.project.is_relative_to(project)  # a linked worktree: see config.diagnose
    if place.scope == "enterprise" or not ours or unread:
        return []
    told = asking.trusted(machine) if machine.ask_hosts else None
    grants: list[Grant] = []
    levels = [table_at(stored, "projects", os.path.realpath(folder)).get("trust_level") for folder in (machine.project, project)]
    if place.scope == "project" and "trusted" not in levels:
        grants.append(Grant(("projects", os.path.realpath(project), "trust_level"), "trusted", "this project"))
    for entry in ours:
        key, expected = key_of(place, entry), hash_of(entry, machine.windows)
        written = table_at(stored, "hooks", "state", key).get("trusted_hash") == expected
        if not (written if told is None else told.get(key, False)):
            grants.append(Grant(("hooks", "state", key, "trusted_hash"), expected, f"the {entry.event} hook"))
    return grants


def key_of(place: Place, entry: Found) -> str:
    """The file as Codex names it when started in the project's folder, and the place of the hook in that file."""
    return f"{os.path.realpath(place.path)}:{_snake(entry.event)}:{entry.path[2]}:{entry.path[4]}"


def hash_of(entry: Found, windows: bool) -> str:
    item = entry.item
    command = item.get("commandWindows", item["command"]) if windows else item["command"]
    handler = {"type": "command", "command": command, "timeout": max(1, item.get("timeout", 600)), "async": False}
    handler.update({key: item[key] for key in _KEPT if key in item})
    identity: dict[str, Any] = {"event_name": _snake(entry.event), "hooks": [handler]}
    if entry.matcher and entry.event not in _NO_MATCHER:
        identity["matcher"] = entry.matcher
    compact = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(compact.encode()).hexdigest()}"


def _snake(event: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in event).lstrip("_")
