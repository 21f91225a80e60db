"""Hooks that are configured for Codex CLI (0.166.0), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.codex.wire import EVENTS, TOOLS

_PLAIN = re.compile(r"[A-Za-z0-9_|]+")
_TIMEOUTS = {"SessionEnd": 1.0, "Interrupt": 1.0}
TITLE = "Codex"
STOP_LIMIT = kit.NO_LIMIT
_UNMATCHED = ("UserPromptSubmit", "Stop")
_CARRIED = ("type", "command", "timeout", "timeoutSec", "async", "commandWindows", "command_windows")
_OTHERS = ("exec", "list_mcp_resources", "read_mcp_resource", "update_plan", "wait_agent", "web_search", "write_stdin")  # no unified name
_ALIASES = {"Write": "apply_patch", "Edit": "apply_patch", "Agent": "spawn_agent"}  # matchers know these words for the tools
PLUGINS = kit.Plugins((".codex-plugin/plugin.json",), ("PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"), data=("PLUGIN_DATA", "CLAUDE_PLUGIN_DATA"))


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    yield from kit.misplaced(data, TITLE)
    for event, group, handler, path in kit.grouped_handlers(data):
        if event == "state":  # what a person trusts; no hook
            continue
        hook = Borrowed(event, path, kit.shown_of(handler))
        hook.refused = kit.no_command(TITLE, event, EVENTS, handler) or _take_matcher(hook, group.get("matcher"))
        if not hook.refused:
            hook.run = str(handler["command"])
            hook.timeout = kit.seconds(handler.get("timeout"), _TIMEOUTS.get(event, 600.0))
            hook.background = handler.get("async") is True
            hook.losses += kit.lost(handler, _CARRIED)
        yield hook


def _take_matcher(hook: Borrowed, matcher: object) -> str:
    if kit.takes_all(matcher) or hook.event in _UNMATCHED:
        return ""
    words = kit.listed(matcher, _PLAIN)
    if words is not None and hook.event in TOOL_EVENTS:
        words = [_ALIASES.get(word, word) for word in words]
    return kit.take_names_or_regex(hook, matcher, words, TOOL_EVENTS, TOOLS, _OTHERS, TITLE)
