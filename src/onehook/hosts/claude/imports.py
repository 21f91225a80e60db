"""Hooks that are configured for Claude Code (2.1.325), as hooks of a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.hostkit import imports as kit
from onehook.hostkit.config import TOOL_EVENTS, Machine, Place
from onehook.hostkit.imports import Borrowed
from onehook.hosts.claude.judge import JUDGED
from onehook.hosts.claude.wire import EVENTS, TOOLS
from onehook.jsonc import read_jsonc

if TYPE_CHECKING:
    from onehook.textedit.front_matter import Page

TITLE = "Claude Code"
STOP_LIMIT = 8
_PLAIN = re.compile(r"[A-Za-z0-9_|, -]+")
_TIMEOUTS = {"UserPromptSubmit": 30.0, "PreModelSwitch": 30.0, "PostModelSwitch": 30.0, "MessageDisplay": 10.0, "SessionEnd": 1.5}
_JUDGE_TIMEOUTS = {"prompt": 30.0, "agent": 60.0}
_MATCHED = ("PermissionDenied", *TOOL_EVENTS)
_UNMATCHED = ("UserPromptSubmit", "PostToolBatch", "Stop", "TaskCreated", "TaskCompleted", "TeammateIdle", "CwdChanged", "MessageDisplay")
# Tools without a unified name.
_OTHERS = (
    "AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitPlanMode",
    "ExitWorktree", "KillBash", "KillShell", "ListMcpResourcesTool", "LS", "LSP", "ReadMcpResourceTool", "SendMessage", "Skill",
    "SlashCommand", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoWrite",
    "ToolSearch",
)  # fmt: skip
_CARRIED = (
    "type", "command", "args", "timeout", "onFailure", "if", "shell", "async", "asyncRewake", "once", "prompt", "model", "continueOnBlock",
)  # fmt: skip
_RULE = re.compile(r"([A-Za-z_]\w*)(?:\((.*)\))?", re.DOTALL)
_VARIABLE = "${CLAUDE_PROJECT_DIR}"


def _installed(machine: Machine, scope: str) -> list[Path]:
    """Where Claude Code keeps the plugins that the settings of a scope switch on."""
    user = machine.folder("CLAUDE_CONFIG_DIR", ".claude")
    project = machine.project / ".claude"
    settings = {"user": user / "settings.json", "project": project / "settings.json", "local": project / "settings.local.json"}
    enabled = kit.switched_on(read_jsonc(settings[scope])) if scope in settings else []
    known = read_jsonc(user / "plugins" / "installed_plugins.json").get("plugins")
    found: list[Path] = []
    for name in enabled:
        entry = known.get(name) if isinstance(known, dict) else None
        entry = entry[0] if isinstance(entry, list) and entry else entry
        if isinstance(entry, dict) and isinstance(entry.get("installPath"), str):
            found.append(Path(entry["installPath"]))
    return found


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    off = isinstance(data, dict) and data.get("disableAllHooks") is True
    yield from kit.misplaced(data, TITLE)
    for event, group, handler, path in kit.grouped_handlers(data):
        hook = Borrowed(event, path, kit.shown_of(handler))
        hook.refused = _refusal(hook, handler, off) or _take_matcher(hook, group.get("matcher")) or _take_rule(hook, handler.get("if"))
        if not hook.refused:
            if not hook.prompt:
                hook.run = _command(handler) if handler.get("shell", "bash") == "bash" else kit.in_powershell(handler["command"])
            usual = _JUDGE_TIMEOUTS.get(handler["type"]) or _TIMEOUTS.get(event, 600.0)
            hook.timeout = kit.seconds(handler.get("timeout"), usual)
            hook.closed = handler.get("onFailure") == "block"
            hook.background, hook.wake = handler.get("async") is True, handler.get("asyncRewake") is True
            hook.losses += kit.lost(handler, _CARRIED)
        yield hook


def _refusal(hook: Borrowed, handler: dict[str, Any], off: bool) -> str:
    event = hook.event
    if kit.is_judged(handler):
        problem = kit.take_prompt(hook, handler, JUDGED, EVENTS, TITLE)
    else:
        problem = kit.no_command(TITLE, event, EVENTS, handler)
    if problem:
        return problem
    if off:
        return "hooks are switched off here (disableAllHooks), so it does not run"
    if event == "WorktreeCreate":
        return "it prints the path of a worktree, which only Claude Code can use"
    return kit.no_powershell() if handler.get("shell", "bash") != "bash" else ""


def _take_matcher(hook: Borrowed, matcher: object) -> str:
    if kit.takes_all(matcher) or hook.event in _UNMATCHED:
        return ""
    return kit.take_names_or_regex(hook, matcher, kit.listed(matcher, _PLAIN), _MATCHED, TOOLS, _OTHERS, TITLE)


def _take_rule(hook: Borrowed, rule: object) -> str:
    """`if`, a permission rule: Tool, Bash(pattern of commands), Edit(pattern of paths)."""
    if rule is None:
        return ""
    if hook.event not in _MATCHED:
        return "it has an `if` on an event without a tool, so it never runs"
    said = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    if said is None:
        return f"its if {rule!r} has no equivalent in a manifest"
    (tool,) = kit.unified_tools([said[1]], TOOLS)[:1]
    if hook.tools and tool not in hook.tools:
        return f"its matcher and its if {rule!r} exclude each other"
    pattern = said[2]
    if pattern and tool == "Bash":
        hook.commands = [pattern.removesuffix(":*") + "*" if pattern.endswith(":*") else pattern]
    elif pattern:
        if tool not in ("Read", "Write", "Edit") or pattern.startswith(("/", "~", "!")) or "[" in pattern:
            return f"its if {rule!r} has no equivalent in a manifest"
        hook.paths = [pattern.replace("**/", "").replace("**", "*")]
    hook.tools = [tool]
    return ""


def _command(handler: dict[str, Any]) -> str | list[str]:
    """The command for a shell unchanged. With `args`, which bypass the shell: a list, unless they contain a variable."""
    if "args" not in handler:
        return str(handler["command"])
    words = [str(handler["command"]), *map(str, handler["args"])]
    if not any("${" in word for word in words):
        return words
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    for char in ("\\", '"', "`"):
        word = word.replace(char, f"\\{char}")
    parts = [part.replace("$", "\\$") for part in word.split(_VARIABLE)]
    return f'"{_VARIABLE.join(parts)}"'


# ---- hooks in front matter, tried out on 2.1.325 ----


def _of_agent(page: Page, place: Place) -> Iterator[Borrowed]:
    """They run for everything that this kind of agent does, as a subagent or as the main one (--agent). `once` has no effect."""
    for hook in handlers({"hooks": page.get("hooks")}, place):
        if hook.event == "SubagentStart" and not hook.refused:
            hook.refused = "the hooks of an agent begin after its SubagentStart, so it never runs"
        if place.scope == "plugin" and not hook.refused:
            hook.refused = "Claude Code does not run the hooks of an agent that comes with a plugin"
        if hook.event == "Stop":  # as a subagent it has a SubagentStop instead
            yield replace(hook, event="SubagentStop")
        yield hook


def _of_skill(page: Page, place: Place) -> Iterator[Borrowed]:
    """They run from the start of the skill or command to the end of the session."""
    hooks = page.get("hooks")
    said = {path: handler for _, _, handler, path in kit.grouped_handlers({"hooks": hooks})}
    for hook in handlers({"hooks": hooks}, place):
        if page.get("context") == "fork" and not hook.refused:
            hook.refused = "Claude Code does not run the hooks of a skill that runs in a subagent (context: fork)"
        hook.once = said.get(hook.path, {}).get("once") is True
        yield hook


def _pages_below(machine: Machine, scope: str) -> Path | None:
    return {"user": machine.folder("CLAUDE_CONFIG_DIR", ".claude"), "project": machine.project / ".claude"}.get(scope)


PLUGINS = kit.Plugins(
    (".claude-plugin/plugin.json",), ("CLAUDE_PLUGIN_ROOT",), data=("CLAUDE_PLUGIN_DATA",), installed=_installed,
    pages=(
        kit.Pages("agents/**/*.md", "agent_types", _of_agent),
        kit.Pages("skills/*/SKILL.md", "skills", _of_skill, rooted=True),
        kit.Pages("commands/**/*.md", "skills", _of_skill),
    ),
    pages_below=_pages_below,
)  # fmt: skip
