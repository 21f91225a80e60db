"""`--scope enterprise`: what runs the policy of a whole machine cannot be changed by its users.

A policy that only root can change stays where it is. Any other is copied, with all that it loads, into a folder owned by root, and the copy
is what runs: `copied.json` beside it says where it came from, and which files are install's.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from onehook.core import UsageError
from onehook.hostkit.config import Machine
from onehook.jsonc import read_jsonc
from onehook.places import SYSTEM
from onehook.setup.command import Program, interpreter
from onehook.setup.files import FileEdit
from onehook.setup.interpreters import chosen, launcher_in, version_of
from onehook.setup.policy_files import named_by
from onehook.textedit.document import content_of

if TYPE_CHECKING:
    from onehook.setup.plan import Plan

_PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3")
_SAFE_ON_WINDOWS = ("Program Files", "Program Files (x86)", "Windows")  # other folders, ProgramData too, let users create files
_RECORD = "copied.json"
MAKE_ROOTS = "make root its owner: chown root: {who} && chmod go-w {who}"


def folder_of(machine: Machine) -> Path:
    """Where the runtime is, the environments, and the copies of policies. A rules file for all of them may be in /etc/onehook."""
    return machine.system(*SYSTEM)


# ---- who can change it


def changeable(path: str | Path, machine: Machine, status: Callable[[str], os.stat_result] = os.lstat) -> str:
    """The first part of a path, or of its link target, that users other than root can change; "" if there is none."""
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
    """Whether a group or everyone may write. In a sticky folder nobody can replace what root owns; a link has no mode of its own."""
    sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    if stat.S_ISLNK(found.st_mode) or sticky:
        return False
    return bool(found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != 0))


def refuse_changeable(paths: Iterable[str | Path], machine: Machine, fix: str) -> None:
    """fix: how to fix it; {who} in it stands for the file or folder at fault."""
    for path in paths:
        if who := changeable(path, machine):
            because = "" if who == str(path) else f" (because of {who})"
            then = fix.replace("{who}", shlex.quote(who))
            raise UsageError(f"--scope enterprise: {path} can be changed by users other than root{because}; {then}")


def require_root(what: str) -> None:
    """Refuse with the command that works: the folder of onehook's program is rarely on the PATH of root."""
    if os.name != "nt" and os.geteuid() != 0:
        started = os.path.abspath(sys.argv[0])
        program = [interpreter(), "-m", "onehook"] if os.path.basename(started) == "__main__.py" else [started]
        again = shlex.join([*program, *sys.argv[1:]])
        raise UsageError(f"{what} needs root, since it affects every user of this machine: sudo {again}")


# ---- the interpreter


def program(policy: Path, named: str | None, machine: Machine) -> Program:
    """What runs the policy: a copy of the runtime in a folder owned by root, and an interpreter owned by root."""
    wanted = chosen(policy, named or _root_python(machine), folder_of(machine))
    assert wanted is not None
    refuse_changeable(_parts_of(wanted.interpreter), machine, "choose another interpreter with --python")
    refuse_changeable([wanted.launcher], machine, MAKE_ROOTS)
    return wanted


def _parts_of(python: str) -> Iterable[str]:
    return python, version_of(python)[1]


def is_for_everybody(path: str | Path) -> bool:
    """Whether users other than root can read a file."""
    real = Path(os.path.realpath(path))
    return os.name == "nt" or all(part.stat().st_mode & stat.S_IXOTH for part in (real, *real.parents, *Path(path).absolute().parents))


def _root_python(machine: Machine) -> str:
    """An interpreter that only root can change: this one, or the system's. If possible, one that others can run."""
    there = [python for python in (interpreter(), *_PYTHONS) if os.access(python, os.X_OK)]
    for python in sorted(there, key=is_for_everybody, reverse=True):
        if not any(changeable(path, machine) for path in _parts_of(python)):
            return python
    raise UsageError(
        f"--scope enterprise: {interpreter()} can be changed by users other than root; choose one that cannot be, with --python"
    )


def is_safe(written: Program, machine: Machine) -> bool:
    """Whether only root can change what an entry of the machine starts."""
    ours = written.launcher == str(launcher_in(folder_of(machine)))
    return ours and not any(changeable(path, machine) for path in (written.interpreter, written.launcher))


# ---- copies


@dataclass(frozen=True)
class Copy:
    """A policy that is copied, with everything that it loads."""

    source: Path
    folder: Path  # of the copy
    name: str  # of the policy in that folder
    files: Mapping[str, Path]  # what is to be in that folder, and where it is now

    @property
    def policy(self) -> Path:
        """What runs."""
        return self.folder / self.name

    def moved(self, file: str) -> str:
        """The place of a file in the copy, or its own place if it is not copied."""
        return next((str(self.folder / name) for name, path in self.files.items() if str(path) == file), file)

    @contextlib.contextmanager
    def staged(self) -> Iterator[Path]:
        """The copy in a temporary folder, to check that it works without what is not copied."""
        with tempfile.TemporaryDirectory(prefix="onehook-") as folder:
            for name, path in self.files.items():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, Path(folder) / name)
            yield Path(folder) / self.name


