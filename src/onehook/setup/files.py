"""FileEdit, and how a list of them is written: checked first, each file old or new at every moment, nothing out of scope."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from onehook.core import OnehookError
from onehook.jsonc import read_regular

TEMP_PREFIX = ".onehook-tmp-"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_NO_REPLACE, _EXCHANGE = 1, 2  # flags of renameat2(2)
_HERE = -100  # AT_FDCWD


class FilesError(OnehookError):
    """A planned edit cannot be written."""


class StaleError(FilesError):
    """A file is no longer what it was when the plan was made."""


class ScopeError(FilesError):
    """A path, or a symlink on the way to it, leads out of the folder that may be changed."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file's bytes before and after; None means that there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    kind: str = "config"  # or runtime: a file of the portable copy; trust: an agent's private file; exclude: what git is to ignore


@dataclass(slots=True)
class _Progress:
    """The edits written so far, and the folders created for them, outermost first."""

    written: list[FileEdit] = field(default_factory=list)
    created_folders: list[Path] = field(default_factory=list)


@dataclass(slots=True)
class _Target:
    edit: FileEdit
    real: Path
    status: os.stat_result | None
    staged: Path | None = None


def write(edits: Sequence[FileEdit], *, roots: Mapping[Path, Path], ready: Callable[[], None]) -> None:
    """Write all edits, or raise before the first file is changed. The caller holds the lock.

    `roots` names, for each path, the folder that nothing may be written outside of.
    `ready` is called when every check has passed and nothing has been changed yet.
    """
    targets = [target for target in _checked(edits, roots) if target.edit.before != target.edit.after]
    ready()
    sweep({target.real.parent for target in targets})
    progress = _Progress()
    with _discarding_leftovers(targets, progress):
        for target in targets:
            _stage(target, progress)
        for target in targets:
            _commit(target, progress)


# ---- checks before the first write


def _checked(edits: Sequence[FileEdit], roots: Mapping[Path, Path]) -> list[_Target]:
    targets: list[_Target] = []
    seen: dict[Path, Path] = {}
    for edit in edits:
        real = _inside_scope(edit.path, roots[edit.path])
        if real in seen:
            raise FilesError(f"{edit.path} and {seen[real]} are the same file, {real}: plan one edit")
        seen[real] = edit.path
        status = _fresh_status(edit, real)
        if status is not None and edit.before != edit.after:
            _refuse_protected(edit, real, status)
        targets.append(_Target(edit, real, status))
    return targets


def _inside_scope(path: Path, root: Path) -> Path:
    """The real path, after following the symlinks that stay inside the scope."""
    scope = Path(os.path.realpath(root))
    lexical = Path(os.path.abspath(path))
    if not (lexical.is_relative_to(os.path.abspath(root)) or lexical.is_relative_to(scope)):
        raise ScopeError(f"{path} is outside {root}, the folder that may be changed")
    real = Path(os.path.realpath(lexical))
    if not real.is_relative_to(scope) or real == scope:
        raise ScopeError(
            f"{path} leads through a symlink to {real}, outside {scope}: "
            f"replace the symlink with a real file or folder, or install there directly"
        )
    if real.is_symlink():
        raise ScopeError(f"{path} is a symlink that leads back to itself at {real}: remove it")
    return real


def _fresh_status(edit: FileEdit, real: Path) -> os.stat_result | None:
    """The status of a file that still holds the bytes of the plan; None for a file still to be created."""
    try:
        status = real.lstat()
    except (FileNotFoundError, NotADirectoryError):
        if edit.before is not None:
            raise StaleError(f"{edit.path} was removed by another program after the plan was made: run this again") from None
        return None
    if not stat.S_ISREG(status.st_mode):
        raise FilesError(f"{edit.path} is not a regular file: move it first")
    if edit.before is None:
        raise StaleError(f"{edit.path} appeared after the plan was made: run this again")
    if read_regular(real) != edit.before:
        raise _changed(edit)
    return status


def _changed(edit: FileEdit) -> StaleError:
    return StaleError(f"{edit.path} was changed by another program after the plan was made: run this again")


def _refuse_protected(edit: FileEdit, real: Path, status: os.stat_result) -> None:
    """A rename would replace a read-only file, and would cut a hard link, so that the other name keeps the old content."""
    if not status.st_mode & 0o222 or not os.access(real, os.W_OK):
        raise FilesError(f"{edit.path} is read-only: make it writable first (chmod u+w); nothing was changed")
    if status.st_nlink > 1 and edit.after is not None:
        fix = f"cp -p {shlex.quote(str(real))} {shlex.quote(str(real))}.new && mv {shlex.quote(str(real))}.new {shlex.quote(str(real))}"
        raise FilesError(f"{edit.path} has {status.st_nlink} hard links: use a symbolic link, or separate it ({fix}); nothing was changed")


