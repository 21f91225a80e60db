"""Which projects' rules files the user trusts, by their content. On the hot path of an install that serves every project.

A cloned repository's rules may start programs and may let commands run without asking, so a user-wide install takes all of them only
after `onehook trust`. Of any other project it takes what stops something: see compile.RESTRICTING.
"""

from __future__ import annotations

import os

from onehook.codec import dumps, loads
from onehook.core import PayloadError, UsageError
from onehook.places import config_folder, replace_file
from onehook.system import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "onehook.toml"
MAX_RULES = 1 << 20  # bytes; a larger file of a project is ignored


def project_file(cwd: str, home: str = "") -> str:
    """The rules file of the project that a folder is in: at the root of the repository, or else the nearest one above; "" if there is none.

    The root's, so that an agent that changes to a folder below does not leave the rules behind.
    """
    home = home or os.path.expanduser("~")
    nearest, folder = "", cwd
    while folder and os.path.isabs(folder) and folder != home:
        here = os.path.join(folder, FILE)
        found = here if os.path.isfile(here) else ""
        nearest = nearest or found
        if os.path.exists(os.path.join(folder, ".git")):
            return found or nearest
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return nearest


def digest(path: str) -> str:
    """The SHA-256 of a rules file and of every file that it extends."""
    seen: list[str] = []
    whole = sha256()
    waiting = [os.path.abspath(path)]
    while waiting:
        one = waiting.pop(0)
        if one in seen:
            continue
        seen.append(one)
        with open(one, "rb") as file:
            source = file.read(MAX_RULES + 1)
        if len(source) > MAX_RULES or len(seen) > 50:
            raise UsageError(f"{one} is too large for a rules file")
        whole.update(b"%d %d\n" % (len(seen), len(source)) + source)
        waiting += [os.path.normpath(os.path.join(os.path.dirname(one), name)) for name in _extended(one, source)]
    return str(whole.hexdigest())


def _extended(path: str, source: bytes) -> list[str]:
    if b"extends" not in source:
        return []
    from onehook.packs import read_toml

    names = read_toml(path, source).get("extends", [])
    return [names] if isinstance(names, str) else [name for name in names if isinstance(name, str)]


def trusted() -> dict[str, Any]:
    """What was trusted: the path of each file, with its digest and when."""
    try:
        with open(os.path.join(config_folder(), "trusted.json"), encoding="utf-8") as file:
            data = loads(file.read())
    except (OSError, ValueError, PayloadError):
        return {}
    return data if isinstance(data, dict) else {}


def is_trusted(path: str) -> bool:
    entry = trusted().get(os.path.realpath(path))
    try:
        return isinstance(entry, dict) and entry.get("sha256") == digest(path)
    except (OSError, UsageError):
        return False


def keep(entries: dict[str, Any]) -> None:
    folder = config_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    replace_file(os.path.join(folder, "trusted.json"), f"{dumps(entries)}\n".encode("ascii"))
