"""What a writer of the log rarely needs: handling an incomplete line, a missing head, and files that are too old."""

from __future__ import annotations

import os
import time

from onehook.log.files import START, entry_about, log_files, parsed
from onehook.sweep import sweep
from onehook.system import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Options


def repaired(file: int, path: str, size: int, number: int, last: str) -> tuple[int, int, str, bytes]:
    """The size, the number and the hash of the last line of a file that does not match `head`, and a mark for the next line.

    What comes after `head` was written by a process that was killed. Complete lines of the chain count; anything else is left as it is.
    The mark records how many bytes that is, so that verify can distinguish it from a line that someone has changed.
    """
    with open(path, "rb") as log:
        log.seek(size)
        rest = log.read()
    torn = 0
    for line in rest.split(b"\n")[:-1] if rest.endswith(b"\n") else rest.split(b"\n"):
        entry = parsed(line)
        if entry is not None and entry.get("n") == number + 1 and entry.get("prev") == last:
            number, last, torn = number + 1, digest(line), 0
        else:
            torn += len(line)
    if rest and not rest.endswith(b"\n"):
        os.write(file, b"\n")
    return os.fstat(file).st_size, number, last, b'"torn": %d, ' % torn if torn else b""


def recovered(folder: str) -> tuple[str, int, int, str, bytes]:
    """What a missing or damaged `head` contained, derived from the last line of the last file."""
    for path in reversed(log_files(folder)):
        with open(path, "rb") as log:
            data = log.read()
        for line in reversed(data.splitlines()):
            entry = parsed(line)
            if entry is not None and isinstance(entry.get("n"), int):
                size = len(data) if data.endswith(b"\n") else len(data) - len(data.rpartition(b"\n")[2])
                return os.path.basename(path), size, entry["n"], digest(line), b'"recovered": true, '
    return "-", 0, 0, START, b""


_PATIENCE = 5.0  # seconds to wait for other writers


def wait_for(descriptor: int, error: Exception) -> None:
    """Wait for the lock of the log, which another writer holds, or which works differently on this system.

    By polling: a blocking call could only be ended by a signal, which a thread cannot have.
    """
    from onehook.lock import try_acquire

    if not isinstance(error, (BlockingIOError, PermissionError, AttributeError)):
        raise error
    deadline, pause = time.monotonic() + _PATIENCE, 0.0002
    while not (_try_lockf(descriptor) if hasattr(os, "lockf") else try_acquire(descriptor)):
        if time.monotonic() > deadline:
            raise OSError(f"another process has held its lock for {_PATIENCE:g} s")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)


def _try_lockf(descriptor: int) -> bool:
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
    except (BlockingIOError, PermissionError):
        return False
    return True


def swept(folder: str, entry: dict[str, Any], options: Options) -> dict[str, Any] | None:
    """Delete files that are past their retention time, and the oldest files while the log is too large. Returns a line that records it.

    `entry` is the line that was written last.
    """
    before = log_files(folder)
    try:
        sweep(folder, time.time() - options.log_keep * 24 * 3600, ("head",))
        total = 0
        for path in reversed(log_files(folder)):
            total += os.path.getsize(path)
            if total > options.log_size * (1 << 20):
                os.unlink(path)
    except OSError:
        pass  # the next new file is another chance
    gone = [os.path.basename(path) for path in before if not os.path.exists(path)]
    if not gone:
        return None
    return entry_about(entry["time"], f"{entry['id'][:11]}{os.urandom(3).hex()}", "LogSwept", ", ".join(gone), mode=entry["mode"])
