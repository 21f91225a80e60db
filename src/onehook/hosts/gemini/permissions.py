"""The permission lists of Gemini CLI (0.61.0): tools.exclude, confirmationRequired and allowed of its settings, and policies/*.toml.

Of several rules in policy files the one with the highest priority wins. A commandPrefix matches whole words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed, Translated
from onehook.hosts.gemini import config
from onehook.hosts.gemini.wire import TOOLS
from onehook.jsonc import read_jsonc

_SHELLS = ("run_shell_command", "ShellTool")
_DECISIONS = {"allow": "allow", "deny": "deny", "ask_user": "ask"}
_LISTS = {"exclude": "deny", "confirmationRequired": "ask", "allowed": "allow"}
_CONDITIONS = ("argsPattern", "commandRegex", "modes", "subagent", "interactive", "toolAnnotations")


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    for place in config.places(machine):
        if place.scope != scope:
            continue
        if place.path.is_file():
            yield from _of_settings(kit.table(read_jsonc(place.path).get("tools")), place.path)
        for file in sorted((place.path.parent / "policies").glob("*.toml")):
            yield from _of_policies(file)


def _of_settings(tools: dict[str, Any], file: Path) -> Iterator[Listed]:
    for key, level in _LISTS.items():
        for one in kit.one_list(level, tools.get(key), file, _entry):
            if level == "allow" and one.entry.startswith("Bash("):
                one.loss = "Gemini CLI denies every other shell command beside it"
            yield one
    for text in kit.strings(tools.get("core")):
        yield Listed("allow", text, file, refused="tools.core switches every other tool off, which permissions do not")


def _entry(text: str) -> Translated:
    name, specifier = kit.split(text)
    if name in _SHELLS:
        return kit.command(specifier) if specifier else ("Bash", "")
    tool = kit.unified(name, TOOLS)
    return (tool, "") if tool else ("", kit.NO_TOOL)


def _of_policies(file: Path) -> Iterator[Listed]:
    found: list[tuple[int, Listed]] = []
    try:
        rules = tomlkit.parse(file.read_text(encoding="utf-8")).unwrap().get("rule", [])
    except (TOMLKitError, ValueError) as error:
        yield Listed("deny", file.name, file, refused=f"it is not TOML: {error}")
        return
    for rule in rules:
        level = _DECISIONS.get(str(rule.get("decision")))
        for name in _several(rule.get("toolName")) if level else ():
            for prefix in map(str.strip, _several(rule.get("commandPrefix")) or [""]):
                shown = " ".join(part for part in (rule.get("mcpName"), name, prefix) if isinstance(part, str) and part)
                entry, refused = _rule(rule, name, prefix)
                found.append((int(rule.get("priority", 0)), Listed(level or "", shown, file, entry, refused)))
    yield from kit.ranked([one for _, one in sorted(found, key=lambda pair: pair[0])], _covers)


def _several(value: object) -> list[str]:
    return [value] if isinstance(value, str) else kit.strings(value)


def _rule(rule: dict[str, Any], name: str, prefix: str) -> Translated:
    conditions = [key for key in _CONDITIONS if key in rule]
    if conditions:
        return "", f"it has the condition {conditions[0]}"
    if isinstance(rule.get("mcpName"), str):
        return kit.mcp(rule["mcpName"], name)
    if prefix:
        return kit.command(prefix)
    return ("", "it is about every tool at once") if name == "*" else _entry(name)


def _covers(one: Listed, other: Listed) -> bool:
    return other.shown == one.shown or other.shown.startswith(f"{one.shown} ") or one.shown == "*"
