"""Hooks that are configured for Codex CLI (0.166.0), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Machine, Place, table_at
from onehook.hostkit.imports import Borrowed
from onehook.hosts.codex.wire import EVENTS, TOOLS
from onehook.textedit.document import Document

_PLAIN = re.compile(r"[A-Za-z0-9_|]+")
_TIMEOUTS = {"SessionEnd": 1.0, "Interrupt": 1.0}
TITLE = "Codex"
STOP_LIMIT = kit.NO_LIMIT
_UNMATCHED = ("UserPromptSubmit", "Stop")
_CARRIED = ("type", "command", "timeout", "timeoutSec", "async", "commandWindows", "command_windows")
_OTHERS = ("exec", "list_mcp_resources", "read_mcp_resource", "update_plan", "wait_agent", "web_search", "write_stdin")  # no unified name
_ALIASES = {"Write": "apply_patch", "Edit": "apply_patch", "Agent": "spawn_agent"}  # names for the tools that matchers also accept


def _installed(machine: Machine, scope: str) -> list[Path]:
    """The plugins that a config switches on, each in the version that was cached last."""
    user = machine.folder("CODEX_HOME", ".codex")
    config = {"user": user, "project": machine.project / ".codex"}.get(scope, user) / "config.toml"
    entries = table_at(Document(config, "toml").data(), "plugins") if scope in ("user", "project") and config.is_file() else {}
    found: list[Path] = []
    for name, entry in entries.items():
        plugin, _, marketplace = name.rpartition("@")
        versions = [path for path in (user / "plugins" / "cache" / marketplace / plugin).glob("*") if path.is_dir()]
        if isinstance(entry, dict) and entry.get("enabled") is not False and plugin and versions:
            found.append(max(versions, key=lambda path: path.stat().st_mtime))
    return found


PLUGINS = kit.Plugins(
    (".codex-plugin/plugin.json",), ("PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"), data=("PLUGIN_DATA", "CLAUDE_PLUGIN_DATA"), installed=_installed,
)  # fmt: skip


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    yield from kit.misplaced(data, TITLE)
    for event, group, handler, path in kit.grouped_handlers(data):
        if event == "state":  # what a person trusts, not a hook
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
