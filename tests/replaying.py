"""Workers of `onehook replay` as forks of this process, which has already imported everything that a new worker would have to import.

The imports are most of what a small replay costs. What depends on how a worker starts, or on what it has not imported, is tested with real
workers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from types import SimpleNamespace
from typing import NoReturn
from unittest import mock

from onehook.record import replay, worker


class Fork:
    """The part of subprocess.Popen that a replay uses."""

    def __init__(self, command: tuple[str, ...], stdin: int, stdout: int) -> None:
        assert (command, stdin, stdout) == (worker.COMMAND, subprocess.PIPE, subprocess.PIPE)
        (read_order, write_order), (read_verdicts, write_verdicts) = os.pipe(), os.pipe()
        self.code: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            os.close(write_order)
            _work(read_order, write_verdicts)
        os.close(read_order)
        os.close(write_verdicts)
        self.stdin, self.stdout = os.fdopen(write_order, "wb"), os.fdopen(read_verdicts, "rb")

    def poll(self) -> int | None:
        if self.code is None:
            self._ask(os.WNOHANG)
        return self.code

    def wait(self) -> int | None:
        if self.code is None:
            self._ask(0)
        return self.code

    def _ask(self, how: int) -> None:
        pid, status = os.waitpid(self.pid, how)
        if pid:
            self.code = os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def _work(stdin: int, stdout: int) -> NoReturn:
    code = 1
    try:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        sys.stdin = os.fdopen(0, closefd=False)
        worker.main()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


@contextlib.contextmanager
def in_forks(wanted: bool = True) -> Iterator[None]:
    """Start the workers of a replay as forks, where the system supports forks."""
    if not wanted or not hasattr(os, "fork"):
        yield
        return
    with mock.patch.object(replay, "subprocess", SimpleNamespace(Popen=Fork, PIPE=subprocess.PIPE)):
        yield
