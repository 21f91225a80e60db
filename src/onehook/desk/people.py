"""Who runs a process: an agent, or a person at a terminal. For the commands that only a person may run, and for the hook that is answered.

Each agent's names and variables are in its config's tables. A process that an agent detaches from itself, with an empty environment and a
terminal of its own, is not recognised: docs/safety.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from onehook.hosts import having, load, optional

_INTERPRETER = re.compile(r"(?:node|nodejs|bun|deno|python[\d.]*)(?:\.exe)?")
_MOST = 64  # processes above this one that are looked at


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


def agent_above(variables: Mapping[str, str], above: Iterator[Process]) -> str:
    """Which agent runs this command, and what shows it; "" if none does."""
    for host in having("config"):
        config = load(host, "config")
        found = next((name for name in config.TRAITS.shell_variables if variables.get(name)), "")
        if found:
            return f"{config.TITLE} runs this command ({found} is set)"
    programs = {name: load(host, "config").TITLE for host in having("config") for name in _programs(host)}
    packages = {f"/{package}/": load(host, "config").TITLE for host in having("config") if (package := _package(host))}
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
    config = load(host, "config")
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


def processes_above(number: int = 0) -> Iterator[Process]:
    """This process's, or those above and with the process of this number. Nearest first, as far as the system shows them."""
    look = _in_proc if Path("/proc/self/stat").exists() else _listed().get
    number = number or os.getppid()
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


# ---- of another process


def terminal_of(number: int) -> str:
    """The terminal that a process has to itself, by its number or name; "" for none."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return "" if fields[4] == "0" else fields[4]
    except (OSError, IndexError):
        pass
    try:
        done = subprocess.run(["ps", "-o", "tty=", "-p", str(number)], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().strip("?-")


def variables_of(number: int) -> dict[str, str]:
    """Its environment, where the system shows it; else {}."""
    try:
        pairs = Path(f"/proc/{number}/environ").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return {}
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
