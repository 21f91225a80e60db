"""Hooks that are configured for Qwen Code (0.24.4), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Machine, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.qwen.judge import JUDGED
from onehook.hosts.qwen.wire import EVENTS, SOURCES, TOOLS

if TYPE_CHECKING:
    from onehook.textedit.front_matter import Page

TITLE = "Qwen Code"
STOP_LIMIT = 8
_CARRIED = ("type", "name", "command", "timeout", "env", "async", "shell", "prompt", "model")
_MATCHED = (*TOOL_EVENTS, "PermissionDenied")
_UNMATCHED = ("UserPromptSubmit", "Stop", "MessageDisplay", "PostToolBatch", "SessionDelete", "TodoCreated", "TodoCompleted")
_STARTS = ("startup", "resume", "clear", "compact", "branch")
_OLD = ("replace", "task")
_CURRENT = {name: tool for name, tool in TOOLS.items() if name not in _OLD}
# Tools without a unified name, for matchers that match part of a name.
_OTHERS = (
    "todo_write", "skill", "ask_user_question", "exit_plan_mode", "enter_plan_mode", "save_memory", "tool_search", "tool_call", "lsp",
    "exec", "zoom_image", "image_gen", "display_image", "read_mcp_resource", "enter_worktree", "exit_worktree", "workflow", "artifact",
    "record_artifact", "record_source", "report_findings", "send_message", "structured_output", "loop_wakeup", "cron_create", "cron_list",
    "cron_delete", "create_sub_session", "list_agents", "task_stop", "task_create", "task_update", "task_list", "team_create",
    "team_delete", "team_plan_approval", "request_shutdown", "get_goal", "update_goal", "propose_goal",
)  # fmt: skip
# Other names that a matcher may use, in full; a name in Pascal case may end in "Tool".
_ALIASES = {
    "Shell": "run_shell_command", "Bash": "run_shell_command", "Edit": "edit", "replace": "edit", "NotebookEdit": "notebook_edit",
    "WriteFile": "write_file", "Write": "write_file", "ReadFile": "read_file", "Read": "read_file", "Grep": "grep_search",
    "search_file_content": "grep_search", "SearchFiles": "grep_search", "Glob": "glob", "FindFiles": "glob", "ListFiles": "list_directory",
    "ReadFolder": "list_directory", "TodoList": "todo_write", "TodoWrite": "todo_write", "WebFetch": "web_fetch", "WebSearch": "web_search",
    "Agent": "agent", "task": "agent", "Task": "agent", "Skill": "skill", "ExitPlanMode": "exit_plan_mode", "Monitor": "monitor",
    "SaveMemory": "save_memory", "AskUserQuestion": "ask_user_question",
}  # fmt: skip
_MARK = "qwen-extension.json"


def _installed(machine: Machine, scope: str) -> list[Path]:
    folder = machine.folder("QWEN_HOME", ".qwen") / "extensions"
    return kit.extensions(folder, _MARK, ".qwen-extension-install.json", machine.project) if scope == "user" else []


def _of_skill(page: Page, place: Place) -> Iterator[Borrowed]:
    """They run from the start of the skill to the end of the session (seen with 0.24.4)."""
    return handlers({"hooks": page.get("hooks")}, place)


def _of_agent(page: Page, place: Place) -> Iterator[Borrowed]:
    for hook in _of_skill(page, place):
        hook.refused = hook.refused or "Qwen Code runs it for whatever the session does while the agent works, which no other agent reports"
        yield hook


def _pages_below(machine: Machine, scope: str) -> Path | None:
    return {"user": machine.folder("QWEN_HOME", ".qwen"), "project": machine.project / ".qwen"}.get(scope)


PLUGINS = kit.Plugins(
    (_MARK,),
    (),
    replaced=("extensionPath",),
    installed=_installed,
    pages=(kit.Pages("agents/*.md", "agent_types", _of_agent), kit.Pages("skills/*/SKILL.md", "skills", _of_skill)),
    pages_below=_pages_below,
)


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    off = isinstance(data, dict) and data.get("disableAllHooks") is True
    yield from kit.misplaced(data, TITLE)
    for event, group, handler, path in kit.grouped_handlers(data):
        hook = Borrowed(event, path, kit.shown_of(handler))
        hook.refused = _refusal(hook, handler, off) or _take_matcher(hook, group.get("matcher"))
        if not hook.refused:
            if not hook.prompt:
                hook.run = _command(handler)
            hook.name = kit.name_of(handler)
            hook.timeout = kit.seconds(handler.get("timeout"), 30.0) if hook.prompt else _timeout(handler.get("timeout"))
            hook.background = handler.get("async") is True
            hook.losses += kit.lost(handler, _CARRIED)
            hook.losses += kit.lost_of_group(group)
        yield hook


def _command(handler: dict[str, Any]) -> str | list[str]:
    bash = kit.in_project(handler["command"], "QWEN_PROJECT_DIR")
    run = bash if handler.get("shell", "bash") == "bash" else kit.in_powershell(handler["command"])
    return kit.with_variables(run, handler.get("env") or {})


def _timeout(given: object) -> float:
    """Seconds; values from 1000 up are milliseconds."""
    try:
        value = float(given) if isinstance(given, str) else given
    except ValueError:
        value = None
    found = kit.seconds(value, 60.0)
    return found / 1000 if found >= 1000 else found


def _refusal(hook: Borrowed, handler: dict[str, Any], off: bool) -> str:
    if handler.get("type") == "prompt":
        problem = kit.take_prompt(hook, handler, JUDGED, EVENTS, TITLE)
    else:
        problem = kit.no_command(TITLE, hook.event, EVENTS, handler)
    if problem:
        return problem
    if off:
        return "hooks are switched off here (disableAllHooks), so it does not run"
    return kit.env_problem(handler.get("env")) or (kit.no_powershell() if handler.get("shell", "bash") != "bash" else "")


def _take_matcher(hook: Borrowed, given: object) -> str:
    matcher = given.strip() if isinstance(given, str) else ""
    if kit.takes_all(matcher) or hook.event in _UNMATCHED:
        return ""
    words = [word.strip() for word in matcher.split("|") if word.strip()] if matcher[0] not in "^(" else []
    if any(kit.takes_all(word) for word in words):
        return ""
    if hook.event in _MATCHED:
        return _take_tools(hook, matcher, words)
    if hook.event == "SessionStart":
        return kit.take_sources(hook, matcher, _STARTS, lambda start: re.search("|".join(words) or matcher, start), SOURCES)
    return kit.no_equivalent(hook, matcher)


def _take_tools(hook: Borrowed, matcher: str, words: list[str]) -> str:
    """A list of names, including other names for the tools; anything else is a regular expression that may match anywhere."""
    named = [_ALIASES.get(word) or _ALIASES.get(word.removesuffix("Tool"), "") for word in words]
    others = [word for word, name in zip(words, named) if not name] if words else [matcher]
    patterns = kit.patterns_of("|".join(others)) if others else []
    found = None if patterns is None else kit.natives_of(patterns, [*_CURRENT, *_OTHERS], "mcp__", "__")
    if patterns is None or found is None:
        return kit.no_list(matcher)
    natives, servers = found
    kit.take_tools(hook, [*(name for name in named if name), *natives], servers, _CURRENT, _OTHERS, TITLE)
    hook.losses += kit.forgotten_servers(patterns, natives, servers, "mcp__")
    return ""
