"""Runs other people's hook programs: several at once, each with its own deadline, process group and output limit.

Uses posix_spawn, pipes and poll, since importing `subprocess` takes longer than starting an interpreter. On Windows, which has no
posix_spawn, programs_windows.py does the same with subprocess.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Mapping, Sequence
else:
    import _signal  # signal itself imports enum: 3 ms on every event

AT_ONCE = 8
MAX_OUTPUT = 1024 * 1024
_CHUNK = 1 << 16
_TICK = 0.01  # seconds between two checks of a program that has closed its output but not exited, where there is no pidfd


class Run:
    """One program to run, and its outcome. `problem` is set if there is no answer to read."""

    __slots__ = ("arguments", "exit_code", "problem", "shell", "stderr", "stdin", "stdout", "timeout", "variables")

    def __init__(self, arguments: Sequence[str], stdin: bytes, timeout: float, variables: Mapping[str, str], shell: str = "") -> None:
        self.arguments = list(arguments)  # for a shell command, one string
        self.stdin = stdin
        self.timeout = timeout
        self.variables = variables  # the whole environment
        self.shell = shell  # its name or path; "$SHELL" for the user's own
        self.stdout = b""
        self.stderr = b""
        self.exit_code = 0
        self.problem = ""

    @property
    def words(self) -> list[str]:
        return [self._users_shell() if self.shell == "$SHELL" else self.shell, "-c", *self.arguments] if self.shell else self.arguments

    def _users_shell(self) -> str:
        found = self.variables.get("SHELL")
        if not found:
            import pwd

            found = pwd.getpwuid(os.getuid()).pw_shell
        return found or "/bin/sh"


def run_all(runs: Sequence[Run], seconds: float) -> None:
    """Run all, at most AT_ONCE at a time, and end whatever is left after `seconds`."""
    _Stage(seconds).play(runs)


def too_slow(seconds: float) -> str:
    return f"took longer than {seconds:g} s"


def not_started(error: Exception) -> str:
    """The error; for a system error also the file, since that may be the shell."""
    return f"could not be started: {f'{error.strerror}: {error.filename}' if isinstance(error, OSError) else error}"


NO_TIME = "was not started: no time left"

TOO_MUCH = f"wrote more than {MAX_OUTPUT >> 20} MB"


class _Live:
    """A running program, with our ends of its pipes. A closed end is -1."""

    __slots__ = ("deadline", "ends", "exit_known", "pid", "pidfd", "rest", "run", "seconds", "taken")

    def __init__(self, run: Run, pid: int, ends: list[int], seconds: float) -> None:
        self.run = run
        self.pid = pid
        self.ends = ends  # stdin, stdout, stderr
        self.rest = memoryview(run.stdin)
        self.taken = [bytearray(), bytearray()]
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.exit_known = False
        self.pidfd = -1
        try:
            self.pidfd = os.pidfd_open(pid)  # type: ignore[attr-defined,unused-ignore]
        except (AttributeError, OSError):
            pass

    def close(self, which: int) -> None:
        if self.ends[which] >= 0:
            os.close(self.ends[which])
            self.ends[which] = -1

    def close_all(self) -> None:
        for which in range(3):
            self.close(which)
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1

    def feed(self) -> None:
        try:
            self.rest = self.rest[os.write(self.ends[0], self.rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # the program does not read its input, which is fine
            self.rest = self.rest[:0]
        if not self.rest:
            self.close(0)

    def drain(self, which: int) -> None:
        """Read what is available; close the pipe at its end."""
        taken = self.taken[which - 1]
        while self.ends[which] >= 0 and len(taken) <= MAX_OUTPUT:
            try:
                chunk = os.read(self.ends[which], _CHUNK)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            taken += chunk
            if not chunk:
                self.close(which)

    @property
    def flooded(self) -> bool:
        return any(len(taken) > MAX_OUTPUT for taken in self.taken)

    def ended(self) -> bool:
        """Whether the program itself has exited. Children that it left behind do not matter."""
        if not self.exit_known:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except OSError:  # something else has already waited for it
                pid, status = self.pid, 0
            if pid == 0:
                return False
            self.exit_known = True
            self.run.exit_code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return True

    def kill(self) -> None:
        for kill in (os.killpg, os.kill):
            try:
                kill(self.pid, _signal.SIGKILL)
                break
            except OSError:
                continue
        if not self.exit_known:
            try:
                os.waitpid(self.pid, 0)
            except OSError:
                pass


class _Stage:
    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def play(self, runs: Sequence[Run]) -> None:
        waiting = list(runs)
        live: list[_Live] = []
        try:
            while waiting or live:
                while waiting and len(live) < AT_ONCE:
                    started = self._start(waiting.pop(0))
                    if started is not None:
                        live.append(started)
                if live:
                    self._wait(live)
                    live = [one for one in live if not self._finished(one)]
        finally:
            for one in live:
                one.kill()
                one.close_all()

    def _start(self, run: Run) -> _Live | None:
        seconds = min(run.timeout, self.end - time.monotonic())
        if seconds <= 0:
            run.problem = NO_TIME
            return None
        theirs: list[int] = []
        ours: list[int] = []
        try:
            for name in range(3):
                read_end, write_end = os.pipe()
                ours.append(read_end if name else write_end)
                theirs.append(write_end if name else read_end)
                os.set_blocking(ours[-1], False)
            return _Live(run, spawn(run.words, run.variables, theirs), ours, seconds)
        except (OSError, ValueError) as error:
            run.problem = not_started(error)
            for end in ours:
                os.close(end)
            return None
        finally:
            for end in theirs:
                os.close(end)

    def _wait(self, live: list[_Live]) -> None:
        import select  # imported after the programs have started, so its 0.2 ms overlap with them

        poll = select.poll()
        owners: dict[int, tuple[_Live, int]] = {}
        for one in live:
            for which, end in enumerate((*one.ends, one.pidfd)):
                if end >= 0:
                    owners[end] = (one, which)
                    poll.register(end, select.POLLIN if which else select.POLLOUT)
        left = min(one.deadline for one in live) - time.monotonic()
        if any(one.pidfd < 0 for one in live):
            left = min(left, _TICK)
        for end, _ in poll.poll(max(0, int(left * 1000) + 1)):
            one, which = owners[end]
            if which == 0:
                one.feed()
            elif which < 3:
                one.drain(which)

    def _finished(self, one: _Live) -> bool:
        run = one.run
        if one.ended():
            for which in (1, 2):  # what it wrote before it exited is still in the pipe
                one.drain(which)
        if one.flooded:
            run.problem = TOO_MUCH
        elif not one.exit_known and time.monotonic() >= one.deadline:
            run.problem = too_slow(one.seconds)
        if not one.exit_known and not run.problem:
            return False
        if run.problem:
            one.kill()
        run.stdout, run.stderr = bytes(one.taken[0]), bytes(one.taken[1])
        one.close_all()
        return True


def spawn(words: list[str], variables: Mapping[str, str], ends: Sequence[int]) -> int:
    """Start a program in a separate process group, with these descriptors as its stdin, stdout and stderr."""
    actions = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(ends)]
    # Python ignores these two signals; a program must die of a closed pipe, as it would under its own host.
    signals = [number for name in ("SIGPIPE", "SIGXFSZ") if (number := getattr(_signal, name, None))]
    start = os.posix_spawn if "/" in words[0] else os.posix_spawnp
    return start(words[0], words, variables, file_actions=actions, setpgroup=0, setsigmask=(), setsigdef=signals)
