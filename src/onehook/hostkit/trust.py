"""What the hosts' trust modules share: one value in the file where an agent keeps what a person trusts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_GITDIR = "gitdir:"


@dataclass(frozen=True)
class Grant:
    """A value that answering the agent's own question would write."""

    path: tuple[str, ...]  # where in the file
    value: Any
    what: str  # what is trusted with it, for users
    listed: bool = False  # the value is an element of a list at the path
    by: tuple[str, ...] = ()  # the keys that distinguish such elements, if they are objects; other keys may contain the time

    def is_for(self, path: tuple[str, ...], value: Any) -> bool:
        """Whether a value at a path means the same: it is at that path and, in a list, is the same element."""
        if path != self.path or not self.listed:
            return path == self.path
        return value == self.value if not self.by else all(value.get(key) == self.value[key] for key in self.by)


def repository(folder: Path) -> Path:
    """The root of a folder's repository (for a linked worktree, that of its main checkout); the folder itself if it is in none."""
    root = root_of(folder)
    if root is None:
        return folder
    try:
        link = (root / ".git").read_text(encoding="utf-8").partition(_GITDIR)[2].strip()
    except (OSError, ValueError):  # a folder, in most cases
        return root
    worktrees = Path(os.path.normpath(root / link)).parent
    return worktrees.parents[1] if worktrees.parts[-2:] == (".git", "worktrees") else root  # else a submodule, for example


def in_repository(folder: Path) -> list[Path]:
    """A folder and those above it, up to the root of its repository; all of them if it is in none."""
    root = root_of(folder)
    return [parent for parent in (folder, *folder.parents) if root is None or parent.is_relative_to(root)]


def root_of(folder: Path) -> Path | None:
    """The root of the git repository that a folder is in."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)


def trusts_folder(rules: Mapping[str, Any], folder: Path) -> bool:
    """Whether a trustedFolders.json trusts a folder: the rule with the longest path that covers it decides."""
    decided = (-1, "")
    where = folder.resolve()
    for rule, level in rules.items():
        base = Path(rule).parent if level == "TRUST_PARENT" else Path(rule)
        if where.is_relative_to(base.resolve()):
            decided = max(decided, (len(rule), str(level)))
    return decided[1] in ("TRUST_FOLDER", "TRUST_PARENT")


def folder_rule(rules: Any, folder: Path) -> list[Grant]:
    """What such a file lacks to trust a folder."""
    trusted = isinstance(rules, dict) and trusts_folder(rules, folder)
    return [] if trusted else [Grant((str(folder.resolve()),), "TRUST_FOLDER", "this folder")]
