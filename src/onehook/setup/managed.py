"""`--scope enterprise`: what runs the policy of a whole machine is out of reach for the people who use it."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterable
from pathlib import Path, PureWindowsPath

from onehook.core import UsageError
from onehook.hostkit.config import Machine
from onehook.setup.command import Program, interpreter
from onehook.setup.interpreters import chosen, launcher_in, version_of

_PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3")
_SAFE_ON_WINDOWS = ("Program Files", "Program Files (x86)", "Windows")  # other folders, ProgramData too, let users create files


def folder_of(machine: Machine) -> Path:
    """Where the runtime is, and the environments. The rules of the machine are in /etc/onehook, as configuration."""
    return machine.system("/opt/onehook", "/Library/Application Support/onehook", "C:\\Program Files\\onehook")


def changeable(path: str | Path, machine: Machine, status: Callable[[str], os.stat_result] = os.lstat) -> str:
    """The first part of a path, or of what it is a link to, that somebody besides root can change; "" if there is none."""
    if machine.windows:
        parts = PureWindowsPath(path).parts
        return "" if len(parts) > 1 and parts[1] in _SAFE_ON_WINDOWS else str(path)
    for whole in dict.fromkeys([os.path.abspath(path), os.path.realpath(path)]):
        for part in [*reversed(Path(whole).parents), Path(whole)]:
            try:
                found = status(str(part))
            except FileNotFoundError:
                continue  # only root can create it, as the folder above is root's
            except OSError:
                return str(part)
            if found.st_uid != 0 or _is_open(found):
                return str(part)
    return ""


def _is_open(found: os.stat_result) -> bool:
    """Whether a group or everybody may write. In a sticky folder nobody can replace what is root's; a link has no mode of its own."""
    sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    if stat.S_ISLNK(found.st_mode) or sticky:
        return False
    return bool(found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != 0))


def check_policy(policy: Path, machine: Machine) -> None:
    """Refuse a policy that users can change, or a module beside it that it may import."""
    for path in (policy, *sorted(policy.parent.glob("*.py"))):
        if who := changeable(path, machine):
            there = Path("/etc/onehook") / policy.name
            copy = f"sudo install -D -m 644 {shlex.quote(str(policy))} {there}"
            raise UsageError(
                f"--scope enterprise: {path} can be changed by others than root (because of {who}), so they could switch the policy off. "
                f"Copy it to a folder that is root's, such as {there.parent} ({copy}), and install that"
            )


def program(policy: Path, named: str | None, machine: Machine) -> Program:
    """What runs the policy: a copy of the runtime in a folder of root's, and an interpreter that is root's too."""
    base = folder_of(machine)
    wanted = chosen(policy, named or _root_python(machine), base)
    assert wanted is not None
    for path in _parts_of(wanted.interpreter):
        if who := changeable(path, machine):
            raise UsageError(
                f"--scope enterprise: {path} can be changed by others than root (because of {who}); choose another with --python"
            )
    return wanted


def _parts_of(python: str) -> Iterable[str]:
    return python, version_of(python)[1]


def _root_python(machine: Machine) -> str:
    """An interpreter that only root can change: this one, or the system's."""
    for python in (interpreter(), *_PYTHONS):
        if os.access(python, os.X_OK) and not any(changeable(path, machine) for path in _parts_of(python)):
            return python
    raise UsageError(
        f"--scope enterprise: {interpreter()} can be changed by others than root; name an interpreter that cannot with --python"
    )


def is_safe(written: Program, machine: Machine) -> bool:
    """Whether only root can change what an entry of the machine starts."""
    ours = written.launcher == str(launcher_in(folder_of(machine)))
    return ours and not any(changeable(path, machine) for path in (written.interpreter, written.launcher))
