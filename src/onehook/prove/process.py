"""Runs one agent until it ends, in its own process group, with a minimal environment and limits on time and output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from onehook.hostkit.live import Launch

MAX_OUTPUT = 4 * 1024 * 1024
GRACE_SECONDS = 2.0
POLL_SECONDS = 0.05
INTERRUPTED = threading.Event()  # set when the proof is aborted: whatever waits for an agent then ends it


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `exit_code` is None if we killed it: it took too long or wrote too much, or the proof was aborted."""

    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool
    flooded: bool = False


def run_agent(launch: Launch, timeout: float = 60.0, startup: float = 0.0, begun: Callable[[], bool] = lambda: True) -> Outcome:
    """Start the agent, wait until it ends or exceeds a limit, and kill what is left of its process group.

    The time for its work is counted from the moment it has begun: how long an agent takes to start does not matter.
    """
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            launch.argv,
            cwd=launch.cwd,
            env=environment(launch),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            ended_by = _wait(process, Clock(timeout, startup, begun), out, err)
        finally:
            _end_group(process)
            if launch.leaves:
                _end_left(launch.home)
        return Outcome(
            exit_code=None if ended_by else process.returncode,
            stdout=_head(out),
            stderr=_head(err),
            seconds=time.monotonic() - started,
            timed_out=ended_by == "time",
            flooded=ended_by == "output",
        )


def environment(launch: Launch) -> dict[str, str]:
    """Only the named variables, so that none of the user's keys and settings reach the agent."""
    base = {
        "HOME": str(launch.home),
        "PATH": os.environ.get("PATH", os.defpath),
        "TERM": "dumb",
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    return {**base, **launch.env}


class Clock:
    """One time limit for the start, and one for the work, which counts from its first sign."""

    def __init__(self, timeout: float, startup: float, begun: Callable[[], bool]) -> None:
        self._timeout, self._begun = timeout, begun
        self._waiting = True
        self._deadline = time.monotonic() + startup

    def is_over(self) -> bool:
        if self._waiting and self._begun():
            self._waiting = False
            self._deadline = time.monotonic() + self._timeout
        return time.monotonic() > self._deadline


def _wait(process: subprocess.Popen[bytes], clock: Clock, *files: IO[bytes]) -> str:
    """Wait for the process; "time" or "output" if it exceeded a limit, "interrupt" if the proof was aborted, "" if it ended by itself."""
    while process.poll() is None:
        if INTERRUPTED.is_set():
            return "interrupt"
        if any(os.fstat(file.fileno()).st_size > MAX_OUTPUT for file in files):
            return "output"
        if clock.is_over():
            return "time"
        INTERRUPTED.wait(POLL_SECONDS)
    return ""


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the group: the agent after a timeout, and children that outlived it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        if process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
    process.wait()


def _end_left(home: Path) -> None:
    """End processes that a run left behind outside its group, such as a terminal server, each by its id. Found in /proc (Linux)."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in _with_home(home):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)
        deadline = time.monotonic() + GRACE_SECONDS
        while _with_home(home) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)


def _with_home(home: Path) -> list[int]:
    """The processes that were started with this home, which only one run uses."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def _head(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_OUTPUT).decode("utf-8", "replace")
