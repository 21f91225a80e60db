"""Hooks that are configured for Hermes Agent (0.19.0), as hooks of a manifest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.hermes.config import MAX_SECONDS
from onehook.hosts.hermes.wire import EVENTS, TOOLS

TITLE = "Hermes"
STOP_LIMIT = 3
PLUGINS = kit.Plugins((), ())
_CARRIED = ("command", "matcher", "timeout")
_MATCHED = ("pre_tool_call", "post_tool_call")


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    for event, entry, (*_, index) in kit.listed_handlers(data):
        yield _borrowed(str(event), entry, ("hooks", str(event), index))


def _borrowed(event: str, entry: dict[str, Any], path: tuple[str | int, ...]) -> Borrowed:
    hook = Borrowed(event, path, kit.shown_of(entry))
    command = entry.get("command")
    hook.refused = kit.no_command(TITLE, event, EVENTS, {"type": "command", **entry})
    if hook.refused or not isinstance(command, str):
        return hook
    try:
        hook.run = shlex.split(command)  # no shell runs it
    except ValueError:
        hook.refused = "its command cannot be split into words, so Hermes does not run it"
        return hook
    hook.timeout = min(kit.seconds(entry.get("timeout"), 60), MAX_SECONDS)
    hook.losses += kit.lost(entry, _CARRIED)
    matcher = entry.get("matcher")
    if event in _MATCHED and isinstance(matcher, str) and matcher.strip():
        tools = kit.tools_of_regex(f"^({matcher.strip()})$", TOOLS, "mcp__")
        if tools is None:
            hook.refused = kit.no_equivalent(hook, matcher)
        else:
            hook.tools = tools
    return hook
