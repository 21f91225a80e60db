"""programs.run_all for systems without posix_spawn (Windows): subprocess, files instead of pipes, and polling every few milliseconds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import IO, TYPE_CHECKING

from onehook.manifest.programs import AT_ONCE, MAX_OUTPUT, NO_TIME, TOO_MUCH, not_started, too_slow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onehook.manifest.programs import Run

_TICK = 0.005


class _Live:
    def __init__(self, run: Run, seconds: float) -> None:
        self.run = run
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.files: list[IO[bytes]] = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115
        self.files[0].write(run.stdin)
        self.files[0].seek(0)
        try:
            self.process = subprocess.Popen(
                run.arguments[0] if run.shell else run.arguments,
                shell=bool(run.shell),  # the system's, whatever a manifest names
                stdin=self.files[0],
                stdout=self.files[1],
                stderr=self.files[2],
                env=dict(run.variables),
                start_new_session=sys.platform != "win32",
            )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for file in self.files:
            file.close()

    def finished(self) -> bool:
        run = self.run
        code = self.process.poll()
        if any(os.fstat(file.fileno()).st_size > MAX_OUTPUT for file in self.files[1:]):
            run.problem = TOO_MUCH
        elif code is None and time.monotonic() >= self.deadline:
            run.problem = too_slow(self.seconds)
        if code is None and not run.problem:
            return False
        if run.problem:
            self.kill()
        run.exit_code = 128 - code if code is not None and code < 0 else code or 0
        run.stdout, run.stderr = (self._taken(file) for file in self.files[1:])
        self.close()
        return True

    @staticmethod
    def _taken(file: IO[bytes]) -> bytes:
        file.seek(0)
        return file.read(MAX_OUTPUT)

    def kill(self) -> None:
        if sys.platform == "win32":  # the whole tree: Windows has no process groups in this sense
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self.process.pid)], capture_output=True, check=False)
        else:
            import signal

            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.kill()
        self.process.wait()


def run_all(runs: Sequence[Run], seconds: float) -> None:
    end = time.monotonic() + seconds
    waiting = list(runs)
    live: list[_Live] = []
    try:
        while waiting or live:
            while waiting and len(live) < AT_ONCE:
                run = waiting.pop(0)
                left = min(run.timeout, end - time.monotonic())
                try:
                    if left > 0:
                        live.append(_Live(run, left))
                    else:
                        run.problem = NO_TIME
                except (OSError, ValueError) as error:
                    run.problem = not_started(error)
            live = [one for one in live if not one.finished()]
            if live:
                time.sleep(_TICK)
    finally:
        for one in live:
            one.kill()
            one.close()
