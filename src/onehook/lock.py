"""A lock between processes: a file that the system unlocks when its holder dies. For event.session, and for changing config files."""

from __future__ import annotations

import os
import sys
import time

from onehook.core import OnehookError

_POLL_SECONDS = 0.05
_WINDOWS_PATIENCE = 10.0  # if no time to wait is given; on other systems the system wakes us, and the deadline of the event ends the wait
# Windows locks are mandatory: the locked byte is far behind the pid, so that others can still read the pid.
_LOCKED_BYTE = 1 << 30


class LockError(OnehookError):
    """Another process holds the lock, and did not release it in time."""


class Lock:
    """with Lock(path): ...   `wait`: seconds after which to give up; the holder is then named. None: as long as it takes."""

    __slots__ = ("descriptor", "path", "wait")

    def __init__(self, path: str, wait: float | None = None) -> None:
        self.path = path
        self.wait = wait
        self.descriptor = -1

    def __enter__(self) -> None:
        while True:
            self.descriptor = _open(self.path)
            try:
                self._acquire()
                if self._is_current():
                    os.ftruncate(self.descriptor, 0)
                    os.write(self.descriptor, b"%d\n" % os.getpid())
                    return
            except BaseException:
                os.close(self.descriptor)
                raise
            os.close(self.descriptor)  # swept away while we waited: others lock a newer file

    def __exit__(self, *_: object) -> None:
        os.ftruncate(self.descriptor, 0)
        release(self.descriptor)
        os.close(self.descriptor)

    def _acquire(self) -> None:
        if self.wait is None and sys.platform != "win32":
            fcntl.flock(self.descriptor, fcntl.LOCK_EX)
            return
        wait = _WINDOWS_PATIENCE if self.wait is None else self.wait
        deadline = time.monotonic() + wait
        while not try_acquire(self.descriptor):
            if time.monotonic() >= deadline:
                raise LockError(
                    f"another onehook process ({self._holder()}) has the lock and did not finish within {wait:g} s: "
                    f"wait for it or end it, then try again (lock: {self.path})"
                )
            time.sleep(_POLL_SECONDS)

    def _holder(self) -> str:
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        pid = os.read(self.descriptor, 32).strip()
        return f"pid {pid.decode()}" if pid.isdigit() else "pid not written yet"

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


if sys.platform == "win32":
    import msvcrt

    def try_acquire(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True

    def release(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_acquire(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
