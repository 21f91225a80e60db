"""Cursor: where hooks are configured and what an entry looks like (@cursor/sdk 1.0.32; the editor reads the same files)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from onehook.hosts.configuring import TOOL_EVENTS, Commands, Finding, Found, Machine, Place, Wish, anchored, native_tools
from onehook.hosts.cursor import wire

TITLE = "Cursor"
BINARIES = ("cursor", "cursor-agent")
FOLDERS = (".cursor",)
# The generic events only: Cursor fires them for every tool, and one handler on both kinds would run twice.
_GENERIC = (
    "sessionStart", "preToolUse", "postToolUse", "postToolUseFailure", "beforeSubmitPrompt", "stop", "sessionEnd", "subagentStart",
    "subagentStop", "preCompact", "afterAgentResponse", "afterAgentThought", "workspaceOpen",
)  # fmt: skip
EVENTS = {wire.EVENTS[native].event: native for native in _GENERIC}
HOST_IDS = ("claude", "cursor")
PROJECT = '"${CLAUDE_PROJECT_DIR:-.}"'  # Cursor sets it too, and project hooks start in the workspace
SKELETON: dict[str, Any] = {"version": 1}
ESCAPE_SLASHES = True  # Cursor cuts comments out with a pattern that does not know strings: "//" in a command breaks the file
SHELL = "login"


def places(machine: Machine) -> list[Place]:
    managed = machine.system(
        "/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json", "C:\\ProgramData\\Cursor\\hooks.json"
    )
    user = machine.home / ".cursor"
    return [
        Place("project", machine.project / ".cursor" / "hooks.json", "jsonc", machine.project),
        Place("user", user / "hooks.json", "jsonc", user),
        Place("enterprise", managed, "jsonc", managed.parent),
    ]


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    native = EVENTS[event]
    entry: dict[str, Any] = {"command": commands.powershell.removeprefix("& ") if windows else commands.posix}
    matcher = wish.matcher(event)
    if matcher and event in TOOL_EVENTS:
        entry["matcher"] = anchored(native_tools(matcher, wire.TOOLS, "MCP:.*"))
    entry["timeout"] = wish.host_timeout
    if wish.fail_closed and wire.EVENTS[native].gates:  # elsewhere a failure would end the whole session
        entry["failClosed"] = True
    if native in ("stop", "subagentStop"):
        entry["loop_limit"] = wish.stop_limit
    return ("hooks", native), entry


def found(data: Any) -> Iterator[Found]:
    hooks = data.get("hooks") if isinstance(data, dict) else None
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get("command"), str):
                yield Found(event, ("hooks", event, index), entry["command"], entry)


def problems(data: Any) -> list[str]:
    """One fault makes Cursor drop the whole file, without a word to the model."""
    if not isinstance(data, dict):
        return ["the file is not a JSON object; Cursor drops it whole"]
    version, hooks = data.get("version"), data.get("hooks", {})
    wrong: list[str] = []
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        wrong.append('"version" must be a whole number, 1 or more; Cursor drops the whole file')
    if not isinstance(hooks, dict):
        return [*wrong, '"hooks" is not an object; Cursor drops the whole file']
    for event, entries in hooks.items():
        if event not in wire.EVENTS:
            wrong.append(f"hooks.{event}: Cursor has no such event, and drops the whole file for it")
            continue
        for index, entry in enumerate(entries if isinstance(entries, list) else [None]):
            fault = _entry_fault(entry)
            if fault:
                wrong.append(f"hooks.{event}[{index}]: {fault}; Cursor drops the whole file")
    return wrong


def _entry_fault(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "an entry must be an object"
    if entry.get("type", "command") == "command" and not isinstance(entry.get("command"), str):
        return 'a text "command" is needed'
    timeout, limit = entry.get("timeout", 1), entry.get("loop_limit")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0:
        return '"timeout" must be a number above 0 (seconds)'
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        return '"loop_limit" must be a whole number above 0, or null'
    if not isinstance(entry.get("failClosed", False), bool):
        return '"failClosed" must be true or false'
    try:
        re.compile(entry.get("matcher", ""))
    except (re.error, TypeError):
        return '"matcher" is not a regular expression'
    return ""


def checks(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Finding]:
    findings: list[Finding] = []
    if place.scope == "project" and (place.path.is_symlink() or place.path.parent.is_symlink()):
        findings.append(Finding("fail", f"{place.path} is a symlink: Cursor refuses it in a project", "put a real file there"))
    try:
        text = place.path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return findings
    if text.startswith("\ufeff"):
        findings.append(Finding("fail", f"{place.path} begins with a byte order mark: Cursor drops the file", "save it without BOM"))
    for line in re.findall(r'"(?:[^"\\\n]|\\.)*"', text):
        if "//" in line or "/*" in line:
            fix = r"write the slashes as \/ in that text"
            findings.append(Finding("fail", f"{line[:60]} holds // or /*: Cursor takes it for a comment and drops the file", fix))
    return findings
