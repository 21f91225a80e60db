"""Hooks that are configured for Copilot CLI (1.0.102), as hooks of a manifest. What a matcher does was tried out on that version."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.core import wildcard
from onehook.hostkit import imports as kit
from onehook.hostkit.config import Machine, Place, table_at
from onehook.hostkit.imports import Borrowed
from onehook.hosts.copilot.config import home
from onehook.hosts.copilot.wire import CAMEL, EVENTS, NATIVE_TOOLS
from onehook.jsonc import read_jsonc

if TYPE_CHECKING:
    from onehook.textedit.front_matter import Page

TITLE = "Copilot"
STOP_LIMIT = 8
_CARRIED = ("type", "bash", "command", "exec", "args", "cwd", "env", "timeoutSec", "timeout", "matcher")
_MATCHED = ("PreToolUse", "PostToolUse", "PermissionRequest")
_NARROWED = ("PreCompact", "SubagentStart", "Notification")  # a manifest cannot express their matchers; other events ignore matchers
_NAMES = re.compile(r"[A-Za-z0-9_:*/-]+")
_LIST = re.compile(r"[A-Za-z0-9_|/ -]+")
_OTHERS = (
    "ask_user", "update_todo", "read_bash", "write_bash", "stop_bash", "list_bash", "read_powershell", "write_powershell",
    "stop_powershell", "list_powershell", "skill", "sql", "read_agent", "write_agent", "list_agents",
)  # fmt: skip
# Claude Code's names, which PascalCase events accept, each for some of Copilot's tools.
_CLAUDE = {
    "Bash": ("bash", "powershell"), "Read": ("view",), "Write": ("create",), "Edit": ("edit", "str_replace_editor", "apply_patch"),
    "Grep": ("grep", "rg"), "Glob": ("glob",), "WebFetch": ("web_fetch",), "WebSearch": ("web_search",), "Agent": ("task",),
    "AskUserQuestion": ("ask_user",), "TodoWrite": ("update_todo",),
}  # fmt: skip
_CLAUDE_LITERAL = {**_CLAUDE, "Task": ("task",)}


def _installed(machine: Machine, scope: str) -> list[Path]:
    """The plugins that Copilot has copied (for the user), and those that it loads from a marketplace that is a local folder."""
    user, project = home(machine), machine.project / ".github" / "copilot"
    copied = read_jsonc(user / "config.json").get("installedPlugins") if scope == "user" else None
    entries = [one for one in copied if isinstance(one, dict)] if isinstance(copied, list) else []
    places = [one.get("cache_path") for one in entries if one.get("enabled") is not False]
    files = {"user": user / "settings.json", "project": project / "settings.json", "local": project / "settings.local.json"}
    settings = read_jsonc(files[scope]) if scope in files else {}
    live = [_in_marketplace(settings, name) for name in kit.switched_on(settings)]
    return [*(Path(place) for place in places if isinstance(place, str)), *(place for place in live if place)]


def _in_marketplace(settings: dict[str, Any], name: str) -> Path | None:
    """The folder of a plugin (name@marketplace) in a marketplace that is a local folder."""
    plugin, _, marketplace = name.rpartition("@")
    source = table_at(settings, "extraKnownMarketplaces", marketplace, "source").get("path")
    folder = Path(source) if isinstance(source, str) else None
    for mark in (".github/plugin/marketplace.json", ".claude-plugin/marketplace.json", "marketplace.json") if folder else ():
        listed = read_jsonc(folder / mark).get("plugins") if folder else None
        for one in listed if isinstance(listed, list) else ():
            if folder and isinstance(one, dict) and one.get("name") == plugin and isinstance(one.get("source"), str):
                return folder / str(one["source"])
    return None


def _of_agent(page: Page, place: Place) -> Iterator[Borrowed]:
    for hook in handlers({"hooks": page.get("hooks")}, place):
        hook.refused = hook.refused or "it is not known how Copilot runs the hooks of a custom agent"
        yield hook


def _pages_below(machine: Machine, scope: str) -> Path | None:
    return {"user": home(machine), "project": machine.project / ".github"}.get(scope)


PLUGINS = kit.Plugins(
    ("com.github.copilot/plugin.json", ".github/plugin/plugin.json", "plugin.json"),
    ("PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"),
    ("hooks.json", "hooks/hooks.json", "com.github.copilot/hooks.json", "com.github.copilot/hooks/hooks.json"),
    ("CLAUDE_PLUGIN_DATA",),
    installed=_installed,
    pages=(kit.Pages("agents/*.md", "agent_types", _of_agent),),
    pages_below=_pages_below,
)


def handlers(data: Any, place: Place | None = None) -> Iterator[Borrowed]:
    off = isinstance(data, dict) and data.get("disableAllHooks") is True
    for event, entry, path in kit.listed_handlers(data):
        if not isinstance(entry.get("hooks"), list):
            yield _borrowed(event, entry, entry.get("matcher"), path, off)
            continue
        for index, handler in enumerate(entry["hooks"]):  # a group, in Claude Code's form
            if isinstance(handler, dict):
                yield _borrowed(event, handler, entry.get("matcher"), (*path, "hooks", index), off)


def _borrowed(event: str, entry: dict[str, Any], matcher: object, path: tuple[str | int, ...], off: bool) -> Borrowed:
    hook = Borrowed(event, path, kit.shown_of(entry))
    hook.refused = _refusal(event, entry, off) or _take_matcher(hook, matcher)
    if not hook.refused:
        hook.run = _command(entry)
        hook.timeout = kit.seconds(entry.get("timeoutSec", entry.get("timeout")), 30.0)
        hook.losses += kit.lost(entry, _CARRIED)
    return hook


def _refusal(event: str, entry: dict[str, Any], off: bool) -> str:
    if event not in EVENTS:
        return f"onehook has no event for {event!r}"
    if entry.get("type", "command") != "command":
        return f"it is of type {entry.get('type')!r}, not a command"
    command = _text_of(entry)
    if not command and isinstance(entry.get("powershell"), str):
        return kit.no_powershell()
    if not command:
        return "it has no command"
    if off:
        return "hooks are switched off in this file (disableAllHooks), so it does not run"
    if "COPILOT_HOOK_DIR" in command:
        return "it uses COPILOT_HOOK_DIR, the folder of its config, which a manifest does not have"
    if not isinstance(entry.get("cwd", ""), str) or not _texts(entry.get("args", [])):
        return "its cwd is not a string" if _texts(entry.get("args", [])) else "its args are not a list of strings"
    return kit.env_problem(entry.get("env"))


def _texts(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(word, str) for word in given)


def _text_of(entry: dict[str, Any]) -> str:
    """What runs on Unix: `bash`, or else `command`."""
    return next((entry[key] for key in ("bash", "command", "exec") if isinstance(entry.get(key), str) and entry[key]), "")


def _command(entry: dict[str, Any]) -> str | list[str]:
    text, where = _text_of(entry), entry.get("cwd")
    if not text:
        return kit.with_variables(kit.in_powershell(entry["powershell"]), entry.get("env") or {})
    words = [] if any(entry.get(key) for key in ("bash", "command")) else [text, *entry.get("args", [])]
    line = shlex.join(words) if words else text
    if where:
        folder = shlex.quote(where) if where.startswith("/") else f'"$COPILOT_PROJECT_DIR"/{shlex.quote(where)}'
        placed = f"cd {folder} || exit 1; {line}"
    else:
        placed = kit.in_project(line, "COPILOT_PROJECT_DIR")
    run = words if words and placed == line else placed
    return kit.with_variables(run, entry.get("env") or {})


def _take_matcher(hook: Borrowed, matcher: object) -> str:
    unified = EVENTS[hook.event].event
    if matcher is None or unified not in (*_MATCHED, *_NARROWED):
        return ""
    claude = hook.event not in CAMEL
    if matcher == ".*" or (claude and matcher in ("*", "**")):
        return ""
    if not isinstance(matcher, str) or matcher in ("", "*", "**"):
        return f"its matcher {matcher!r} never matches on {hook.event}, so Copilot does not run it"
    if unified in _NARROWED:
        return kit.no_equivalent(hook, matcher)
    found = _matched(matcher, claude, "/" if unified == "PermissionRequest" else "-")
    if found is None:
        return kit.no_list(matcher)
    natives, servers = found
    if unified == "PermissionRequest" and "edit" in natives:
        natives.append("create")  # creating a file is requested as an edit
    kit.take_tools(hook, natives, servers, NATIVE_TOOLS, _OTHERS, TITLE)
    return ""


def _matched(matcher: str, claude: bool, joint: str) -> tuple[list[str], list[str]] | None:
    """A regular expression for the whole name; on PascalCase events a list of names, including Claude Code's, or a regular expression
    for Claude Code's name."""
    listed = claude and _LIST.fullmatch(matcher)
    words = [word.strip() for word in matcher.split("|")] if listed else []
    patterns = words or kit.patterns_of(matcher, _NAMES, whole=True)
    if patterns is None:
        return None
    natives: list[str] = []
    others: list[str] = []
    for pattern in patterns:
        table = (_CLAUDE_LITERAL if listed else _CLAUDE) if claude else {}
        found = [native for name in table if wildcard(pattern, name) for native in table[name]]
        natives += found
        others += [] if found else [pattern]
    said = kit.natives_of(others, [*NATIVE_TOOLS, *_OTHERS], "", joint)
    return None if said is None else ([*natives, *said[0]], said[1])