def copy_of(policy: Path, machine: Machine) -> Copy | None:
    """What has to be copied; None for a policy that is already protected where it is."""
    named = {Path(file): in_full for file, in_full in named_by(str(policy)).items()}
    if not any(changeable(file, machine) for file in named):
        return None
    fix = "name it by its path relative to the policy, so that it is copied, or keep it in a folder owned by root"
    refuse_changeable((file for file, in_full in named.items() if in_full), machine, fix)
    folder = _folder_for(policy, machine)
    refuse_changeable([folder], machine, MAKE_ROOTS)
    copied = [file for file, in_full in named.items() if not in_full]
    top = Path(os.path.commonpath([file.parent for file in copied]))
    return Copy(policy, folder, policy.relative_to(top).as_posix(), {file.relative_to(top).as_posix(): file for file in copied})


def _folder_for(policy: Path, machine: Machine) -> Path:
    folder = folder_of(machine) / "policies" / policy.stem
    other = _record(folder).get("source", str(policy))
    if other != str(policy):
        remove = f"onehook uninstall {shlex.quote(other)} --scope enterprise"
        raise UsageError(f"--scope enterprise: {other} is already installed under this name; rename one of them, or first run: {remove}")
    return folder


def plan_copy(plan: Plan, copy: Copy) -> None:
    """Plan to write the copy, and to remove what is left of an earlier one."""
    record = {"source": str(copy.source), "policy": copy.name, "files": list(copy.files)}
    contents: dict[Path, bytes | None] = {copy.folder / name: path.read_bytes() for name, path in copy.files.items()}
    _remove(plan, copy.folder, [path for path in _files_in(copy.folder) if path not in contents])
    contents[copy.folder / _RECORD] = json.dumps(record, indent=1).encode() + b"\n"
    _add(plan, copy.folder, contents)
    plan.modes |= {copy.folder / name: 0o755 if os.access(path, os.X_OK) else 0o644 for name, path in copy.files.items()}


def plan_copy_removal(plan: Plan, machine: Machine, used: Callable[[str], bool]) -> None:
    """Plan to remove the copies that no entry runs anymore."""
    for folder in _copies(machine):
        if not used(str(folder) + os.sep):
            _remove(plan, folder, [*_files_in(folder), folder / _RECORD])
            plan.own_folders.append(folder.parent)


def _remove(plan: Plan, folder: Path, files: list[Path]) -> None:
    """Including what Python has compiled from them, and the folders that are then empty."""
    compiled = [path for file in files for path in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc")]
    _add(plan, folder, dict.fromkeys([*files, *compiled]))
    plan.own_folders += [path.parent for path in (*files, *compiled)]


def _add(plan: Plan, folder: Path, contents: dict[Path, bytes | None]) -> None:
    for path, after in contents.items():
        plan.add(FileEdit(path, content_of(path) if path.is_file() else None, after, kind="copy"), folder)


def _copies(machine: Machine) -> Iterator[Path]:
    return (path.parent for path in sorted((folder_of(machine) / "policies").glob(f"*/{_RECORD}")))


def _record(folder: Path) -> dict[str, Any]:
    return read_jsonc(folder / _RECORD)


def _files_in(folder: Path) -> list[Path]:
    return [folder / name for name in _record(folder).get("files", ())]


def source_of(policy: Path, machine: Machine) -> Path | None:
    """Where a policy that was copied came from; None for any other."""
    return next((Path(record["source"]) for copy, record in _recorded(machine) if copy == policy), None)


def copied_to(policy: Path, machine: Machine) -> Path:
    """The copy of a policy that was copied; any other policy itself."""
    return next((copy for copy, record in _recorded(machine) if record["source"] == str(policy)), policy)


def _recorded(machine: Machine) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The copies of policies, each with its record."""
    found = ((folder, _record(folder)) for folder in _copies(machine))
    return ((folder / record["policy"], record) for folder, record in found if "policy" in record)


def has_changed(policy: Path, machine: Machine) -> bool:
    """Whether what a copy was made from is different now, as far as it exists and can be read."""
    for copy, record in _recorded(machine):
        if copy == policy:
            folder, top = Path(str(copy).removesuffix(record["policy"])), Path(record["source"].removesuffix(record["policy"]))
            return any(_differ(folder / name, top / name) for name in record["files"])
    return False


def _differ(copy: Path, source: Path) -> bool:
    try:
        return source.read_bytes() != copy.read_bytes()
    except OSError:
        return False
