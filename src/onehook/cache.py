"""The cache of compiled code: the modules of onehook that an event loads, all in one file, and policies.

Finding a module takes longer than running it, and compiling is most of what a small policy costs. The cache is in onehook's own
__pycache__ folder, and can be trusted as far as the .pyc files there, which the interpreter trusts already: whoever can write to that
folder can replace onehook. It is not next to the policy, where a forged file would go unnoticed. If the folder is read-only, there is no
cache. A package may also be in an archive (setup/runtime.py); its cache is beside the archive.

A cached policy is used only for exactly the same source at the same path; a cached module only while its source has the same size and
modification time. If anything is wrong with a file, the code is found and compiled without it.

This module imports nothing of onehook, because the launcher runs it before anything can be imported quickly.
"""

from __future__ import annotations

import sys
from _imp import source_hash
from marshal import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Container, Mapping
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

    # The path of the source, its time and its size, whether it is a package, and its code.
    Entry = tuple[str, int, int, bool, bytes]
else:
    try:
        import posix as os
    except ImportError:  # Windows
        import os

    ModuleSpec = type(sys.__spec__)

_importlib: Any = sys.modules["_frozen_importlib_external"]
MAGIC: bytes = _importlib.MAGIC_NUMBER  # of the interpreter's bytecode
_SLOTS = 256  # at most so many policies are cached


def _with_slashes(path: str) -> str:
    return path.replace("\\", "/") if sys.platform == "win32" else path  # elsewhere a backslash is part of a name


PACKAGE = _with_slashes(__file__).rpartition("/")[0]
ARCHIVE = PACKAGE[: -len("/onehook")] if PACKAGE.endswith("/runtime.tar.gz/onehook") else ""  # what it is in, if it is not a folder
LAUNCHER = ARCHIVE[: -len("runtime.tar.gz")] + "launch" if ARCHIVE else f"{PACKAGE}/launch.py"
FOLDER = f"{LAUNCHER.rpartition('/')[0]}/__pycache__"


def _path(name: str) -> str:
    return f"{FOLDER}/{name}.{sys.implementation.cache_tag}.pyc"


def content_of(path: str) -> bytes:
    """The content of a file of the package."""
    if ARCHIVE:
        return archived()[path[len(ARCHIVE) + 1 :]]
    with open(path, "rb") as file:
        return file.read()


_archived: dict[str, bytes] = {}


def archived() -> Mapping[str, bytes]:
    """The files of the archive, read once by a process that needs one: path below the archive -> content."""
    if not _archived:
        from zlib import decompress

        with open(ARCHIVE, "rb") as file:
            data = decompress(file.read(), 31)
        at = 0
        while name := data[at : at + 100].rstrip(b"\0").decode():  # tar: a header of 512 bytes, and the content in blocks of as many
            size = int(data[at + 124 : at + 135], 8)
            _archived[name] = data[at + 512 : at + 512 + size]
            at += 512 + (size + 511) // 512 * 512
    return _archived


def _hashed(path: str) -> bytes:
    return source_hash(0, path.encode("utf-8", "surrogateescape"))


def _write(name: str, content: Any) -> None:
    """Replace a file as a whole. If that fails, there is no cache."""
    if sys.dont_write_bytecode:
        return
    path = _path(name)
    temporary = f"{path}.{os.getpid()}"
    try:
        if ARCHIVE and not _exists(FOLDER):  # elsewhere the interpreter makes it
            os.mkdir(FOLDER)
        # O_EXCL does not follow a link that someone has put there.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
        with open(descriptor, "wb") as file:
            file.write(dumps(content))
        os.replace(temporary, path)
    except OSError:
        pass


# --- policies --------------------------------------------------------------------------------------------------------------------


def compiled(source: bytes, path: str) -> CodeType:
    """The code of a policy, compiled or from the cache."""
    slot = int.from_bytes(_hashed(path), "little") % _SLOTS
    made_of = (MAGIC, sys.flags.optimize, path, source)
    code: CodeType
    try:
        with open(_path(f"policy-{slot}"), "rb") as file:
            cached = loads(file.read())
        if cached[0] == made_of:
            code = loads(cached[1])
            return code
    except (OSError, EOFError, ValueError, TypeError, LookupError):
        pass
    code = compile(source, path, "exec", dont_inherit=True)
    _write(f"policy-{slot}", (made_of, dumps(code)))
    return code


