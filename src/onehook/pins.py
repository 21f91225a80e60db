"""Pins: a policy runs only as it was when a person pinned it. `install --pin` writes a hash into the command, `onehook trust` writes a new
one.

What is hashed is a list, in the format of sha256sum: the policy and every file that it loads, with the SHA-256 of each. The list is a file
of that name beside the runtime, or in the state folder: an event compares the list with the hash in its command, and the files with the
list. A change to a file, to the list or to both is noticed, and what was compared is what runs. Loaded only by events with --pin.
"""

from __future__ import annotations

import sys

from onehook.cache import ARCHIVE, compiled
from onehook.core import PinError
from onehook.hostkit.tools import absolute
from onehook.system import digest, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

FOLDER = "pins"
_verified: dict[str, bytes] = {}  # path -> content


def folder() -> str:
    """Where this onehook keeps the lists."""
    return f"{ARCHIVE.rpartition('/')[0]}/{FOLDER}" if ARCHIVE else f"{state_folder()}/{FOLDER}"


def verify(policy: str, pin: str, lists: str = "") -> None:
    """Raise PinError if a file of the policy has changed since it was pinned. `policy` is absolute; lists: their folder, if it is not this
    onehook's."""
    path = f"{lists or folder()}/{pin}"
    try:
        content = _read(path)
    except OSError as error:
        raise PinError(f"the list of pinned files cannot be read: {error.strerror} ({path})") from None
    if digest(content) != pin:
        raise PinError(f"the list of pinned files was changed: {path}")
    base = policy.replace("\\", "/").rpartition("/")[0] if sys.platform == "win32" else policy.rpartition("/")[0]
    for line in content.decode("utf-8", "surrogateescape").splitlines():
        wanted, _, name = line.partition("  ")
        file = absolute(name, base)
        try:
            found = _read(file)
        except OSError as error:
            raise PinError(f"{file} was pinned and cannot be read: {error.strerror}") from None
        if digest(found) != wanted:
            raise PinError(f"{file} was changed after it was pinned")
        _verified[file] = found
    if policy not in _verified:
        raise PinError(f"{policy} is not what was pinned")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def source_of(path: str) -> bytes:
    """The verified content of a file."""
    if path not in _verified:
        raise PinError(f"{path} is loaded by the policy and was not pinned")
    return _verified[path]


# --- modules beside a policy -----------------------------------------------------------------------------------------------------------


def held(spec: ModuleSpec | None) -> ModuleSpec | None:
    """A module of the policy's folder as it was pinned: from its source, since a .pyc next to it could be forged."""
    if spec is not None and spec.origin is not None:
        source_of(spec.origin)
        spec.loader = _FromSource(spec.origin)  # type: ignore[assignment]
        spec.cached = None
    return spec


class _FromSource:
    def __init__(self, path: str) -> None:
        self.path = path

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compiled(source_of(self.path), self.path), module.__dict__)


class Inside:
    """Finds the modules of packages next to a policy, before anything else does."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: object = None) -> ModuleSpec | None:
        if path is None or not any(str(place).startswith(f"{self.folder}/") for place in path):
            return None
        finder: Any = sys.modules["_frozen_importlib_external"]
        return held(finder.PathFinder.find_spec(name, path))
