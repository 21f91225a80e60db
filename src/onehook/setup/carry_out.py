"""Carrying a plan out: write, remember, and clean up behind an uninstall."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from onehook.setup.files import Applied, StaleError, sweep, write
from onehook.setup.journal import Journal
from onehook.setup.lock import held
from onehook.setup.plan import Plan

_ATTEMPTS = 20


def carry_out(plan: Plan, journal: Journal, on_write: Callable[[str, Path], None] | None = None, wait: float = 10.0) -> Applied:
    """Write all changes of a plan under the lock, each file atomically, and remember what was there before."""
    wrote = on_write or _unheard
    if not (plan.changes or plan.leftovers or plan.own_folders):
        return Applied()
    with held(journal.folder.parent, wait=wait):
        origins = {path: journal.origin(path) for path in [*(change.path for change in plan.changes), *plan.leftovers]}
        made = {path: origin.folders if origin else () for path, origin in origins.items()}
        applied = write(
            plan.changes,
            scope_root=plan.roots,
            ready=lambda: journal.promise(plan.changes, plan.first_states, wrote),
            on_write=wrote,
        )
        for path in (*(change.path for change in plan.changes if change.after is None), *plan.leftovers):
            sweep({path.parent})
            _remove_empty(made[path])
        for path in plan.leftovers:
            journal.forget(path)
        sweep(set(plan.own_folders))
        _remove_empty(plan.own_folders)
        journal.settle(plan.changes, plan.first_states, wrote)
    return applied


def until_fresh(plan_and_carry_out: Callable[[], Plan]) -> Plan:
    """Plan again when somebody else has changed a file between the plan and the write."""
    for _ in range(_ATTEMPTS):
        try:
            return plan_and_carry_out()
        except StaleError:
            continue
    return plan_and_carry_out()


def _unheard(step: str, path: Path) -> None:
    """Nobody is listening."""


def _remove_empty(folders: Iterable[Path]) -> None:
    """The folders that install made go with the last file in them."""
    for folder in sorted(set(folders), key=lambda folder: -len(folder.parts)):
        with contextlib.suppress(OSError):  # not empty, or gone already
            folder.rmdir()