# --- the modules of onehook ------------------------------------------------------------------------------------------------------


class CachedModules:
    """The first finder: takes a module from the cache if its source has not changed."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries
        self.missed = not entries

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        entry = self.entries.get(name)
        if entry is None or not _is_fresh(entry):
            self.missed = self.missed or name.startswith("onehook.")
            entry = self.from_archive(name) if ARCHIVE and f"{name}.".startswith("onehook.") else None
        if entry is None:
            return None
        spec = ModuleSpec(name, self, origin=entry[0], is_package=entry[3])  # type: ignore[arg-type]
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(entry[0].rpartition("/")[0])
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(loads(self.entries[module.__name__][-1]), module.__dict__)

    def from_archive(self, name: str) -> Entry | None:
        path = name.replace(".", "/")
        found = next((file for file in (f"{path}.py", f"{path}/__init__.py") if file in archived()), None)
        if found is None:
            return None
        self.entries = {**self.entries, name: self.entry_of(name, f"{ARCHIVE}/{found}")}
        return self.entries[name]

    def entry_of(self, name: str, path: str) -> Entry:
        entry = self.entries.get(name)
        if entry is not None and _is_fresh(entry):
            return entry
        state = os.stat(ARCHIVE or path)
        code = _code_of(content_of(path), path)
        return (path, state.st_mtime_ns, state.st_size, path.endswith("/__init__.py"), dumps(code))


def _exists(path: str) -> bool:
    try:
        os.stat(path)
    except OSError:
        return False
    return True


def _is_fresh(entry: Entry) -> bool:
    try:
        state = os.stat(ARCHIVE or entry[0])
    except OSError:
        return False
    return (state.st_mtime_ns, state.st_size) == entry[1:3]


def _code_of(source: bytes, path: str) -> CodeType:
    """The code of a module, compiled with a flag in place of `from __future__ import annotations`, which would import __future__."""
    import __future__

    line = b"\nfrom __future__ import annotations\n"
    flags = __future__.annotations.compiler_flag if line in source else 0
    code: CodeType = compile(source.replace(line, b"\n\n", 1), path, "exec", flags, dont_inherit=True)
    return code


def start(entries: Mapping[str, Entry]) -> None:
    """Called by the launcher: from now on, modules come from the cache, and if an import fails, site is imported."""
    own = entries.get("onehook.cache")
    if own is not None and (own[0] != _with_slashes(__file__) or not _is_fresh(own)):
        raise ImportError("cache.py was changed")
    sys.meta_path.insert(0, CachedModules(entries))
    if sys.flags.no_site:
        sys.meta_path.append(SiteOnDemand)


def save() -> None:
    """Cache the modules that this process has loaded, if some are missing or stale: once after an upgrade, or for a new host."""
    finder = sys.meta_path[0]
    if not isinstance(finder, CachedModules) or not finder.missed:
        return
    finder.missed = False
    paths = {name: entry[0] for name, entry in finder.entries.items()}
    for name, module in list(sys.modules.items()):
        if f"{name}.".startswith("onehook."):
            paths[name] = _with_slashes(getattr(module, "__file__", None) or "")
    entries: dict[str, Entry] = {}
    for name, path in paths.items():
        try:
            if path.startswith(f"{PACKAGE}/"):
                entries[name] = finder.entry_of(name, path)
        except (OSError, SyntaxError, ValueError, LookupError):
            continue  # it was removed, or is just being written
    if entries:
        _write(f"modules-{_hashed(PACKAGE).hex()}", (MAGIC, entries))  # the same folder may be known under several paths


def standard_names() -> Container[str]:
    """The top-level modules of the standard library, those of other systems too."""
    try:
        return sys.stdlib_module_names  # type: ignore[attr-defined,no-any-return,unused-ignore]
    except AttributeError:  # Python 3.9
        from onehook.stdlib39 import NAMES

        return NAMES


class SiteOnDemand:
    """The last finder: a missing module may be in a place that only site knows (editable installs, .pth files, other folders)."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        sys.meta_path.remove(SiteOnDemand)
        # Not for what belongs to the standard library on other systems: subprocess tries msvcrt, and goes on without.
        if path is None and name != "onehook" and name not in standard_names():
            import site

            site.main()
            from importlib.util import find_spec

            return find_spec(name)
        sys.meta_path.append(SiteOnDemand)
        return None
