"""The permission lists of Grok Build (1.0.41): [permission] of config.toml, as lists of rules or as a table for each rule.

A command rule fits the beginning of a command, character by character, or as a pattern all of it: `Bash(git)` covers gitleaks too. Here
a word ends where it ends, so such an entry is read as the words that it names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import LEVELS, Listed, Translated
from onehook.hosts.grok.config import home
from onehook.hosts.grok.wire import TOOLS

# The words of `tool` in a rule that is a table.
_KINDS = {
    "bash": "Bash", "read": "Read", "edit": "Edit", "grep": "Grep", "webfetch": "WebFetch", "websearch": "WebSearch", "mcp": "MCPTool",
}  # fmt: skip


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    from onehook.textedit.toml_tree import parse

    files = {"user": home(machine), "project": machine.project / ".grok"}
    file = files[scope] / "config.toml" if scope in files else None
    if file is None or not file.is_file():
        return
    try:
        held = kit.table(kit.table(parse(file.read_text(encoding="utf-8"))).get("permission"))
    except ValueError:
        return
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
