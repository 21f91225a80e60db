"""The command line that a host will run, quoted for the shell that the host uses."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

from onehook.hosts.configuring import Commands

LAUNCHER = Path(__file__).resolve().parent.parent / "launch.py"
# A command is onehook's if it starts this file; the folder name is part of every way to install it.
MARK = "onehook/launch.py"
PORTABLE_FOLDER = ".onehook"
PORTABLE_LAUNCHER = f"{PORTABLE_FOLDER}/runtime/onehook/launch.py"


def interpreter() -> str:
    """The interpreter, absolutely. Of a virtual environment the link in its bin folder: it says which packages are there."""
    return os.path.abspath(sys.executable)


def quote_powershell(word: str) -> str:
    return word if word.replace("-", "").replace("_", "").replace(".", "").isalnum() else "'" + word.replace("'", "''") + "'"


def quote_cmd(word: str) -> str:
    """For cmd.exe /C. A percent sign cannot be quoted there; doubling it is the nearest thing."""
    return word if word.replace("-", "").replace("_", "").replace(".", "").isalnum() else '"' + word.replace("%", "%%") + '"'


def is_ours(command: str) -> bool:
    return MARK in command.replace("\\", "/")


def names_policy(command: str, policy: Path, project: Path) -> bool:
    """Whether a written command runs this policy."""
    inside = relative_to(policy, project)
    spellings = [str(policy), *([inside.as_posix(), str(inside)] if inside else [])]
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    flat = [word.replace("\\", "/") for word in words]
    return any(word.endswith(spelling.replace("\\", "/")) for word in flat for spelling in spellings)


def relative_to(path: Path, folder: Path) -> PurePath | None:
    try:
        return Path(os.path.abspath(path)).relative_to(os.path.abspath(folder))
    except ValueError:
        return None


def commands(
    policy: Path, project: Path, arguments: Sequence[str], *, project_folder: str, inside_project: bool, portable: bool
) -> Commands:
    """The command for each shell. project_folder is how the host's shell names the project, "" if it cannot."""
    relative = relative_to(policy, project)
    inside = inside_project and relative is not None
    if portable:
        posix = _portable_posix(relative.as_posix() if relative else str(policy), arguments, project_folder)
    else:
        place = (
            f"{project_folder}/{shlex.quote(relative.as_posix())}" if inside and relative and project_folder else shlex.quote(str(policy))
        )
        posix = " ".join([*map(shlex.quote, [interpreter(), "-I", "-S", str(LAUNCHER)]), place, *map(shlex.quote, arguments)])
    launcher = str(project / PORTABLE_LAUNCHER) if portable else str(LAUNCHER)
    python = "python" if portable else interpreter()
    words = [python, "-I", "-S", launcher, str(policy), *arguments]
    powershell = " ".join(map(quote_powershell, words))
    powershell = f"& {powershell}" if powershell.startswith("'") else powershell
    plain = ("python3" if portable and os.name != "nt" else python, *words[1:])
    return Commands(posix, powershell, " ".join(map(quote_cmd, words)), plain)


def _portable_posix(policy: str, arguments: Sequence[str], project_folder: str) -> str:
    """python3 from PATH and the runtime in the repository. Without a variable for the project, it is looked for upwards."""
    tail = " ".join(map(shlex.quote, arguments))
    if project_folder:
        return f"python3 -I -S {project_folder}/{PORTABLE_LAUNCHER} {project_folder}/{shlex.quote(policy)} {tail}"
    find = f'd=$PWD; while [ -n "$d" ] && [ ! -e "$d/{PORTABLE_LAUNCHER}" ]; do d=${{d%/*}}; done'
    return f'{find}; exec python3 -I -S "$d/{PORTABLE_LAUNCHER}" "$d"/{shlex.quote(policy)} {tail}'
