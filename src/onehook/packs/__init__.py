"""Ready-made rules, as data: one TOML file for each pack, compiled together with the rules file that chooses them (rules/compile.py)."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = os.path.dirname(os.path.abspath(__file__))
PACKS = tuple(sorted(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".toml")))


def pack_path(name: str) -> str:
    return os.path.join(FOLDER, f"{name}.toml")


def read_toml(path: str, source: bytes) -> dict[str, Any]:
    """The data of a TOML file; what is wrong with it is a UsageError that names the place."""
    from onehook.core import UsageError

    try:
        library = __import__("tomllib")
    except ImportError:  # Python 3.10
        library = __import__("tomlkit")
    try:
        data = library.loads(source.decode("utf-8-sig"))
    except Exception as error:  # each library has its own
        raise UsageError(f"{path} is not TOML: {error}") from None
    plain: dict[str, Any] = data.unwrap() if hasattr(data, "unwrap") else data
    return plain
