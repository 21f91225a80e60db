"""The permission lists of Grok Build (1.0.41): [permission] in config.toml, as lists of rules or as a table for each rule.

A command rule matches the beginning of a command, character by character, or as a pattern all of it: `Bash(git)` covers gitleaks too.
Here only whole words match, so such an entry is read as the words that it names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine, read_toml
from onehook.hostkit.permissions import LEVELS, Listed, Translated
from onehook.hosts.grok.config import home
from onehook.hosts.grok.wire import TOOLS

# The words of `tool` in a rule that is a table.
_KINDS = {
    "bash": "Bash", "read": "Read", "edit": "Edit", "grep": "Grep", "webfetch": "WebFetch", "websearch": "WebSearch", "mcp": "MCPTool",
}  # fmt: skip


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    files = {"user": home(machine), "project": machine.project / ".grok"}
    if scope not in files:
        return
    file = files[scope] / "config.toml"
    held = kit.table(read_toml(file).get("permission"))
    yield from kit.three_lists(held, file, _entry)
    rules = held.get("rules")
    for rule in [kit.table(rule) for rule in rules] if isinstance(rules, list) else []:
        if rule.get("action") in LEVELS:
            shown = _shown(rule)
            entry, refused = _entry(shown)
            yield Listed(str(rule["action"]), shown, file, entry, refused)


def _shown(rule: dict[str, Any]) -> str:
    tool, pattern = str(rule.get("tool", "")), rule.get("pattern")
    name = _KINDS.get(tool, tool)
    return f"{name}({pattern})" if isinstance(pattern, str) else name


def _entry(text: str) -> Translated:
    name, specifier = kit.split(text)
    if name.startswith("mcp__"):
        return text.strip(), ""
    if name == "MCPTool":
        server, _, tool = specifier.partition("__")
        return kit.mcp(server, tool) if "*" not in server else ("", "it is about the MCP tools of several servers")
    tool = kit.unified(name, TOOLS)
    if not tool:
        return "", kit.NO_TOOL
    if not specifier or tool != "Bash":
        return (f"{tool}({specifier})" if specifier else tool), ""
    return (f"Bash({specifier})", "") if "*" in specifier else kit.command(specifier)
