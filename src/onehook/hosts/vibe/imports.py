"""Hooks that are configured for Mistral Vibe (3.0.2), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.vibe.wire import EVENTS, MCP_JOINT, MCP_PREFIX, STOP_CAP, TOOLS

TITLE = "Mistral Vibe"
STOP_LIMIT = STOP_CAP
PLUGINS = kit.Plugins((), (), ())  # its plugins contain hooks of other agents
_CARRIED = ("name", "type", "command", "match", "timeout", "strict", "description")
# Tools without a unified name, for matchers that match part of a name.
_OTHERS = (
    "self.wait", "self.sleep", "skill.read", "process.output", "process.list", "process.stop", "agents.list", "agents.send_message",
    "agents.interrupt", "vibe.todo", "vibe.unified_harness_scratchpad",
)  # fmt: skip
_MODEL_NAMES = {"file_system.search_replace": "edit", "skill.read": "skill"}


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    entries = data.get("hooks") if isinstance(data, dict) else None
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not isinstance(entry, dict):
            continue
        event = entry.get("type")
        hook = Borrowed(event if isinstance(event, str) else "", ("hooks", index), kit.shown_of(entry), name=kit.name_of(entry))
        hook.refused = kit.no_command(TITLE, hook.event, EVENTS, {**entry, "type": "command"}) or _take_match(hook, entry.get("match"))
        if not hook.refused:
            hook.run = kit.in_folder(entry["command"], '"$ONEHOOK_PROJECT_DIR"')
            hook.timeout = kit.seconds(entry.get("timeout"), 60.0)
            hook.closed = entry.get("strict") is True
            hook.losses += kit.lost(entry, _CARRIED)
        yield hook


def _take_match(hook: Borrowed, match: object) -> str:
    """A match is tested against each of a tool's names: the full name, its last part, with _ for its dots, and the model's name for it."""
    if kit.takes_all(match) or EVENTS[hook.event].shape == "retry":
        return ""
    text = str(match)
    try:
        natives = [name for name in (*TOOLS, *_OTHERS) if any(_fits(text, one) for one in _names(name))]
        every = _fits(text, f"{MCP_PREFIX}\0{MCP_JOINT}\0")
    except re.error:
        return kit.no_list(match)
    servers = ["MCP"] if every else _servers(text) if not natives else []
    if not natives and not servers:
        return kit.no_such_tool(match, "Vibe")
    kit.take_tools(hook, [name for name in natives if name in _OTHERS or name not in _older()], servers, TOOLS, _OTHERS, TITLE)
    return ""


def _older() -> tuple[str, ...]:
    """The names that 2.x has for tools that are called otherwise now."""
    return tuple(name for name in TOOLS if MCP_JOINT not in name and any(name in _names(other) for other in TOOLS if other != name))


def _names(native: str) -> set[str]:
    return {native, native.rpartition(".")[2], native.replace(".", "_"), _MODEL_NAMES.get(native, native)}


def _fits(match: str, name: str) -> bool:
    if match.startswith("re:"):
        return re.fullmatch(match[3:], name, re.IGNORECASE | re.DOTALL) is not None
    return fnmatchcase(name.lower(), match.lower())


def _servers(match: str) -> list[str]:
    """mcp_server.tool, or a * for either, as a pattern for the unified name."""
    patterns = kit.patterns_of(match[3:].replace("\\.", "."), re.compile(r"[\w.*-]+"), whole=True) if match.startswith("re:") else [match]
    found: list[str] = []
    for pattern in patterns or ():
        server, _, tool = pattern.removeprefix(MCP_PREFIX).partition(MCP_JOINT)
        if not pattern.startswith(MCP_PREFIX) or not server:
            return []
        found.append(f"mcp__{server}__{tool}" if tool else f"mcp__{server}" if server.endswith("*") else "")
    return found if all(found) else []
