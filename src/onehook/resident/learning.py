"""What a warm process loads, learnt from the events that it has answered, and whether it is still what an event would load.

The warm process never runs the policy's own code: each event does that, as without resident mode, in the event's folder and with its
variables. What it loads are modules that events have imported from elsewhere (onehook, the standard library, packages), and the patterns
that they have compiled. An event imports what is missing itself, and reports what that was.
"""

from __future__ import annotations

import _thread
import sys

from onehook.cache import ARCHIVE, IN_MEMORY, LAUNCHER, PACKAGE, state_of
from onehook.cache import compiled as compiled_policy
from onehook.core import Hooks
from onehook.policy import MAX_POLICY
from onehook.system import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from onehook.cache import State

PACKS = f"{PACKAGE}/packs"
LESSONS = 8  # how often it learns: what a process loads must not depend on the content of its events
MAX_PATTERNS = 400  # the cache of `re` holds 512
_LINE = 4000  # bytes that are written to a pipe in one piece, even if others write too

_find: Any = getattr(sys.modules["_frozen_importlib"], "_find_spec", None)
_WINDOWS = sys.platform == "win32"  # where a path starts with a drive; all are kept with slashes here
_BASE = sys.base_exec_prefix.replace("\\", "/") if _WINDOWS else sys.base_exec_prefix
_VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"
_STANDARD = f"{_BASE}/Lib" if _WINDOWS else f"{_BASE}/{getattr(sys, 'platlibdir', 'lib')}/{_VERSION}"
_ARCHIVED = f"{_BASE}/{_VERSION.replace('.', '')}.zip"  # where the embeddable interpreter for Windows has it


# --- in the event's process --------------------------------------------------------------------------------------------------------


def lessons(modules: Iterable[str], patterns: Iterable[Any], own: bool) -> Iterator[bytes]:
    """What this process has loaded in addition to these, one line each. own: include the policy's own files, and packages."""
    for name in sys.modules.keys() - modules:
        origin = origin_of(sys.modules[name])
        if own or is_known(name, origin):
            yield f"module\t{name}\t{origin}"[:_LINE].encode("utf-8", "surrogateescape")
    for kind, text, flags in compiled() - set(patterns):
        if kind is str and len(text) < 1000:
            yield b"pattern\t%d\t%s" % (int(flags), text.encode("utf-8", "surrogatepass").hex().encode())


def compiled() -> set[Any]:
    """The keys of the patterns that `re` has compiled: kind, pattern and flags."""
    known: Any = getattr(sys.modules.get("re"), "_cache", None)
    return {key for key in known if len(key) == 3} if isinstance(known, dict) else set()


def origin_of(module: Any) -> str:
    spec = getattr(module, "__spec__", None)
    return _with_slashes(str(getattr(module, "__file__", None) or getattr(spec, "origin", None) or ""))


def _with_slashes(path: str) -> str:
    return path.replace("\\", "/") if _WINDOWS else path


def _is_path(origin: str) -> bool:
    return origin[1:3] == ":/" if _WINDOWS else origin.startswith("/")  # else it is "built-in" or "frozen"


def pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines joined into pieces that can be written at once."""
    piece = b""
    for line in lines:
        if len(piece) + len(line) + 1 > _LINE:
            yield piece
            piece = b""
        piece += line + b"\n"
    if piece:
        yield piece


# --- in the warm process -----------------------------------------------------------------------------------------------------------


def learn(lines: Iterable[bytes], packages: bool) -> set[str]:
    """Load what events have loaded, with or without packages. Returns the files that only the policy finds: its own."""
    own: set[str] = set()
    for line in sorted(lines):  # packages before what is in them
        kind, first, second = line.decode("utf-8", "surrogateescape").split("\t", 2)
        if kind == "pattern" and len(compiled()) < MAX_PATTERNS:
            _compile(bytes.fromhex(second).decode("utf-8", "surrogatepass"), int(first))
        elif kind == "module" and is_known(first, second):
            _imported(first, second)
        elif kind == "module" and packages and not _imported(first, second) and _is_path(second):
            own.add(second)
    return own


def files_of(lines: Iterable[bytes]) -> dict[str, State]:
    """The state of the modules' files in these lessons before they are loaded: what changes in the meantime is out of date."""
    found = [line.decode("utf-8", "surrogateescape").split("\t", 2) for line in lines if line.startswith(b"module\t")]
    return {origin: state_of(origin) for _, _, origin in found if _is_path(origin)}


