"""Ready-made rules, as data: one TOML file for each pack, compiled together with the rules file that chooses them (rules/compile.py)."""

from __future__ import annotations

import os

from onehook.cache import ARCHIVE, PACKAGE, archived, content_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = f"{PACKAGE}/packs"


_FILES = [name.rpartition("/")[2] for name in (archived() if ARCHIVE else os.listdir(FOLDER)) if name.endswith(".toml")]
PACKS = tuple(sorted(name[:-5] for name in _FILES))


def pack_path(name: str) -> str:
    return f"{FOLDER}/{name}.toml"


def pack_files() -> list[str]:
    """The files that hold the packs."""
    return [ARCHIVE] if ARCHIVE else [pack_path(name) for name in PACKS]


_parsed: dict[bytes, dict[str, Any]] = {}  # a process that compiles several files would parse each pack for each of them


def read_pack(name: str) -> dict[str, Any]:
    """The data of a pack, which nobody changes."""
    source = content_of(pack_path(name))
    if source not in _parsed:
        _parsed[source] = read_toml(pack_path(name), source)
    return _parsed[source]


def read_toml(path: str, source: bytes) -> dict[str, Any]:
    """The data of a TOML file; what is wrong with it is a UsageError that names the place."""
    from onehook.core import UsageError

    try:
        library = __import__("tomllib")
    except ImportError:  # Python 3.10, and 3.9 with a copied runtime
        try:
            library = __import__("tomlkit")
        except ImportError:
            raise UsageError(f"{path} cannot be read: a rules file needs Python 3.11 or newer, or the package tomlkit") from None
    try:
        data = library.loads(source.decode("utf-8-sig"))
    except Exception as error:  # each library has its own
        raise UsageError(f"{path} is not TOML: {error}") from None
    plain: dict[str, Any] = data.unwrap() if hasattr(data, "unwrap") else data
    return plain
