"""Hooks that are configured for OpenHands CLI (1.16.0), as hooks of a manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.core import wildcard
from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.openhands.config import found, regex_of
from onehook.hosts.openhands.wire import EVENTS, TOOLS

TITLE = "OpenHands"
STOP_LIMIT = kit.NO_LIMIT
PLUGINS = kit.Plugins((), (), ())
_CARRIED = ("type", "command", "timeout", "async")
_OTHERS = ("task_tracker", "finish", "think")  # no unified name
_EDITOR = ["Edit", "Write", "Read"]


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    wrapped = data if isinstance(data, dict) and "hooks" in data else {"hooks": data}
    yield from kit.misplaced(wrapped, TITLE)
    for entry in found(data):
        hook = Borrowed(entry.event, entry.path, kit.shown_of(entry.item))
        hook.refused = kit.no_command(TITLE, entry.event, EVENTS, {"type": "command", **entry.item}) or _take_matcher(hook, entry.matcher)
        if not hook.refused:
            hook.run = kit.in_project(entry.command, "OPENHANDS_PROJECT_DIR")
            hook.timeout = kit.seconds(entry.item.get("timeout"), 60.0)
            hook.background = entry.item.get("async") is True
            hook.losses += kit.lost(entry.item, _CARRIED)
        yield hook


def _take_matcher(hook: Borrowed, given: str) -> str:
    """A matcher is a name, or a regular expression for the whole name. (On other events only * matches.)"""
    matcher = regex_of(given)
    if kit.takes_all(matcher):
        return ""
    if hook.event not in TOOL_EVENTS:
        return f"its matcher {given!r} never matches: {hook.event} is not about a tool"
    patterns = kit.patterns_of(matcher, whole=True)
    if patterns is None:
        return kit.no_list(given)
    known = (*TOOLS, *_OTHERS)
    natives = [name for name in known if any(wildcard(pattern, name) for pattern in patterns)]
    if not natives:
        return kit.no_such_tool(given, TITLE)
    kit.take_tools(hook, natives, [], TOOLS, _OTHERS, TITLE)
    if "file_editor" in natives:
        hook.tools = list(dict.fromkeys([*hook.tools, *_EDITOR]))
    return ""
