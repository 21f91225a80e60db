"""Hooks that are configured for Gemini CLI (0.61.0), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import Machine, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.gemini.wire import EVENTS, TOOLS

TITLE = "Gemini CLI"
STOP_LIMIT = kit.NO_LIMIT
_TIMEOUT = 60_000.0  # milliseconds
_CARRIED = ("type", "name", "command", "timeout", "env")
_ON_TOOLS = ("BeforeTool", "AfterTool")
# The words that a matcher must equal; on other events it has no effect.
_WORDS = {
    "SessionStart": ("startup", "resume", "clear"), "SessionEnd": ("exit", "clear", "logout", "prompt_input_exit", "other"),
    "PreCompress": ("manual", "auto"),
}  # fmt: skip
_OLD = {"search_file_content": "grep_search"}
_CURRENT = {name: tool for name, tool in TOOLS.items() if name not in _OLD}
# Tools without a unified name, for matchers that match part of a name.
_OTHERS = (
    "write_todos", "ask_user", "activate_skill", "enter_plan_mode", "exit_plan_mode", "update_topic", "complete_task", "get_internal_docs",
    "read_mcp_resource", "list_mcp_resources", "save_memory", "tracker_create_task", "tracker_update_task", "tracker_get_task",
    "tracker_list_tasks", "tracker_add_dependency", "tracker_visualize",
)  # fmt: skip
_REPLACED = re.compile(r"\$(?:GEMINI_PROJECT_DIR|GEMINI_CWD|GEMINI_SESSION_ID|CLAUDE_PROJECT_DIR)")
_AROUND = {"": r'"\g<0>"', "'": r"""'"\g<0>"'""", '"': r"\g<0>"}  # by the kind of quotes around it
_QUOTE = re.compile(r"""\\.|['"]""", re.DOTALL)
_MARK = "gemini-extension.json"


def _installed(machine: Machine, scope: str) -> list[Path]:
    folder = machine.home / ".gemini" / "extensions"
    return kit.extensions(folder, _MARK, ".gemini-extension-install.json", machine.project) if scope == "user" else []


PLUGINS = kit.Plugins((_MARK,), (), replaced=("extensionPath",), installed=_installed)


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    yield from kit.misplaced(data, TITLE)
    for event, group, handler, path in kit.grouped_handlers(data):
        hook = Borrowed(event, path, kit.shown_of(handler))
        hook.refused = _refusal(event, handler, _switches(data)) or _take_matcher(hook, group.get("matcher"))
        if not hook.refused:
            command = kit.in_project(quoted_variables(handler["command"]), "GEMINI_PROJECT_DIR")
            hook.run = kit.with_variables(command, handler.get("env") or {})
            hook.name = kit.name_of(handler)
            hook.timeout = kit.seconds(handler.get("timeout"), _TIMEOUT) / 1000
            hook.losses += kit.too_short(hook.timeout, TITLE) + kit.lost(handler, _CARRIED)
            hook.losses += kit.lost_of_group(group)
        yield hook


def _switches(data: Any) -> dict[str, Any]:
    found = data.get("hooksConfig")
    return found if isinstance(found, dict) else {}


def _refusal(event: str, handler: dict[str, Any], switches: dict[str, Any]) -> str:
    problem = kit.no_command(TITLE, event, EVENTS, handler)
    if problem:
        return problem
    command = handler["command"]
    if switches.get("enabled") is False:
        return "hooks are switched off here (hooksConfig.enabled), so it does not run"
    disabled = switches.get("disabled")
    if isinstance(disabled, list) and (handler.get("name") or command) in disabled:
        return "it is switched off here (hooksConfig.disabled), so it does not run"
    if "GEMINI_PLANS_DIR" in command:
        return "it uses GEMINI_PLANS_DIR, which only Gemini CLI has"
    return kit.env_problem(handler.get("env"))


def _take_matcher(hook: Borrowed, given: object) -> str:
    matcher = given.strip() if isinstance(given, str) else ""
    if matcher in ("", "*"):
        return ""
    if hook.event in _ON_TOOLS:
        return _take_tools(hook, matcher)
    words = _WORDS.get(hook.event)
    if words is None:
        return ""
    if matcher not in words:
        return f"its matcher {matcher!r} never matches: it must be exactly {', '.join(words[:-1])} or {words[-1]}"
    if hook.event != "SessionStart":
        return kit.no_equivalent(hook, matcher)
    hook.sources = [matcher]
    return ""


def _take_tools(hook: Borrowed, matcher: str) -> str:
    """A regular expression that may match anywhere in the tool's name."""
    patterns = kit.patterns_of(matcher)
    if patterns is not None and "*" in patterns:
        return ""
    known = (*_CURRENT, *_OTHERS)
    dead = kit.dead_words(patterns or (), known)  # for example Claude Code's Bash
    living = [pattern for pattern in patterns or () if pattern not in dead]
    found = None if patterns is None else kit.natives_of(living, known, "mcp_", "_")
    if found is None:
        return kit.no_list(matcher)
    natives, servers = found
    if not natives and not servers:
        return kit.no_such_tool(matcher, TITLE)
    kit.take_tools(hook, [_OLD.get(name, name) for name in natives], servers, _CURRENT, _OTHERS, TITLE)
    hook.losses += [*kit.lost_words(dead, TITLE), *kit.forgotten_servers(living, natives, servers, "mcp_")]
    return ""


def quoted_variables(command: str) -> str:
    """A command in which a shell expands the variables that Gemini CLI itself replaces, quoted, before bash sees the command."""
    out: list[str] = []
    state, at = "", 0
    for mark in [*_QUOTE.finditer(command), None]:
        piece = command[at : mark.start() if mark else len(command)]
        out.append(_REPLACED.sub(_AROUND[state], piece))
        if mark is None:
            break
        sign = mark[0]
        if sign[0] == "\\" and state == "'":  # not an escape there; the next character may end the quotes
            state = "" if sign[1:] == "'" else state
        elif sign in ("'", '"') and state in ("", sign):
            state = "" if state else sign
        out.append(sign)
        at = mark.end()
    return "".join(out)