def is_known(name: str, origin: str) -> bool:
    """Whether a module is onehook's or the standard library's: importing those does nothing that a fork would lose."""
    return f"{name}.".startswith("onehook.") or not _is_path(origin) or is_standard(origin)


def is_standard(origin: str) -> bool:
    return origin.startswith((f"{_STANDARD}/", f"{_ARCHIVED}/")) and "-packages/" not in origin


def _imported(name: str, origin: str) -> bool:
    """Import a module if it is found where the event found it."""
    if name in sys.modules:
        return True
    folder, _, _ = name.rpartition(".")
    try:
        if folder and folder not in sys.modules:
            return False
        spec = _find(name, getattr(sys.modules[folder], "__path__", None) if folder else None)
        if spec is None or _with_slashes(spec.origin or "") != origin:
            return False
        __import__(name)
    except BaseException:  # a package's code may raise anything
        return False
    return True


def _compile(pattern: str, flags: int) -> None:
    try:
        sys.modules["re"].compile(pattern, flags)
    except Exception:  # another kind of pattern, or recursion
        pass


def keep_code(path: str) -> None:
    """Keep the code of a policy in memory, for events that find exactly this source."""
    try:
        with open(path, "rb") as file:
            source = file.read(MAX_POLICY)
        IN_MEMORY[path] = (source, compiled_policy(source, path))
    except Exception:  # it no longer exists, or is not Python
        pass


def own_trouble(descriptors: int) -> str:
    """Why this process must not be forked: what it has loaded did something that forks cannot share."""
    what = cannot_be_shared(descriptors)
    if Hooks.made and not what:  # they would not count as the policy's own if the policy breaks (policy.made_since)
        what = "makes a Hooks object"
    return f"a package that the policy imports {what} when it is imported" if what else ""


def cannot_be_shared(descriptors: int) -> str:
    """What forks of this process would lose, or would wrongly share. `descriptors`: how many were open before."""
    if _entries("/proc/self/task") > 1 or _thread._count():
        return "starts a thread"
    return "opens a file or a connection" if open_descriptors() > descriptors else ""


def _entries(folder: str) -> int:
    try:
        return len(os.listdir(folder))
    except OSError:
        return 0


def open_descriptors() -> int:
    return _entries("/proc/self/fd")


# --- out of date? ------------------------------------------------------------------------------------------------------------------


def watched(own: Iterable[str], packs: bool) -> tuple[dict[str, State], dict[str, State]]:
    """The files whose change makes this process outdated, as they are now: of onehook, packages, the interpreter and the policy.

    The second dict has onehook's own. An upgrade replaces them, which also changes their folders, and those are in the first dict: it is
    enough to check the first for each event, and the hundred files of the second after it. packs: whether to include the ready-made rules.
    """
    files = {LAUNCHER, sys.executable, f"{sys.prefix}/pyvenv.cfg", f"{_STANDARD}/os.py", *own}
    files |= {ARCHIVE} if ARCHIVE else set()
    ours = {f"{PACKS}/{name}" for name in (os.listdir(PACKS) if packs and not ARCHIVE else ())}
    for module in list(sys.modules.values()):
        origin = origin_of(module)
        if _is_path(origin) and not is_standard(origin) and not (ARCHIVE and origin.startswith(ARCHIVE)):
            (ours if origin.startswith(f"{PACKAGE}/") else files).add(origin)
    files |= {path.rpartition("/")[0] for path in ours}
    return {path: state_of(path) for path in files}, {path: state_of(path) for path in ours}
