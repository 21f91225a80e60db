"""Deletes state (of sessions, of projects, of the stop guard, transcripts) that has not changed for a long time."""

from __future__ import annotations

import os
import time

from onehook.lock import try_acquire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

DAYS = {
    "sessions": 30,
    "projects": 365,
    "stops": 30,
    "transcripts": 2,
    "background": 2,
    "variables": 30,
    "programs": 30,
    "scanners": 30,
    "scans": 2,
}  # without a change
EVERY = 24 * 3600


def hashed(names: Iterable[str]) -> str:
    """A file name for this combination of names; two combinations must never share one."""
    try:
        from _sha1 import sha1  # type: ignore[import-not-found,unused-ignore]  # hashlib itself costs 2 ms
    except ImportError:
        from hashlib import sha1
    return str(sha1("\0".join(names).encode("utf-8", "backslashreplace")).hexdigest())


def sweep_sometimes(folder: str) -> None:
    """Once a day, when a new file of state is first written: delete what has not changed for long. Nothing here may fail the policy."""
    marker = os.path.join(folder, "swept")
    try:
        if time.time() - os.stat(marker).st_mtime < EVERY:
            return
    except OSError:
        pass
    try:
        os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        for kind, days in DAYS.items():
            sweep(os.path.join(folder, kind), time.time() - days * 24 * 3600)
    except OSError:
        pass


def sweep(folder: str, oldest: float, keep: Collection[str] = ()) -> None:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name in keep:
            continue
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            sweep(path, oldest)
            continue
        try:
            if os.stat(path).st_mtime < oldest:
                _remove(path)
        except OSError:
            continue  # in use, or already gone


def _remove(path: str) -> None:
    """A lock is removed only if nobody holds it and its state is gone; a process that waits for it notices, and creates a new one."""
    if not path.endswith(".lock"):
        os.unlink(path)
    elif not os.path.exists(path[: -len(".lock")]):
        descriptor = os.open(path, os.O_RDWR)
        try:
            if try_acquire(descriptor):
                os.unlink(path)
        finally:
            os.close(descriptor)
