"""Hooks that are configured for Codex CLI (0.166.0), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from onehook.hosts.codex.wire import EVENTS, TOOLS
from onehook.hosts.configuring import TOOL_EVENTS
from onehook.hosts.importing import (
    Borrowed,
    grouped_handlers,
    listed,
    own_tools,
    seconds,
    shown_of,
    takes_all,
    tools_of_regex,
    unified_tools,
)

_PLAIN = re.compile(r"[A-Za-z0-9_|]+")
_TIMEOUTS = {"SessionEnd": 1.0, "Interrupt": 1.0}
_UNMATCHED = ("UserPromptSubmit", "Stop")
_CARRIED = ("type", "command", "timeout", "timeoutSec", "async", "commandWindows", "command_windows")
_ALIASES = {"Write": "apply_patch", "Edit": "apply_patch", "Agent": "spawn_agent"}  # matchers know these words for the tools


def handlers(data: Any) -> Iterator[Borrowed]:
    for event, group, handler, path in grouped_handlers(data):
        if event == "state":  # what a person trusts; no hook
            continue
        hook = Borrowed(event, path, shown_of(handler))
        hook.refused = _refusal(event, handler) or _take_matcher(hook, group.get("matcher"))
        if not hook.refused:
            hook.run = str(handler["command"])
            hook.timeout = seconds(handler.get("timeout"), _TIMEOUTS.get(event, 600.0))
            hook.losses += [f"{key!r} is not carried over" for key in handler if key not in _CARRIED]
        yield hook


def _refusal(event: str, handler: dict[str, Any]) -> str:
    if event not in EVENTS:
        return f"Codex has no event {event!r}"
    if handler.get("type") != "command" or not isinstance(handler.get("command"), str):
        return f"it is of type {handler.get('type')!r}, not a command"
    return "it runs in the background (async)" if handler.get("async") else ""


def _take_matcher(hook: Borrowed, matcher: object) -> str:
    if takes_all(matcher) or hook.event in _UNMATCHED:
        return ""
    words = listed(matcher, _PLAIN)
    if hook.event in TOOL_EVENTS:
        names = None if words is None else [_ALIASES.get(word, word) for word in words]
        found = tools_of_regex(str(matcher), TOOLS, "mcp__") if names is None else unified_tools(names, TOOLS)
        if found is None:
            return f"its matcher {matcher!r} cannot be said as a list of tools"
        hook.tools = found
        hook.losses += [f"the tool {name} is Codex's own, and fires nowhere else" for name in own_tools(found)]
        return ""
    if hook.event == "SessionStart" and words:
        hook.sources = words
        return ""
    return f"its matcher {matcher!r} on {hook.event} cannot be said"
