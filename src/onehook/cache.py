"""The cache of compiled code: the modules of onehook, policies, and regular expressions.

Finding a module takes longer than running it, and compiling is most of what a small policy costs. What every event loads, up to runner.py,
is in one file, which is read at once; any other module and each policy is in a separate file, so that an event pays only for what it
uses. The cache is in onehook's own __pycache__ folder, and can be trusted as far as the .pyc files there, which the interpreter trusts
already: whoever can write to that folder can replace onehook. It is not next to the policy, where a forged file would go unnoticed. If
the folder is read-only, there is no cache. A package may also be in an archive (setup/runtime.py); its cache is beside the archive.

A cached policy is used only for exactly the same source at the same path; a cached module only while its source has the same size and
modification time. A file starts with a hash of the rest, whose key is the version of the interpreter. If it is damaged or of another
version, the code is found and compiled without it.

This module imports nothing of onehook, because the launcher runs it before anything can be imported quickly.
"""

from __future__ import annotations

import sys
from _imp import source_hash
from marshal import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Container, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

    # The name of a module, the path of its source, its time and size, and its code; None for an extension module.
    Entry = tuple[str, str, int, int, CodeType | None]
    State = tuple[int, int, int]
else:
    try:
        import posix as os
    except ImportError:  # Windows
        import os

    ModuleSpec = type(sys.__spec__)

_importlib: Any = sys.modules["_frozen_importlib_external"]
_module_from_spec: Any = sys.modules["_frozen_importlib"].module_from_spec
_KEY = sys.hexversion
_SLOTS = 256  # how many policies are cached at most


def _with_slashes(path: str) -> str:
    return path.replace("\\", "/") if sys.platform == "win32" else path  # elsewhere a backslash is part of a name


PACKAGE = _with_slashes(__file__).rpartition("/")[0]
ARCHIVE = PACKAGE[: -len("/onehook")] if PACKAGE.endswith("/runtime.tar.gz/onehook") else ""  # what contains it, if that is not a folder
LAUNCHER = ARCHIVE[: -len("runtime.tar.gz")] + "launch" if ARCHIVE else f"{PACKAGE}/launch.py"
JUDGE = "--judge"  # the launcher's only argument if it asks a model instead of running a policy
SERVE = "--serve"  # its first argument if it should answer events until it is stopped: see resident/
LOADED: list[Callable[[], None]] = []  # called when an event has loaded everything that it needs
IN_MEMORY: dict[str, tuple[bytes, CodeType]] = {}  # the code of a resident policy, with its source, by its path
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
        while name := data[at : at + 100].rstrip(b"\0").decode():  # tar: a header of 512 bytes, then the content in blocks of 512
            size = int(data[at + 124 : at + 135], 8)
            _archived[name] = data[at + 512 : at + 512 + size]
            at += 512 + (size + 511) // 512 * 512
    return _archived


def _hashed(path: str) -> bytes:
    return source_hash(0, path.encode("utf-8", "surrogateescape"))


