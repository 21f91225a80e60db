"""Write planned file changes: checked first, each file old or new at every moment, nothing out of scope."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from onehook.setup.lock import LockError, held

__all__ = ["TEMP_PREFIX", "Applied", "Change", "FilesError", "LockError", "ScopeError", "StaleError", "apply", "sweep", "write"]

TEMP_PREFIX = ".onehook-tmp-"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_PERMISSIONS = 0o7777

OnWrite = Callable[[str, Path], None]


class FilesError(RuntimeError):
    """A planned change cannot be written."""


class StaleError(FilesError):
    """A file is no longer what it was when the plan was made."""


class ScopeError(FilesError):
    """A path, or a symlink on the way to it, leads out of the folder that may be changed."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file's bytes before and after; None stands for no file, and mode None keeps the mode."""

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    kind: str = "config"


@dataclass(slots=True)
class Applied:
    """What apply did: the changes it wrote, and the folders it had to create, outermost first."""

    written: list[Change] = field(default_factory=list)
    created_folders: list[Path] = field(default_factory=list)


@dataclass(slots=True)
class _Target:
    change: Change
    real: Path
    status: os.stat_result | None
    staged: Path | None = None

    @property
    def idle(self) -> bool:
        """Whether the file already is what it should become."""
        mode = self.change.mode
        same_mode = mode is None or (self.status is not None and stat.S_IMODE(self.status.st_mode) == mode)
        return self.change.before == self.change.after and (self.change.after is None or same_mode)


def apply(
    changes: Sequence[Change],
    *,
    scope_root: Path | Mapping[Path, Path],
    lock_folder: Path,
    wait: float = 10.0,
    on_write: OnWrite | None = None,
) -> Applied:
    """Write all changes under the lock, or raise before the first file is touched."""
    with held(lock_folder, wait=wait):
        return write(changes, scope_root=scope_root, on_write=on_write)


def write(
    changes: Sequence[Change],
    *,
    scope_root: Path | Mapping[Path, Path],
    ready: Callable[[], None] | None = None,
    on_write: OnWrite | None = None,
) -> Applied:
    """Write all changes, or raise before the first file is touched. The caller holds the lock.

    scope_root is the folder that nothing may be written outside of: one for all, or one for each path.
    ready is called when every check has passed and nothing has been touched yet.
    on_write is told each finished step: folder, open, write, sync, replace, delete, and done for a file.
    """
    report = on_write or _silent
    targets = _checked(changes, scope_root)
    if ready is not None:
        ready()
    sweep({target.real.parent for target in targets})
    active = [target for target in targets if not target.idle]
    applied = Applied()
    with _discarding_leftovers(active, applied):
        for target in active:
            _stage(target, applied, report)
        for target in active:
            _commit(target, applied, report)
    return applied


def _silent(step: str, path: Path) -> None:
    """Nobody is listening."""


# ---- checks before the first write


def _checked(changes: Sequence[Change], scope_root: Path | Mapping[Path, Path]) -> list[_Target]:
    targets: list[_Target] = []
    seen: dict[Path, Path] = {}
    for change in changes:
        root = scope_root if isinstance(scope_root, Path) else scope_root[change.path]
        real = _inside_scope(change.path, root)
        if real in seen:
            raise FilesError(f"{change.path} and {seen[real]} are one file, {real}: plan one change")
        seen[real] = change.path
        targets.append(_Target(change, real, _fresh_status(change, real)))
    return targets


def _inside_scope(path: Path, scope_root: Path) -> Path:
    """The real place of a path, after following the symlinks that stay inside the scope."""
    scope = Path(os.path.realpath(scope_root))
    lexical = Path(os.path.abspath(path))
    if not (lexical.is_relative_to(os.path.abspath(scope_root)) or lexical.is_relative_to(scope)):
        raise ScopeError(f"{path} is outside {scope_root}, the folder that may be changed")
    real = Path(os.path.realpath(lexical))
    if not real.is_relative_to(scope) or real == scope:
        raise ScopeError(
            f"{path} leads through a symlink to {real}, outside {scope}: "
            f"replace the symlink by a real file or folder, or install there directly"
        )
    if real.is_symlink():
        raise ScopeError(f"{path} is a symlink that leads back to itself at {real}: remove it")
    return real


