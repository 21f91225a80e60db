"""The processes of resident mode, for people: list them, show what they have answered, and stop them."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onehook.places import state_folder


@dataclass(frozen=True)
class Server:
    """A warm process, described by what it has written next to its socket."""

    pid: int
    policy: str
    since: int  # seconds since 1970
    events: int
    p50: float  # milliseconds in the server, of the last 2,000 events
    p99: float
    modules: int
    memory: int  # bytes that it and its spares have for themselves; 0 if the system does not report it
    refused: str  # why it does not load the policy's packages

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def told(self) -> str:
        """In one line, for people."""
        age = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.since))
        memory = f", {self.memory / 1e6:.0f} MB" if self.memory else ""
        times = f", p50 {self.p50:.1f} ms, p99 {self.p99:.1f} ms" if self.events else ""
        events = f"{self.events} event{'s' if self.events != 1 else ''}"
        return f"{self.policy}: pid {self.pid} since {age}{memory}, {events}{times}"


def folder() -> Path:
    return Path(state_folder(), "resident")


def servers(*, memory: bool = True) -> list[Server]:
    """memory: whether to add up their memory, which takes longer than everything else."""
    return sorted(_servers(memory), key=lambda server: (server.policy, server.pid))


def _servers(memory: bool) -> Iterator[Server]:
    for path in folder().glob("*.state"):
        try:
            fields = dict(line.split("\t", 1) for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines())
            pid, since, events, modules = (int(fields[name]) for name in ("pid", "since", "events", "modules"))
            if _is_alive(path.with_suffix(".lock")):
                p50, p99 = float(fields["p50"]), float(fields["p99"])
                taken = _memory(pid) if memory else 0
                yield Server(pid, fields["policy"], since, events, p50, p99, modules, taken, fields["refused"])
        except (OSError, ValueError, KeyError):  # it is being written, or was not by us
            continue


def _is_alive(lock: Path) -> bool:
    """A server holds its lock for as long as it lives."""
    if sys.platform == "win32":
        from onehook.resident.windows import locked

        mine = locked(str(lock))
        if mine is not None:
            os.close(mine)
        return mine is None
    descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        os.lockf(descriptor, os.F_TEST, 0)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _memory(pid: int) -> int:
    """The memory that would be free without the process and its waiting forks; pages that they share count once."""
    total = 0
    for process in (pid, *_children(pid)):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024


def _children(pid: int) -> Iterator[int]:
    try:
        found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return
    for child in found:
        yield child
        yield from _children(child)


def stop(server: Server) -> None:
    """Stop it, after it has answered the events that it is working on."""
    try:
        os.kill(server.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except OSError:
        if sys.platform != "win32":  # where a process that has ended is an invalid argument, or access to it is denied
            raise


def gone(seconds: float = 5) -> bool:
    """Whether all servers have ended, within this time."""
    until = time.monotonic() + seconds
    while servers(memory=False):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
