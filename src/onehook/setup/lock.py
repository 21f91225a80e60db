"""The lock that keeps two onehook processes from changing config files at once; its file is outside the user's repository."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from onehook.core import OnehookError

LOCK_NAME = "setup.lock"
_POLL_SECONDS = 0.05
# Windows locks are mandatory: the locked byte lies far behind the pid, so that others can still read that.
_LOCKED_BYTE = 1 << 30


class LockError(OnehookError):
    """Another process holds the lock, and did not release it in time."""


@contextlib.contextmanager
def held(folder: Path, *, wait: float) -> Iterator[None]:
    """Hold the lock of a folder; the system releases it when the process ends, however it ends."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / LOCK_NAME
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        _wait_for(handle, path, wait)
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        try:
            yield
        finally:
            os.ftruncate(handle, 0)
            _unlock(handle)
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    while not _try_lock(handle):
        if time.monotonic() >= deadline:
            raise LockError(
                f"another onehook process ({_holder(handle)}) is changing config files and did not finish "
                f"within {wait:g} s: wait for it or end it, then run this again (lock: {path})"
            )
        time.sleep(_POLL_SECONDS)


def _holder(handle: int) -> str:
    os.lseek(handle, 0, os.SEEK_SET)
    pid = os.read(handle, 32).strip()
    return f"pid {pid.decode()}" if pid.isdigit() else "pid not written yet"


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(handle, 0, os.SEEK_SET)
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        os.lseek(handle, 0, os.SEEK_SET)
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
