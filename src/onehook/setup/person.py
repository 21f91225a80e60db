"""Is it a person who runs this command? What switches a policy off must not be started by the agent that the policy is for.

Three things tell: an agent among the processes above this one, a variable that an agent sets for its shell, and, for some commands, a
terminal. Each agent's names and variables are in its config's tables. A process that an agent detaches from itself, with an empty
environment and a terminal of its own, is not recognised: docs/safety.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from onehook.core import OnehookError
from onehook.hosts import optional
from onehook.log.notes import note
from onehook.setup.plan import config_of, configurable

_INTERPRETER = re.compile(r"(?:node|nodejs|bun|deno|python[\d.]*)(?:\.exe)?")
_MOST = 64  # processes above this one that are looked at


class NotAPerson(OnehookError):
    """An agent, or nobody, runs a command that is for a person."""


@dataclass(frozen=True)
class Process:
    number: int
    parent: int
    words: tuple[str, ...]  # its program and arguments
    program: str = ""  # the file that runs, if that can be known

    def names(self) -> Iterator[str]:
        """The files that it may be known by: its program, and the script that an interpreter runs."""
        yield from (name for name in (self.program, *self.words[:1]) if name)
        if self.words and _INTERPRETER.fullmatch(PurePath(self.words[0]).name):
            yield from [word for word in self.words[1:] if not word.startswith("-")][:1]


def require(act: str, *, terminal: bool = False) -> None:
    """Refuse if an agent runs this, or, with `terminal`, if nobody can be typing it. The refusal is logged."""
    who = agent_above(os.environ, processes_above()) or ("" if not terminal or has_terminal() else "there is no terminal here")
    if who:
        note("Refused", act, who, by_person=False)
        raise NotAPerson(f"only a person can {act}, in a terminal of their own: {who}")


def agent_above(variables: Mapping[str, str], above: Iterator[Process]) -> str:
    """Which agent runs this command, and what shows it; "" if none does."""
    for host in configurable():
        config = config_of(host)
        found = next((name for name in config.TRAITS.shell_variables if variables.get(name)), "")
        if found:
            return f"{config.TITLE} runs this command ({found} is set)"
    programs = {name: config_of(host).TITLE for host in configurable() for name in _programs(host)}
    packages = {f"/{package}/": config_of(host).TITLE for host in configurable() if (package := _package(host))}
    for process in above:
        for name in process.names():
            path = name.replace("\\", "/")
            title = programs.get(PurePath(path).name.removesuffix(".exe")) or next(
                (packages[part] for part in packages if part in path), ""
            )
            if title:
                return f"{title} runs this command (process {process.number}, {name})"
    return ""


def _programs(host: str) -> tuple[str, ...]:
    config = config_of(host)
    return config.BINARIES if config.TRAITS.processes is None else config.TRAITS.processes


def _package(host: str) -> str:
    live = optional(host, "live")
    return live.TRAITS.package.package if live and live.TRAITS.package else ""


def has_terminal() -> bool:
    """Whether someone can be typing: stdin is a terminal, and this process has one to itself."""
    if not sys.stdin or not sys.stdin.isatty():
        return False
    if os.name == "nt":
        return True
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


# ---- the processes above this one


def processes_above() -> Iterator[Process]:
    """Nearest first, as far as the system shows them."""
    look = _in_proc if Path("/proc/self/stat").exists() else _listed().get
    number = os.getppid()
    for _ in range(_MOST):
        process = look(number)
        if process is None:
            return
        yield process
        number = process.parent


def _in_proc(number: int) -> Process | None:
    folder = Path(f"/proc/{number}")
    try:
        parent = int((folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
        words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except (OSError, ValueError, IndexError):
        return None
    try:
        program = os.readlink(folder / "exe").removesuffix(" (deleted)")  # as after an update
    except OSError:  # somebody else's
        program = ""
    return Process(number, parent, tuple(words), program)


def _listed() -> dict[int, Process]:
    """All processes, where there is no /proc. ps shows arguments joined by spaces: a path with a space in it is cut there."""
    try:
        done = subprocess.run(["ps", "-axo", "pid=,ppid=,command="], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):  # Windows has no ps
        return {}
    rows = (line.split(None, 2) for line in done.stdout.splitlines())
    return {int(row[0]): Process(int(row[0]), int(row[1]), tuple(row[2].split())) for row in rows if len(row) == 3}
