"""Pi: where our extension goes, and what keeps it from being loaded (0.87.1). There are no command hooks to configure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import translate
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Diagnosis, Found, Machine, Place, Switches, Traits, no_slot, no_text_problems, table_at
from onehook.hostkit.plugin import FILE, LISTED, PROJECT, Plugin, foreign, found
from onehook.hosts.pi import wire
from onehook.jsonc import read_jsonc

__all__ = [
    "BINARIES", "EVENTS", "FOLDERS", "PROJECT", "TITLE", "TRAITS", "diagnose", "found", "places", "problems", "slot", "text_problems",
]  # fmt: skip

TITLE = "Pi"
BINARIES = ("pi",)
FOLDERS = (".pi",)
slot = no_slot
text_problems = no_text_problems
PLUGIN = Plugin(wire, Path(__file__).with_name("plugin.js"))
EVENTS = PLUGIN.events
_IGNORES = (".gitignore", ".ignore", ".fdignore")
_ENTRIES = ("index.ts", "index.js")


def agent_folder(machine: Machine) -> Path:
    return machine.folder("PI_CODING_AGENT_DIR", ".pi/agent")


def places(machine: Machine) -> list[Place]:
    """Pi looks for .pi only in the folder that it is started in, not in those above it. There is no machine-wide file."""
    user = agent_folder(machine)
    return [
        Place("project", machine.project / ".pi" / "extensions" / FILE, "own", machine.project, committed=True),
        Place("user", user / "extensions" / FILE, "own", machine.scope_of(user)),
    ]


def always_trusts(machine: Machine) -> bool:
    return read_jsonc(agent_folder(machine) / "settings.json").get("defaultProjectTrust") == "always"


def problems(data: Any) -> list[str]:
    return foreign(data, TITLE)


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    return [*_excluded(place), *_hidden(place), *_ignored(place)] if ours else []


def _excluded(place: Place) -> Iterator[Diagnosis]:
    """`pi config` writes such entries: -path always excludes, !pattern does unless there is a +path."""
    base = place.path.parent.parent
    listed = read_jsonc(base / "settings.json").get("extensions")
    words = [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
    names = (f"extensions/{FILE}", str(place.path))
    exact = [word for word in words if word[:1] == "-" and word[1:].removeprefix("./") in names]
    kept = any(word[:1] == "+" and word[1:].removeprefix("./") in names for word in words)
    globs = [word for word in words if word[:1] == "!" and any(re.match(translate(word[1:]), name) for name in (*names, FILE))]
    for word in exact or ([] if kept else globs):
        where = base / "settings.json"
        yield Diagnosis("fail", f"{word!r} among the extensions in {where} keeps Pi from loading onehook's", f"remove it from {where}")


def _hidden(place: Place) -> Iterator[Diagnosis]:
    """A folder that lists its extensions loads no others."""
    folder = place.path.parent
    named = _named(folder / "package.json")
    if place.path in named:
        return
    files = [folder / "package.json"] if named else [folder / name for name in _ENTRIES if (folder / name).exists()]
    for file in files[:1]:
        yield Diagnosis("fail", f"{file} is taken as the only extension of its folder, and {FILE} is not loaded", f"move {file} elsewhere")


def _named(path: Path) -> list[Path]:
    """The existing extensions that a package.json names; if there are none, Pi looks for others."""
    entries = table_at(read_jsonc(path), "pi").get("extensions")
    words = [word for word in entries if isinstance(word, str)] if isinstance(entries, list) else []
    return [file for word in words if (file := Path(os.path.normpath(path.parent / word))).exists()]


def _ignored(place: Place) -> Iterator[Diagnosis]:
    """Pi does not load what an ignore file next to the extensions names."""
    for path in (place.path.parent / name for name in _IGNORES):
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        except (OSError, ValueError):
            lines = []
        if _ignores(lines):
            yield Diagnosis("fail", f"{path} names {FILE}, so Pi does not load it", f"add !{FILE} at the end of {path}")


def _ignores(lines: list[str]) -> bool:
    hit = False
    for line in (line.strip() for line in lines):
        pattern = line.lstrip("!").lstrip("/")
        if pattern and not line.startswith("#") and re.match(translate(pattern), FILE):
            hit = not line.startswith("!")
    return hit


def _switches(machine: Machine) -> list[Path]:
    bases = (agent_folder(machine), machine.home / ".pi" / "agent", machine.project / ".pi")
    return [base / name for base in bases for name in ("settings.json", "extensions")]


TRAITS = Traits(
    captured=("0.87.1",),
    longest_timeout=86400,  # of our extension; seen with 0.87.1: it then waits for a hook that takes eleven minutes, and obeys its denial
    shell_variables=("PI_CODING_AGENT", "PI_SESSION_ID"),
    reloads=False,
    own_content=PLUGIN.content,
    guard="",  # the extension denies if it cannot start the command
    listed=LISTED,
    also_listed=("MCP",),
    switches=Switches(
        _switches,
        ("config", "install", "remove", "uninstall", "-ne", "--no-extensions", "-na", "--no-approve"),
        ("PI_CODING_AGENT_DIR",),
    ),
)