# ---- writing


def sweep(folders: set[Path]) -> None:
    """Remove what a killed run left behind: only onehook uses this prefix, and the lock keeps other runs out."""
    for folder in folders:
        if not folder.is_dir():
            continue
        for entry in os.scandir(folder):
            if entry.name.startswith(TEMP_PREFIX) and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


@contextlib.contextmanager
def _discarding_leftovers(targets: list[_Target], progress: _Progress) -> Iterator[None]:
    """When a write fails, remove temporary files and empty new folders, and name the files that were already written."""
    try:
        yield
    except BaseException as error:
        for target in targets:
            if target.staged is not None:
                target.staged.unlink(missing_ok=True)
        for folder in reversed(progress.created_folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            done = ", ".join(str(edit.path) for edit in progress.written) or "no file"
            raise FilesError(f"writing failed: {error}; changed so far: {done}") from error
        raise


def _stage(target: _Target, progress: _Progress) -> None:
    """Write the new bytes to a temporary file next to the target, complete and on disk."""
    if target.edit.after is None:
        return
    _make_folders(target.real.parent, progress)
    temp = _beside(target.real)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
    handle = os.open(temp, flags, 0o666 if target.status is None and target.edit.kind != "trust" else 0o600)
    target.staged = temp
    try:
        rest = memoryview(target.edit.after)
        while rest:
            rest = rest[os.write(handle, rest[: 1 << 16]) :]
        if target.status is not None:
            _keep_owner_and_mode(handle, temp, target.status)
        os.fsync(handle)
    finally:
        os.close(handle)


def _make_folders(folder: Path, progress: _Progress) -> None:
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir()
        progress.created_folders.append(new)
        _sync_folder(new.parent)


def _keep_owner_and_mode(handle: int, temp: Path, status: os.stat_result) -> None:
    mode = stat.S_IMODE(status.st_mode)
    if sys.platform == "win32":
        os.chmod(temp, mode)
        return
    own = os.fstat(handle)
    if os.geteuid() == 0:
        os.fchown(handle, status.st_uid, status.st_gid)
    elif own.st_gid != status.st_gid:
        # Only root may change the owner of a file; a member of the group can keep the group.
        with contextlib.suppress(PermissionError):
            os.fchown(handle, -1, status.st_gid)
    os.fchmod(handle, mode)


def _beside(path: Path) -> Path:
    return path.parent / f"{TEMP_PREFIX}{uuid.uuid4().hex}"


def _commit(target: _Target, progress: _Progress) -> None:
    """Put the new file in place and check the one that it replaced: if another program has saved since the check, that file is restored."""
    edit, real = target.edit, target.real
    old = target.staged = target.staged or _beside(real)
    _fresh_status(edit, real)
    try:
        if edit.after is None:
            os.rename(real, old)
        else:
            _rename(edit, old, real)
    except (FileExistsError, FileNotFoundError):
        raise _changed(edit) from None
    if edit.before is not None and old.exists() and read_regular(old) != edit.before:
        _put_back(edit, old, real)
        raise _changed(edit)
    old.unlink(missing_ok=True)
    _sync_folder(real.parent)
    progress.written.append(edit)


def _rename(edit: FileEdit, new: Path, real: Path) -> None:
    """Exchange two files in one step, or move one to a name that must be free. Without a system call for that, only the earlier check
    protects the file."""
    if not _rename_with(_NO_REPLACE if edit.before is None else _EXCHANGE, new, real):
        os.replace(new, real)


def _put_back(edit: FileEdit, old: Path, real: Path) -> None:
    if edit.after is None:
        os.rename(old, real)
    elif _rename_with(_EXCHANGE, old, real) and read_regular(old) != edit.after:
        _rename_with(_EXCHANGE, old, real)  # saved once more, in between: the latest stays


def _rename_with(flag: int, one: Path, other: Path) -> bool:
    """renameat2 of Linux; False if the system or the file system does not have it."""
    if sys.platform != "linux":
        return False
    import ctypes

    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    if function(_HERE, os.fsencode(one), _HERE, os.fsencode(other), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(number, os.strerror(number), str(other))


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
