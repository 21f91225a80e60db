"""Hooks that are configured for Factory Droid (0.225.2), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Machine, Place, table_at
from onehook.hostkit.imports import Borrowed
from onehook.hosts.droid.config import WRAPPED
from onehook.hosts.droid.wire import EVENTS, MCP_JOINT, TOOLS
from onehook.jsonc import read_jsonc

TITLE = "Factory Droid"
STOP_LIMIT = kit.NO_LIMIT
_CARRIED = ("type", "command", "timeout")
_STARTS = ("startup", "resume", "clear", "compact")
# Tools without a unified name, for matchers that match part of a name.
_OTHERS = (
    "TaskOutput", "TaskStop", "TodoWrite", "Skill", "AskUser", "ExitSpecMode", "ToolSearch", "Loop", "GenerateDroid",
)  # fmt: skip
_KNOWN = (*TOOLS, *_OTHERS)
_NOT_READ = 'Droid does not read "hooks" in this file, so it does not run'


def _installed(machine: Machine, scope: str) -> list[Path]:
    """Droid keeps one file for each plugin that it has installed; the settings of a scope switch it on."""
    user = machine.home / ".factory"
    settings = {"user": user, "project": machine.project / ".factory"}.get(scope)
    enabled = kit.switched_on(read_jsonc(settings / "settings.json")) if settings else []
    known = [read_jsonc(path) for path in sorted((user / "plugins" / "installed_plugins").glob("*.json"))] if enabled else []
    places = [table_at(one, "entry").get("installPath") for one in known if one.get("pluginId") in enabled]
    return [Path(place) for place in dict.fromkeys(places) if isinstance(place, str)]


PLUGINS = kit.Plugins(
    (".factory-plugin/plugin.json",), ("DROID_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"), ("hooks/hooks.json", "hooks.json"), installed=_installed,
)  # fmt: skip


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    """The hooks of a file, taking into account how the other files in its folder affect them."""
    yield from kit.misplaced(data, TITLE)
    wrapped = place is not None and (place.path.name == WRAPPED or place.scope == "plugin")
    beside = _hidden_by(place) if place is not None and place.path.name == WRAPPED else {}
    for hook in _handlers(data):
        if place is not None and not wrapped and hook.path[0] == "hooks":
            hook.refused = _NOT_READ
        elif hook.event in beside:
            hook.refused = f"hooks.json beside it has hooks for {hook.event} too, and Droid runs only those"
        yield hook


def _handlers(data: Any) -> Iterator[Borrowed]:
    """The hooks of a settings.json, or of a hooks.json, which has nothing around its events."""
    plain = isinstance(data, dict) and any(name in EVENTS for name in data)
    table = data if plain else table_at(data, "hooks")
    off = table.get("hooksDisabled") is True
    for event, group, handler, path in kit.grouped_handlers(
        {"hooks": {name: table[name] for name in table if name in EVENTS or not plain}}
    ):
        hook = Borrowed(event, path[1:] if plain else path, kit.shown_of(handler))
        hook.refused = _refusal(event, handler, off) or _take_matcher(hook, group.get("matcher")) or _take_command(hook, group)
        if not hook.refused:
            hook.run = kit.in_project(handler["command"], "FACTORY_PROJECT_DIR")
            hook.timeout = kit.seconds(handler.get("timeout"), 60.0)
            hook.losses += kit.lost(handler, _CARRIED)
            hook.losses += kit.lost_of_group(group, ("matcher", "commandRegex", "hooks"))
        yield hook


def _hidden_by(place: Place) -> dict[str, Any]:
    files = (place.path.parent / "hooks.json", place.path.parent / "hooks" / "hooks.json")
    return next((read_jsonc(path) for path in files if path.exists()), {})


def _refusal(event: str, handler: dict[str, Any], off: bool) -> str:
    problem = kit.no_command("Droid", event, EVENTS, handler)
    if problem:
        return problem
    return "hooks are switched off here (hooksDisabled), so it does not run" if off else ""


def _take_matcher(hook: Borrowed, given: object) -> str:
    """A matcher is a regular expression that may match anywhere in the name."""
    matcher = given if isinstance(given, str) else ""
    if kit.takes_all(matcher) or hook.event not in (*TOOL_EVENTS, "SessionStart"):
        return ""  # the other events have nothing that a matcher could be tested against
    if hook.event == "SessionStart":
        return kit.take_sources(hook, matcher, _STARTS, lambda start: re.search(matcher, start), {})
    patterns = kit.patterns_of(matcher)
    return kit.no_list(matcher) if patterns is None else _take_tools(hook, matcher, patterns)


def _take_tools(hook: Borrowed, matcher: str, patterns: list[str]) -> str:
    said = [_server(pattern) for pattern in patterns if MCP_JOINT in pattern]
    names = [pattern for pattern in patterns if MCP_JOINT not in pattern]
    # For example Claude Code's Bash: Droid has no tool of that name, but other hosts do, and the hook would start to run there.
    dead = kit.dead_words(names, _KNOWN)
    found = kit.natives_of([pattern for pattern in names if pattern not in dead], _KNOWN, "", MCP_JOINT)
    if found is None or "" in said:
        return kit.no_list(matcher)
    natives, servers = found[0], [*said, *found[1]]
    if not natives and not servers:
        return kit.no_such_tool(matcher, "Droid")
    kit.take_tools(hook, natives, servers, TOOLS, _OTHERS, TITLE)
    hook.losses += kit.lost_words(dead, "Droid")
    hook.losses += kit.forgotten_servers([pattern for pattern in names if pattern not in dead], natives, servers, MCP_JOINT)
    return ""


def _server(pattern: str) -> str:
    """server___tool, either of which may have a *, as a pattern for the unified name; "" if one is missing."""
    server, _, tool = pattern.partition(MCP_JOINT)
    if not server.strip("*") and not tool.strip("*"):
        return "MCP" if server and tool else ""
    return f"mcp__{server}__{tool}" if server and tool else ""


def _take_command(hook: Borrowed, group: dict[str, Any]) -> str:
    """commandRegex is tested against the command of Execute; with it, no other tool starts the hook."""
    regex = group.get("commandRegex")
    if not regex:
        return ""
    patterns = kit.command_patterns(regex) if isinstance(regex, str) else None
    if hook.event not in TOOL_EVENTS or patterns is None:
        return f"its commandRegex {regex!r} has no equivalent in a manifest"
    if hook.tools and "Bash" not in hook.tools:
        return f"its matcher and its commandRegex {regex!r} exclude each other"
    hook.tools, hook.commands = ["Bash"], patterns
    return ""