def kept(name: str) -> Any:
    """The content of a file in the cache; None if there is none, or if it cannot be used."""
    try:
        # Not open(): this is done for every module, and creating a file object takes as long as reading the file.
        descriptor = os.open(_path(name), os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            data = memoryview(os.read(descriptor, os.fstat(descriptor).st_size))
        finally:
            os.close(descriptor)
        return loads(data[8:]) if data[:8] == source_hash(_KEY, data[8:]) else None
    except (OSError, EOFError, ValueError, TypeError):
        return None


def can_keep() -> bool:
    return not sys.dont_write_bytecode and os.access(FOLDER, os.W_OK)


def keep(name: str, content: Any) -> None:
    """Replace a whole file. If that fails, there is no cache."""
    if sys.dont_write_bytecode:
        return
    path = _path(name)
    temporary = f"{path}.{os.getpid()}"
    data = dumps(content)
    try:
        if ARCHIVE and not exists(FOLDER):  # otherwise the interpreter creates it
            os.mkdir(FOLDER)
        # O_EXCL does not follow a link that someone has put there.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
        with open(descriptor, "wb") as file:
            file.write(source_hash(_KEY, data) + data)
        os.replace(temporary, path)
    except OSError:
        pass


# --- policies --------------------------------------------------------------------------------------------------------------------


def compiled(source: bytes, path: str) -> CodeType:
    """The code of a policy, compiled or from the cache."""
    if path in IN_MEMORY and IN_MEMORY[path][0] == source:
        return IN_MEMORY[path][1]
    number = int.from_bytes(_hashed(path), "little")
    made_of = (sys.flags.optimize, path, source)
    code: CodeType
    for slot in (number % _SLOTS, number // _SLOTS % _SLOTS):  # the second one if another policy has the first
        cached = kept(name := f"policy-{slot}")
        if cached is not None and cached[0] == made_of:
            code = cached[1]
            return code
        if cached is None or cached[0][1] == path:
            break
    code = compile(source, path, "exec", dont_inherit=True)
    keep(name, (made_of, code))
    return code


# --- regular expressions ---------------------------------------------------------------------------------------------------------


def expression(name: str) -> Any:
    """A regular expression from the cache, by its name_of(), without importing `re`, which takes longer than most events. None: missing."""
    parts = kept(name)
    return None if parts is None else __import__("_sre").compile(*parts)


def name_of(source: str) -> str:
    return f"pattern-{_hashed(source).hex()}"


def stamp_of(names: Sequence[str]) -> list[tuple[int, int]]:
    """What changes when one of these files of the package does."""
    states = [os.stat(_holder(f"{PACKAGE}/{name}")) for name in names]
    return [(state.st_mtime_ns, state.st_size) for state in states]


# --- the modules of onehook ------------------------------------------------------------------------------------------------------


def _is_own(name: str) -> bool:
    return f"{name}.".startswith("onehook.")


def _file_of(name: str) -> str:
    return f"module-{_hashed(f'{PACKAGE}/{name}').hex()}"  # the same folder may be known under several paths


class CachedModules:
    """The first finder: takes a module from the cache if its source has not changed."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.cached = {entry[0]: entry for entry in entries}
        self.made: dict[str, Entry] = {}  # from the archive
        self.missed = not entries

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not _is_own(name):
            return None
        entry: Entry | None = kept(_file_of(name))
        if entry is not None and _is_fresh(entry):
            self.cached[name] = entry
            return self.spec_of(entry)
        self.missed = True
        entry = self.from_archive(name) if ARCHIVE else None
        return None if entry is None else self.spec_of(entry)

    def spec_of(self, entry: Entry) -> ModuleSpec:
        name, path, *_, code = entry
        loader: Any = _importlib.ExtensionFileLoader(name, path) if code is None else self
        spec = ModuleSpec(name, loader, origin=path, is_package=path.endswith("/__init__.py"))
        spec.has_location = True
        spec.cached = path if code is None else _path(_file_of(name))  # if nothing is given, the interpreter searches for it
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(path.rpartition("/")[0])
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        code: Any = (self.cached.get(name) or self.made[name])[-1]
        exec(code, module.__dict__)

    def from_archive(self, name: str) -> Entry | None:
        path = name.replace(".", "/")
        found = next((file for file in (f"{path}.py", f"{path}/__init__.py") if file in archived()), None)
        if found is not None:
            self.made[name] = _made(name, f"{ARCHIVE}/{found}")
        return self.made.get(name)


def _made(name: str, path: str) -> Entry:
    state = os.stat(_holder(path))
    return (name, path, state.st_mtime_ns, state.st_size, None if _is_extension(path) else _code_of(content_of(path), path))


def _is_extension(path: str) -> bool:
    return path.endswith(tuple(_importlib.EXTENSION_SUFFIXES))


def _holder(path: str) -> str:
    """The file that a source is in."""
    return ARCHIVE if path.startswith(f"{PACKAGE}/") and ARCHIVE else path


def exists(path: str) -> bool:
    try:
        os.stat(path)
    except (OSError, ValueError):
        return False
    return True


MISSING = (0, 0, 0)


def state_of(path: str) -> State:
    """What changes when a file does. Not the time of its content, which anybody can set."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return MISSING
    return (status.st_ctime_ns, status.st_size, status.st_ino)


def is_outdated(files: Mapping[str, State]) -> bool:
    """Whether one of these files has changed. An agent waits, so not with state_of for each, which takes half as long again."""
    stat = os.stat
    for path, state in files.items():
        try:
            status = stat(path)
        except (OSError, ValueError):
            if state != MISSING:
                return True
            continue
        if (status.st_ctime_ns, status.st_size, status.st_ino) != state:
            return True
    return False


def _is_fresh(entry: Entry) -> bool:
    try:
        state = os.stat(_holder(entry[1]))
    except OSError:
        return False
    return (state.st_mtime_ns, state.st_size) == entry[2:4]


def _code_of(source: bytes, path: str) -> CodeType:
    """The code of a module, compiled with a flag in place of `from __future__ import annotations`, which would import __future__."""
    import __future__

    line = b"\nfrom __future__ import annotations\n"
    flags = __future__.annotations.compiler_flag if line in source else 0
    code: CodeType = compile(source.replace(line, b"\n\n", 1), path, "exec", flags, dont_inherit=True)
    return code


def start(itself: ModuleType, entries: Sequence[Entry] = ()) -> None:
    """Called by the launcher: from now on, modules come from the cache, and if an import fails, site is imported.

    `itself`: this module; `entries`: what every event loads, this module first. They are run at once, in an order in which each module
    finds those that it imports, which is faster than importing them. If a source has changed, this is an error, and nothing has been done.
    """
    if not all(map(_is_fresh, entries)):
        raise ImportError("the cache is stale")
    sys.modules[__name__] = itself
    beside = PACKAGE.rpartition("/")[0] or "/"
    if not ARCHIVE and beside not in sys.path:
        sys.path.append(beside)
    finder = CachedModules(entries)
    sys.meta_path.insert(0, finder)
    if sys.flags.no_site:
        sys.meta_path.append(SiteOnDemand)
    for entry in entries[1:]:
        sys.modules[entry[0]] = _module_from_spec(finder.spec_of(entry))
    for name, *_ in entries:
        module: Any = sys.modules[name]
        if name != __name__:
            module.__loader__.exec_module(module)
        folder, _, last = name.rpartition(".")
        if folder:
            setattr(sys.modules[folder], last, module)


def save() -> None:
    """Cache the modules that this process has loaded, if some are missing or stale: once after an upgrade, or for a new host."""
    for tell in LOADED:
        tell()
    # Not always the first: modules that site imports may put theirs in front.
    finder = next((finder for finder in sys.meta_path if isinstance(finder, CachedModules)), None)
    if finder is None or not finder.missed:
        return
    finder.missed = False
    names = list(sys.modules)  # in the order in which they were complete
    own = {name: path for name in names if _is_own(name) and (path := _source_of(name)).startswith(f"{PACKAGE}/")}
    try:
        if "onehook.runner" in own and "onehook.runner" not in finder.cached:
            first = [name for name in names[: names.index("onehook.runner") + 1] if name in own or _is_extension(_source_of(name))]
            first.sort(key=lambda name: name != "onehook.cache")  # the launcher needs it to use the others
            entries = [finder.made.get(name) or _made(name, _source_of(name)) for name in first]
            # It stores the paths of extension modules, which differ between interpreters, even of the same version.
            keep(f"start-{_hashed(LAUNCHER + sys.base_exec_prefix).hex()}", entries)
            finder.cached.update({entry[0]: entry for entry in entries})
        for name in own.keys() - finder.cached.keys():
            keep(_file_of(name), finder.made.get(name) or _made(name, own[name]))
    except (OSError, SyntaxError, ValueError, LookupError):
        pass  # a source was removed, or is just being written


def _source_of(name: str) -> str:
    return _with_slashes(getattr(sys.modules[name], "__file__", None) or "")


def standard_names() -> Container[str]:
    """The top-level modules of the standard library, including those of other systems."""
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
        # Not for what belongs to the standard library on other systems: subprocess tries msvcrt, and continues without.
        if path is None and name != "onehook" and name not in standard_names():
            import site

            site.main()
            from importlib.util import find_spec

            return find_spec(name)
        sys.meta_path.append(SiteOnDemand)
        return None
