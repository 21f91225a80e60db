"""Qwen Code: the folders that a person trusts (0.24.4). It asks only if a setting enables it."""

from __future__ import annotations

from typing import Any

from onehook.hostkit.config import Found, Machine, Place
from onehook.hostkit.trust import Grant, folder_rule
from onehook.hosts.qwen.config import asks_for_trust, trusted_folders

LEVEL = "fail"
EFFECT = "it loads none of the project's hooks"
ASKS = "start qwen in this folder and trust it"


def store(machine: Machine) -> Place:
    path = trusted_folders(machine)
    return Place("user", path, "jsonc", machine.scope_of(path.parent))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    return folder_rule(stored, machine.project) if place.scope == "project" and asks_for_trust(machine) else []
