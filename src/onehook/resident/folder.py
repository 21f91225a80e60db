"""The files in the folder of the warm processes, which is the current folder of each."""

from __future__ import annotations

import time

from onehook.system import os

OLD = 7 * 86400  # seconds after which the files that a server has left are removed


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def sweep() -> None:
    """Remove what servers that ended long ago have left."""
    for name in os.listdir("."):
        try:
            if os.stat(name).st_mtime < time.time() - OLD:
                os.unlink(name)
        except OSError:
            continue
