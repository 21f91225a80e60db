"""Hooks that are configured for Kimi Code (2.1.0), as hooks of a manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.kimi.config import problems
from onehook.hosts.kimi.wire import EVENTS, TOOLS

TITLE = "Kimi Code"
STOP_LIMIT = 1
PLUGINS = kit.Plugins((), ())
_OTHERS = (
    "AgentSwarm", "AskUserQuestion", "CreateGoal", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "ExitPlanMode", "GetGoal",
    "SetGoalBudget", "Skill", "TaskList", "TaskOutput", "TaskStop", "TodoList", "UpdateGoal", "WaitFor",
)  # fmt: skip


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    wrong = problems(data)
    hooks = data.get("hooks") if isinstance(data, dict) else None
    for index, entry in enumerate(hooks if isinstance(hooks, list) else ()):
        if not isinstance(entry, dict):
            continue
        hook = Borrowed(str(entry.get("event")), ("hooks", index), kit.shown_of(entry))
        refused = kit.no_command(TITLE, hook.event, EVENTS, {"type": "command", **entry})
        hook.refused = refused or (f"it does not run: {wrong[0]}" if wrong else "") or _take_matcher(hook, entry)
        if not hook.refused:
            hook.run = entry["command"]
            hook.timeout = kit.seconds(entry.get("timeout"), 30.0)
        yield hook


def _take_matcher(hook: Borrowed, entry: dict[str, Any]) -> str:
    """A regular expression that may match anywhere in the name."""
    matcher = entry.get("matcher", "")
    if kit.takes_all(matcher) or hook.event == "Stop":
        return ""
    if hook.event not in TOOL_EVENTS:
        return kit.no_equivalent(hook, matcher)
    patterns = kit.patterns_of(matcher)
    said = None if patterns is None else kit.natives_of(patterns, [*TOOLS, *_OTHERS], "mcp__", "__")
    if patterns is None or said is None:
        return kit.no_list(matcher)
    natives, servers = said
    kit.take_tools(hook, natives, servers, TOOLS, _OTHERS, TITLE)
    hook.losses += kit.forgotten_servers(patterns, natives, servers, "mcp__")
    return ""
