"""Runs one agent until it ends, in its own process group, with a minimal environment and limits on time and output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import IO

from onehook.hostkit.live import Launch

MAX_OUTPUT = 4 * 1024 * 1024
GRACE_SECONDS = 2.0
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `exit_code` is None if we killed it, for taking too long or writing too much."""

    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool
    flooded: bool = False


def run_agent(launch: Launch, timeout: float = 60.0) -> Outcome:
    """Start the agent, wait until it ends or exceeds a limit, and kill what is left of its process group."""
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
            ended_by = _wait(process, started + timeout, out, err)
        finally:
            _end_group(process)
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


def _wait(process: subprocess.Popen[bytes], deadline: float, *files: IO[bytes]) -> str:
    """Wait for the process; "time" or "output" if it exceeded a limit, "" if it ended by itself."""
    while process.poll() is None:
        if any(os.fstat(file.fileno()).st_size > MAX_OUTPUT for file in files):
            return "output"
        if time.monotonic() > deadline:
            return "time"
        time.sleep(POLL_SECONDS)
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


def _head(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_OUTPUT).decode("utf-8", "replace")
