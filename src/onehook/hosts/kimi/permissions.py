"""The permission rules of Kimi Code (2.1.0): [[permission.rules]] of config.toml, of which the first that matches decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import LEVELS, Listed, Translated
from onehook.hosts.kimi.config import home
from onehook.hosts.kimi.wire import TOOLS


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    from onehook.textedit.toml_tree import parse

    file = home(machine) / "config.toml"
    if scope != "user" or not file.is_file():
        return
    try:
        rules = kit.table(kit.table(parse(file.read_text(encoding="utf-8"))).get("permission")).get("rules")
    except ValueError:
        return
    several = [one for rule in (rules if isinstance(rules, list) else ()) if (one := _listed(kit.table(rule), file))]
    kit.ranked(several[::-1], lambda one, other: _covers(one.shown, other.shown))
    yield from several


def _listed(rule: dict[str, Any], file: Path) -> Listed | None:
    level, pattern = rule.get("decision"), rule.get("pattern")
    if level not in LEVELS or not isinstance(pattern, str):
        return None
    return Listed(str(level), pattern, file, *_entry(pattern))


def _covers(one: str, other: str) -> bool:
    tool, specifier = kit.split(one)
    return tool == kit.split(other)[0] and (not specifier or kit.covers_text(specifier, kit.split(other)[1]))


def _entry(text: str) -> Translated:
    name, specifier = kit.split(text)
    if name.startswith("mcp__"):
        return name, "" if not specifier else "it is about the input of an MCP tool"
    tool = kit.unified(name, TOOLS)
    if not tool:
        return "", kit.NO_TOOL
    return (f"{tool}({specifier})" if specifier else tool), ""
