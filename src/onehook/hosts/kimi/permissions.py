"""The permission rules of Kimi Code, as the code of 2.1.0 reads them: in config.toml, [[permission.rules]], [[permission.deny]] and so on.

Deny comes before ask, and ask before allow, in whatever order they are written. No release that was tried obeys them: with `kimi -p` of
0.38.0 and 2.1.0, what a rule denies still runs. They are imported as they were meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine, read_toml
from onehook.hostkit.permissions import LEVELS, Listed, Translated
from onehook.hosts.kimi.config import home
from onehook.hosts.kimi.wire import TOOLS

_SPECIAL = "!{}[]()+@|\\"  # special characters in its patterns besides * and ?
_FILES = ("Read", "Write", "Edit")


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    file = home(machine) / "config.toml"
    held = kit.table(read_toml(file).get("permission")) if scope == "user" else {}
    for level, pattern in _rules(held):
        yield Listed(level, pattern, file, *_entry(level, pattern))


def _rules(held: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The level and the pattern of each rule, from the rules that name their level and from the lists for one level."""
    for key in ("rules", *LEVELS):
        rules = held.get(key)
        for rule in map(kit.table, rules if isinstance(rules, list) else [rules]):
            level, pattern = rule.get("decision") if key == "rules" else key, _pattern(rule)
            if level in LEVELS and pattern:
                yield str(level), pattern


def _pattern(rule: dict[str, Any]) -> str:
    tool, pattern = rule.get("tool"), rule.get("match", rule.get("pattern"))
    if isinstance(tool, str):
        return f"{tool}({pattern})" if isinstance(pattern, str) else tool
    return pattern if isinstance(pattern, str) else ""


def _entry(level: str, text: str) -> Translated:
    name, specifier = kit.split(text)
    if name.startswith("mcp__"):
        return ("", "it is about the input of an MCP tool") if specifier else (name, "")
    tool = kit.unified(name, TOOLS)
    if not tool:
        return "", kit.NO_TOOL
    if not specifier:
        return tool, ""
    if tool not in ("Bash", *_FILES):
        return "", "it is about the input of a tool that is not compared here"
    return _specified(level, tool, specifier)


def _specified(level: str, tool: str, specifier: str) -> Translated:
    if any(char in specifier for char in _SPECIAL):
        return "", "its pattern has characters that mean something else here"
    if tool == "Bash" and level == "allow" and "*" in specifier:
        return "", "its * ends at a slash; here, it would allow more"
    if tool in _FILES and not specifier.startswith(("/", "~/", "./", "**")):
        specifier = f"./{specifier}"
    return f"{tool}({specifier})", ""