def _fresh_status(change: Change, real: Path) -> os.stat_result | None:
    """The status of a file that still holds the bytes of the plan; None for a file still to be created."""
    try:
        status = real.lstat()
    except (FileNotFoundError, NotADirectoryError):
        if change.before is not None:
            raise StaleError(f"{change.path} was removed after the plan was made: run this again") from None
        return None
    if not stat.S_ISREG(status.st_mode):
        raise FilesError(f"{change.path} is not a regular file: move it away first")
    if change.before is None:
        raise StaleError(f"{change.path} appeared after the plan was made: run this again")
    if real.read_bytes() != change.before:
        raise StaleError(f"{change.path} was changed by someone else after the plan was made: run this again")
    return status


# ---- writing


def sweep(folders: set[Path]) -> None:
    """Remove what a killed run left; only onehook writes this prefix, and the lock keeps other runs out."""
    for folder in folders:
        if not folder.is_dir():
            continue
        for entry in os.scandir(folder):
            if entry.name.startswith(TEMP_PREFIX) and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


@contextlib.contextmanager
def _discarding_leftovers(targets: list[_Target], applied: Applied) -> Iterator[None]:
    """When a write fails, take back temp files and empty new folders, and name the files already written."""
    try:
        yield
    except BaseException as error:
        for target in targets:
            if target.staged is not None:
                target.staged.unlink(missing_ok=True)
        for folder in reversed(applied.created_folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            done = ", ".join(str(change.path) for change in applied.written) or "no file"
            raise FilesError(f"writing failed: {error}; changed so far: {done}") from error
        raise


def _stage(target: _Target, applied: Applied, report: OnWrite) -> None:
    """Write the new bytes to a temp file beside the target, complete and on disk."""
    if target.change.after is None:
        return
    _make_folders(target.real.parent, applied, report)
    temp = target.real.parent / f"{TEMP_PREFIX}{uuid.uuid4().hex}"
    mode_is_known = target.status is not None or target.change.mode is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
    handle = os.open(temp, flags, 0o600 if mode_is_known else 0o666)
    target.staged = temp
    try:
        report("open", temp)
        rest = memoryview(target.change.after)
        while rest:
            rest = rest[os.write(handle, rest[: 1 << 16]) :]
            report("write", temp)
        _keep_owner_and_mode(handle, temp, target)
        os.fsync(handle)
    finally:
        os.close(handle)
    report("sync", temp)


def _make_folders(folder: Path, applied: Applied, report: OnWrite) -> None:
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir()
        applied.created_folders.append(new)
        _sync_folder(new.parent)
        report("folder", new)


def _keep_owner_and_mode(handle: int, temp: Path, target: _Target) -> None:
    status, mode = target.status, target.change.mode
    if sys.platform != "win32" and status is not None:
        _keep_owner(handle, status)
    if mode is None and status is not None:
        mode = stat.S_IMODE(status.st_mode)
    if mode is None:
        return
    if sys.platform == "win32":
        os.chmod(temp, mode & _PERMISSIONS)
    else:
        os.fchmod(handle, mode & _PERMISSIONS)


def _keep_owner(handle: int, status: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    own = os.fstat(handle)
    if os.geteuid() == 0:
        os.fchown(handle, status.st_uid, status.st_gid)
    elif own.st_gid != status.st_gid:
        # Only root may give a file away; the group can be kept by its members.
        with contextlib.suppress(PermissionError):
            os.fchown(handle, -1, status.st_gid)


def _commit(target: _Target, applied: Applied, report: OnWrite) -> None:
    if target.staged is None:
        target.real.unlink()
        report("delete", target.real)
    else:
        os.replace(target.staged, target.real)
        report("replace", target.real)
    _sync_folder(target.real.parent)
    applied.written.append(target.change)
    report("done", target.real)


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
