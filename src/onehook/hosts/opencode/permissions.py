"""The `permission` of opencode.json: one level per tool, or levels for patterns; the last one that matches wins.

In a pattern * also crosses slashes, and a trailing " *" may be missing ("git *" covers "git").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import LEVELS, Listed, Translated
from onehook.jsonc import read_jsonc

NAME = "opencode"
_TOOLS = {
    "bash": "Bash", "edit": "Edit", "read": "Read", "glob": "Glob", "grep": "Grep", "list": "List", "webfetch": "WebFetch",
    "websearch": "WebSearch", "task": "Agent",
}  # fmt: skip
_OWN = (
    "*",
    "external_directory",
    "doom_loop",
    "skill",
    "lsp",
    "todowrite",
    "todoread",
    "question",
    "codesearch",
    "plan_enter",
    "plan_exit",
)


def listed(machine: Machine, scope: str, name: str = NAME, folders: Sequence[str] = (f".{NAME}",)) -> Iterator[Listed]:
    """`folders`: folders inside the project that are searched in addition to the project's own."""
    if scope not in ("project", "user"):
        return
    user = machine.folder("XDG_CONFIG_HOME", ".config") / name
    places = [machine.project, *(machine.project / folder for folder in folders)] if scope == "project" else [user]
    for file in (place / f"{name}{ending}" for place in places for ending in (".json", ".jsonc")):
        if file.is_file():
            yield from kit.ranked(list(_of(read_jsonc(file).get("permission"), file)), _covers)


def _of(held: object, file: Path) -> Iterator[Listed]:
    for tool, levels in ({"*": held} if isinstance(held, str) else kit.table(held)).items():
        for pattern, level in ({"*": levels} if isinstance(levels, str) else kit.table(levels)).items():
            if level in LEVELS:
                entry, refused = _entry(tool, pattern)
                yield Listed(level, f"{tool} {pattern}" if pattern != "*" else tool, file, entry, refused)


def _covers(one: Listed, other: Listed) -> bool:
    (tool, _, pattern), (other_tool, _, other_pattern) = one.shown.partition(" "), other.shown.partition(" ")
    return kit.covers_text(tool, other_tool) and kit.covers_text(pattern or "*", other_pattern or "*")


def _entry(key: str, pattern: str) -> Translated:
    tool = _TOOLS.get(key)
    if tool is None:
        server, underscore, name = key.partition("_")
        if key in _OWN or not underscore or pattern != "*":
            return "", "it is about every tool at once" if key == "*" else kit.NO_TOOL
        return kit.mcp(server, name)
    if pattern == "*":
        return tool, ""
    if tool == "Bash":
        return (f"Bash({pattern})", "") if "(" not in pattern and "?" not in pattern else ("", "its pattern cannot be written here")
    if tool == "WebFetch":
        return kit.domain(pattern)
    if tool in ("Agent", "WebSearch"):
        return (f"Agent({pattern})", "") if tool == "Agent" else ("", "it is about what is searched for")
    return _path(tool, pattern)


def _path(tool: str, pattern: str) -> Translated:
    if "/" not in pattern:
        return f"{tool}({pattern})", ""
    parts = pattern.removeprefix("./").split("/")
    crossing = [part for part in parts if "*" in part.lstrip("*") or (part.endswith("*") and part.strip("*"))]
    if crossing:
        return "", "a * in it also crosses slashes"
    spelled = "/".join("**" if not part.strip("*") and part else f"**/{part}" if part.startswith("*") else part for part in parts)
    prefix = "/" if pattern.startswith("/") else "" if pattern.startswith("~/") else "./"
    return f"{tool}({prefix}{spelled})".replace("**/**", "**"), ""
