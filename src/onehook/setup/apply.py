"""Apply a plan: write its files under the lock, keep the journal true, and remove what an uninstall leaves empty."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from onehook.lock import Lock
from onehook.setup.entries import entries_in
from onehook.setup.files import StaleError, sweep, write
from onehook.setup.journal import Entry, Journal
from onehook.setup.pinning import keep_copy
from onehook.setup.plan import Plan

_ATTEMPTS = 20
_WAIT = 10.0  # seconds, for another onehook that is writing


def apply(plan: Plan, journal: Journal) -> None:
    """Write all edits of a plan under the lock, each file atomically, and remember what was there before."""
    if not (plan.edits or plan.leftovers or plan.own_folders or plan.given or plan.modes):
        return
    with Lock(str(journal.folder.parent / "setup.lock"), _WAIT):
        paths = [*(edit.path for edit in plan.edits if edit.after is None), *plan.leftovers]
        created = {path: origin.folders if (origin := journal.origin(path)) else () for path in paths}
        write(plan.edits, roots=plan.roots, ready=lambda: journal.promise(plan.edits, plan.first_states, plan.given))
        for path, mode in plan.modes.items():
            path.chmod(mode)
        for path in paths:
            sweep({path.parent})
            _remove_empty(created[path])
        for path in plan.leftovers:
            journal.forget(path)
        sweep(set(plan.own_folders))
        _remove_empty(plan.own_folders)
        for pin, policy in plan.copies.items():
            keep_copy(policy, pin)
        journal.settle(plan.edits, plan.first_states, plan.given, _entries(plan))
        journal.sweep()


def _entries(plan: Plan) -> dict[Path, tuple[Entry, ...]]:
    """onehook's entries in each file that was written, for `onehook verify`."""
    written = {edit.path: edit.after for edit in plan.edits if edit.after is not None}
    return {path: tuple(entries_in(*plan.holders[path], content)) for path, content in written.items() if path in plan.holders}


def until_fresh(plan_and_apply: Callable[[], Plan]) -> Plan:
    """Plan and apply, again if another process has changed a file in between."""
    for _ in range(_ATTEMPTS):
        try:
            return plan_and_apply()
        except StaleError:
            continue
    return plan_and_apply()


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders that install created, once they are empty."""
    for folder in sorted(set(folders), key=lambda folder: -len(folder.parts)):
        with contextlib.suppress(OSError):  # not empty, or already removed
            folder.rmdir()
