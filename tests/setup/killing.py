"""Work in a separate process that is killed at its nth change to the disk."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from typing import Any

CHANGES = ("write", "fsync", "replace", "rename", "unlink", "mkdir", "rmdir")


def forked(work: Callable[[], object]) -> int:
    """Start the work in a separate process; returns its id."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return child


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Run the work and kill it after its nth change to the disk; False if it finished before that."""

    def watched() -> None:
        count = itertools.count(1)
        for name in CHANGES:
            setattr(os, name, _dying(getattr(os, name), count, step))
        work()

    _, status = os.waitpid(forked(watched), 0)
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


def _dying(call: Callable[..., Any], count: itertools.count[int], step: int) -> Callable[..., Any]:
    def called(*arguments: Any, **named: Any) -> Any:
        result = call(*arguments, **named)
        if next(count) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return called
