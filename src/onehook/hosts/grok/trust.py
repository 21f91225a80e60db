"""Grok Build: the folders that a person trusts (1.0.41). A trusted folder is the root of a repository; those above it do not count."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Found, Machine, Place, read_toml, table_at
from onehook.hostkit.trust import Grant, in_repository
from onehook.hosts.grok.config import home

LEVEL = "fail"
EFFECT = "it silently skips the project's hooks, in headless runs too"
ASKS = "start grok in this folder and trust it (headless: grok --trust)"
_OFF = ("0", "false", "off", "no")


def store(machine: Machine) -> Place:
    folder = home(machine)
    return Place("user", folder / "trusted_folders.toml", "toml", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    if place.scope != "project" or not _asks(machine):
        return []
    project = Path(os.path.realpath(machine.project))
    root = next((folder for folder in in_repository(project) if (folder / ".git").exists()), project)
    if table_at(stored, "folders", str(root)).get("trusted") is True:
        return []
    return [Grant(("folders", str(root), "trusted"), True, "this folder")]


def _asks(machine: Machine) -> bool:
    """Whether folder trust is on; it can be switched off for all folders."""
    if machine.variables.get("GROK_FOLDER_TRUST", "").lower() in _OFF:
        return False
    return table_at(read_toml(home(machine) / "config.toml"), "folder_trust").get("enabled") is not False
