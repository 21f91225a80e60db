"""GitHub Copilot CLI: the folders that a person trusts (1.0.102)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Found, Machine, Place, table_at
from onehook.hostkit.trust import Grant
from onehook.hosts.copilot.config import home

LEVEL = "fail"
EFFECT = "it skips the project's hooks, silently in headless runs"
ASKS = "start copilot in this folder and trust it (headless: GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true)"


def store(machine: Machine) -> Place:
    folder = home(machine)
    return Place("user", folder / "config.json", "jsonc", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    if place.scope != "project" or machine.variables.get("GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS") == "true":
        return []
    project = Path(os.path.realpath(machine.project))
    lists = [table_at(stored).get(key) for key in ("trustedFolders", "trusted_folders")]
    trusted = [folder for folders in lists if isinstance(folders, list) for folder in folders]
    if any(str(folder) in trusted for folder in (project, *project.parents)):
        return []
    return [Grant(("trustedFolders",), str(project), "this folder", listed=True)]
