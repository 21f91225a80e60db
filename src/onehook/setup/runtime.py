"""The runtime that install copies: the part of onehook that runs a policy, without dependencies, for any Python since 3.9.

It is two files: `launch`, which a hook starts, and an archive, whose modules are cached when they are first used (cache.py). Python can
also run a zip file, but takes twice as long to start. Neither file has a name that linters, formatters and type checkers look for.
"""

from __future__ import annotations

import ast
import functools
import io
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from onehook.hosts import GUESTS, HOSTS
from onehook.setup.files import FileEdit

if TYPE_CHECKING:
    from onehook.setup.plan import Plan

PACKAGE = Path(__file__).resolve().parent.parent
LAUNCH, ARCHIVE = "launch", "runtime.tar.gz"
README = b"""This folder was written by `onehook install`. It holds the part of onehook that runs a policy, so that the hooks
of this repository work for everyone who has python3. `onehook doctor` compares it with the installed onehook,
`onehook status` says when it is old, and `onehook uninstall` removes it. `tar tzf runtime.tar.gz` lists what is in it.
"""
# What a repository needs in addition. The names have no extension, so that nothing checks their style.
TEXTS = {"README": README, ".gitignore": b"__pycache__/\n", ".gitattributes": b"* -text linguist-generated\n"}
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")  # where a statement has others
_PARTS = ("wire.py", "reverse.py", "own_entries.py", "confirm.py", "transcripts.py", "judge.py")  # of a host, loaded by their name


@functools.cache
def runtime_files() -> dict[str, bytes]:
    """The runtime: file name -> content."""
    import tarfile

    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        first = PACKAGE / "cache.py"  # where the launcher expects it
        for path in (first, *sorted(closure() - {first}), *sorted((PACKAGE / "packs").glob("*.toml"))):
            entry = tarfile.TarInfo(path.relative_to(PACKAGE.parent).as_posix())
            content = path.read_bytes()
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    return {LAUNCH: (PACKAGE / "launch.py").read_bytes(), ARCHIVE: packed.compress(made.getvalue()) + packed.flush()}


@functools.cache
def closure() -> frozenset[Path]:
    """Everything that an event may import: starting from the launcher, and what is loaded by name."""
    by_name = [PACKAGE / "hosts" / host / part for host in (*HOSTS, *GUESTS) for part in _PARTS]
    waiting = [PACKAGE / "launch.py", *(path for path in by_name if path.is_file()), *(PACKAGE / "policies").glob("*.py")]
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += [folder / "__init__.py" for folder in path.parents if folder == PACKAGE or PACKAGE in folder.parents]
            waiting += [file for module in _imports(path) if (file := _file_of(module))]
    return frozenset(seen)


def _imports(path: Path) -> Iterator[str]:
    """The modules of onehook that a file imports, wherever in it, except for type checkers. Some of the names may be of no module."""
    waiting: list[ast.AST] = [ast.parse(path.read_bytes())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        for block in _BLOCKS:  # nothing below an expression is a statement, and most of a file is expressions
            waiting += getattr(node, block, ())


def _file_of(module: str) -> Path | None:
    if module.partition(".")[0] != PACKAGE.name:
        return None
    path = PACKAGE.parent.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


# ---- a copy of it


def plan_runtime(plan: Plan, folder: Path, root: Path, more: Mapping[str, bytes]) -> None:
    """Plan to write the runtime into a folder. root: nothing outside of it is written; more: further files next to it."""
    for name, content in {**runtime_files(), **more}.items():
        before = _read(folder / name)
        if not _same(name, before, content):
            plan.add(FileEdit(folder / name, before, content, kind="runtime"), root)


def plan_runtime_removal(plan: Plan, folder: Path, root: Path) -> None:
    """Plan to remove what any version of install has written into a folder, and the cache next to it."""
    if not folder.is_dir() or folder.is_symlink():
        return
    there = any((folder / name).exists() for name in (LAUNCH, ARCHIVE))
    texts = [folder / name for name, content in TEXTS.items() if there or _read(folder / name) == content]
    cache, pins = folder / "__pycache__", folder / "pins"
    cached = [path for kind in ("start", "module", "modules", "policy") for path in cache.glob(f"{kind}-*.pyc")]
    cached += (cache / "rules").glob("*.bin")
    for path in sorted([folder / LAUNCH, folder / ARCHIVE, folder / "interpreters", *texts, *cached, *pins.glob("*")]):
        if path.is_file():
            plan.add(FileEdit(path, path.read_bytes(), None, kind="runtime"), root)
    plan.own_folders += [folder, cache, cache / "rules", pins]


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def installed_version(folder: Path) -> str:
    """The version of the runtime in a folder; "" if there is none."""
    if not (folder / ARCHIVE).is_file():
        return ""
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(_unpacked(_read(folder / ARCHIVE) or b""))) as archive:
            file = archive.extractfile("onehook/version.py")
            return file.read().decode().partition('VERSION = "')[2].partition('"')[0] if file else ""
    except (tarfile.TarError, KeyError, ValueError):
        return ""


def edited_files(folder: Path) -> list[str]:
    """The files of a runtime that are not this onehook's, byte for byte. Other versions of zlib may pack the same archive differently."""
    return [name for name, content in runtime_files().items() if not _same(name, _read(folder / name), content)]


def _same(name: str, there: bytes | None, ours: bytes) -> bool:
    return there == ours or (name == ARCHIVE and there is not None and _unpacked(there) == _unpacked(ours))


def _unpacked(packed: bytes) -> bytes:
    """What the launcher reads from an archive; b"" if that is nothing."""
    try:
        return zlib.decompress(packed, 31)
    except zlib.error:
        return b""
