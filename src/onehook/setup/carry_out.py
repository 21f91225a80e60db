"""Carrying a plan out: write, remember, and clean up behind an uninstall."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from onehook.setup.files import Applied, apply
from onehook.setup.journal import Journal
from onehook.setup.plan import Plan


def carry_out(plan: Plan, journal: Journal, on_write: Callable[[str, Path], None] | None = None) -> Applied:
    """Write all changes of a plan, each file atomically, under a lock; then remember what was there before."""
    if not plan.changes:
        return Applied()
    folders = {change.path: journal.folders_made(change.path) for change in plan.changes if change.after is None}
    applied = apply(plan.changes, scope_root=plan.roots, lock_folder=journal.folder.parent, on_write=on_write)
    journal.remember(plan.changes, applied, plan.first_states)
    for change in plan.changes:
        if change.after is None:
            _remove_empty(change.path, folders[change.path], change.kind == "runtime")
    return applied


def _remove_empty(path: Path, made: tuple[Path, ...], own_tree: bool) -> None:
    """The folders that install made go with the last file in them; so does the tree that was onehook's alone."""
    folders = sorted(set(made), key=lambda folder: -len(folder.parts))
    if own_tree:
        folders = [folder for folder in path.parents if ".onehook" in folder.parts]
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return  # not empty, or gone already
