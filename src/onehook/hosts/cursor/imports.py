"""Hooks that are configured for Cursor (@cursor/sdk 1.0.32), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from onehook.core import STOPS
from onehook.hostkit import imports as kit
from onehook.hostkit.config import Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.cursor.judge import JUDGED
from onehook.hosts.cursor.wire import EVENTS, TOOLS

TITLE = "Cursor"
STOP_LIMIT = 5
_OTHERS = ("ComputerUse", "ListMcpResources", "TodoWrite", "WriteShellStdin")  # tools without a unified name
_CARRIED = ("command", "type", "matcher", "timeout", "failClosed", "loop_limit", "prompt", "model")
_GENERIC = ("preToolUse", "postToolUse", "postToolUseFailure")
_ON_COMMANDS = ("beforeShellExecution", "afterShellExecution")
# What a matcher is tested against on events where that is always the same word.
_CONSTANT = {
    "beforeReadFile": "Read", "afterFileEdit": "Write", "beforeTabFileRead": "TabRead", "afterTabFileEdit": "TabWrite",
    "beforeSubmitPrompt": "UserPromptSubmit", "stop": "Stop", "afterAgentResponse": "AgentResponse", "afterAgentThought": "AgentThought",
}  # fmt: skip
_FOLDERS = {
    "project": '"$CURSOR_PROJECT_DIR"',
    "user": '"$HOME"/.cursor',
    "plugin": '"$CURSOR_PLUGIN_ROOT"',
}  # where hooks start, by the scope of the file
_UNMATCHED = ("sessionStart", "sessionEnd", "preCompact", "workspaceOpen")
PLUGINS = kit.Plugins((".cursor-plugin/plugin.json",), ("CURSOR_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"))


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    folder = _FOLDERS.get(place.scope, "") if place else ""
    return (_borrowed(event, entry, path, folder) for event, entry, path in kit.listed_handlers(data))


def _borrowed(event: str, entry: dict[str, Any], path: tuple[str | int, ...], folder: str) -> Borrowed:
    hook = Borrowed(event, path, kit.shown_of(entry))
    if event not in EVENTS:
        hook.refused = f"Cursor has no event {event!r}"
    elif entry.get("type") == "prompt":
        hook.refused = kit.take_prompt(hook, entry, JUDGED, EVENTS, TITLE) or _take_matcher(hook, entry.get("matcher"))
    elif entry.get("type", "command") != "command" or not isinstance(entry.get("command"), str):
        hook.refused = f"it is of type {entry.get('type')!r}, not a command"
    else:
        hook.refused = _take_matcher(hook, entry.get("matcher"))
    if not hook.refused:
        if not hook.prompt:
            hook.run = _placed(event, entry["command"], folder)
        hook.timeout = kit.seconds(entry.get("timeout"), 60.0)
        hook.closed = entry.get("failClosed") is True
        limit = entry.get("loop_limit", STOP_LIMIT)
        hook.stop_limit = limit if isinstance(limit, int) else kit.NO_LIMIT
        hook.losses += kit.lost(entry, _CARRIED)
    return hook


def _placed(event: str, command: str, folder: str) -> str:
    """The command in the folder that Cursor starts it in: the plugin's own for any command of a plugin, except at the end of a turn."""
    if folder != _FOLDERS["plugin"]:
        return kit.in_folder(command, folder) if folder else command
    return command if EVENTS[event].event in STOPS else f"cd {folder} || exit 1; {command}"


def _take_matcher(hook: Borrowed, matcher: object) -> str:
    if kit.takes_all(matcher) or hook.event in _UNMATCHED or not isinstance(matcher, str):
        return ""
    why = kit.no_equivalent(hook, matcher)
    if hook.event in _CONSTANT:
        try:
            return "" if re.search(matcher, _CONSTANT[hook.event]) else f"its matcher {matcher!r} never matches on {hook.event}"
        except re.error:
            return why
    if hook.event in _ON_COMMANDS:
        hook.commands = kit.command_patterns(matcher) or []
        return "" if hook.commands else why
    if hook.event not in _GENERIC:
        return why
    dead = kit.dead_words(kit.patterns_of(matcher) or (), TOOLS)  # for example Claude Code's Bash
    found = kit.tools_of_regex(matcher, TOOLS, "MCP:")
    if found is None:
        return why
    hook.tools = [name for name in found if not any(name == word.strip("*") for word in dead)]
    hook.losses += [*kit.lost_words(dead, TITLE), *kit.own_tools(hook.tools, (*TOOLS, *_OTHERS), TITLE)]
    return "" if hook.tools else kit.no_such_tool(matcher, TITLE)
