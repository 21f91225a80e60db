"""Hooks that are configured for Grok Build (1.0.41), as hooks of a manifest. What a matcher does was tried out on that version."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.grok.wire import EVENTS, MCP_JOINT, SOURCES, TOOLS

TITLE = "Grok"
STOP_LIMIT = 8
PLUGINS = kit.Plugins(("plugin.json",), ("GROK_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"), data=("GROK_PLUGIN_DATA", "CLAUDE_PLUGIN_DATA"))
_CARRIED = ("type", "command", "timeout", "env")
_MATCHED = (*TOOL_EVENTS, "PermissionDenied")
_UNMATCHED = ("UserPromptSubmit", "Stop")
_STARTS = ("new", "startup", "resume")
_DEFAULT, _DEFAULT_OF_STOPS = 5.0, 600.0
_STOPS = ("Stop", "SubagentStop")
_LIST = re.compile(r"[A-Za-z0-9_|]+")
# Tools without a unified name, for matchers that match part of a name.
_OTHERS = (
    "todo_write", "ask_user_question", "enter_plan_mode", "exit_plan_mode", "search_tool", "use_tool", "workflow", "send_feedback",
    "kill_command_or_subagent", "get_command_or_subagent_output", "scheduler_create", "scheduler_delete", "scheduler_list", "image_gen",
    "image_edit", "image_to_video", "reference_to_video", "lsp", "skill",
)  # fmt: skip
# Claude Code's names, which a matcher may use, each for some of Grok's tools.
_ALIASES = {
    "Bash": ("run_terminal_command",), "Read": ("read_file",), "Write": ("write", "search_replace"), "Edit": ("search_replace",),
    "MultiEdit": ("search_replace",), "NotebookEdit": ("search_replace",), "Grep": ("grep",), "Glob": ("list_dir",),
    "WebSearch": ("web_search",), "WebFetch": ("web_fetch",), "Agent": ("spawn_subagent",), "Task": ("spawn_subagent",),
    "TodoWrite": ("todo_write",), "AskUserQuestion": ("ask_user_question",), "EnterPlanMode": ("enter_plan_mode",),
    "ExitPlanMode": ("exit_plan_mode",), "ToolSearch": ("search_tool",),
}  # fmt: skip
_KNOWN = (*TOOLS, *_OTHERS)


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    yield from kit.misplaced(data, TITLE)
    for event, group, handler, path in kit.grouped_handlers(data):
        hook = Borrowed(event, path, kit.shown_of(handler))
        refused = kit.no_command(TITLE, event, EVENTS, handler) or kit.env_problem(handler.get("env"))
        hook.refused = refused or _take_matcher(hook, group.get("matcher"))
        if not hook.refused:
            hook.run = kit.with_variables(
                kit.in_project(_command(handler["command"], place), "GROK_WORKSPACE_ROOT"), handler.get("env") or {}
            )
            hook.timeout = kit.seconds(handler.get("timeout"), _DEFAULT_OF_STOPS if event in _STOPS else _DEFAULT)
            hook.losses += kit.lost(handler, _CARRIED)
            hook.losses += kit.lost_of_group(group, ("matcher", "hooks"))
        yield hook


def _command(command: str, place: Place | None) -> str:
    """A command that is one word is a program next to the file that names it."""
    plain = not command.startswith(("/", "~")) and not any(char in command for char in " |&;><$")
    if not plain or place is None:
        return command
    path = os.path.normpath(place.path.parent / command)
    return shlex.quote(f"./{os.path.relpath(path, place.root)}" if place.scope == "project" else path)


def _take_matcher(hook: Borrowed, given: object) -> str:
    matcher = given if isinstance(given, str) else ""
    if kit.takes_all(matcher) or hook.event in _UNMATCHED:
        return ""
    if hook.event in _MATCHED:
        return _take_tools(hook, matcher)
    if hook.event == "SessionStart":
        return kit.take_sources(hook, matcher, _STARTS, lambda start: _fits(matcher, start), SOURCES)
    if hook.event in ("SubagentStart", "SubagentStop") and _LIST.fullmatch(matcher):
        hook.agent_types = [word for word in matcher.split("|") if word]
        return ""
    return kit.no_equivalent(hook, matcher)


def _fits(matcher: str, word: str) -> bool:
    return word in matcher.split("|") if _LIST.fullmatch(matcher) else bool(re.search(matcher, word))


def _take_tools(hook: Borrowed, matcher: str) -> str:
    """A list of names, including Claude Code's; anything else is a regular expression that may match anywhere in either name of a tool."""
    listed = _LIST.fullmatch(matcher)
    words = [word for word in matcher.split("|") if word] if listed else []
    patterns = words if listed else kit.patterns_of(matcher)
    if patterns is None:
        return kit.no_list(matcher)
    said = [native for name, natives in _ALIASES.items() if _names(name, patterns) for native in natives]
    others = [pattern for pattern in patterns if not any(_names(name, [pattern]) for name in _ALIASES)]
    found = kit.natives_of(others, _KNOWN, "", MCP_JOINT)
    if found is None:
        return kit.no_list(matcher)
    natives, servers = found
    kit.take_tools(hook, [*said, *natives], servers, TOOLS, _OTHERS, TITLE)
    if not listed:
        hook.losses += kit.forgotten_servers(others, natives, servers, MCP_JOINT)
    return ""


def _names(name: str, patterns: list[str]) -> bool:
    from onehook.core import wildcard

    return any(wildcard(pattern, name) for pattern in patterns)
