"""Cursor: where hooks are configured and what an entry looks like (@cursor/sdk 1.0.32; the editor reads the same files)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import TOOL_EVENTS, Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.cursor import wire

TITLE = "Cursor"
BINARIES = ("cursor", "cursor-agent")
FOLDERS = (".cursor",)
# Only the generic events: Cursor fires them for every tool, and a handler on both kinds would run twice.
_GENERIC = (
    "sessionStart", "preToolUse", "postToolUse", "postToolUseFailure", "beforeSubmitPrompt", "stop", "sessionEnd", "subagentStart",
    "subagentStop", "preCompact", "afterAgentResponse", "afterAgentThought", "workspaceOpen",
)  # fmt: skip
EVENTS = {wire.EVENTS[native].event: native for native in _GENERIC}
# Cursor sets it too. Plain enough for every login shell: fish does not know ${...:-...}.
PROJECT = '"$CLAUDE_PROJECT_DIR"'
# Cursor removes comments with a pattern that ignores string boundaries, so "//" in a command breaks the file. The version is the SDK's.
TRAITS = Traits(
    captured=("1.0.32",),
    longest_timeout=3600,  # seen with 1.0.32: it waits seven minutes for a hook, and obeys its denial; it warns about a longer timeout
    shell_variables=("CURSOR_AGENT",),
    reloads=False,  # seen with 1.0.32: a running session keeps to the policy even if its hooks file is removed
    processes=("cursor-agent",),  # the editor's own terminal is used by a person
    agent_types=("SubagentStart", "SubagentStop"),
    skeleton={"version": 1},
    escape_slashes=True,
    shell=("$SHELL", "-lc"),
    guard=kit.GUARD_IN_ANY_SHELL,
    # The editor's settings decide whether it runs entries of other agents.
    switches=Switches(
        files=lambda machine: [
            machine.home / ".cursor" / "plugins",
            machine.system("/etc/cursor", "/Library/Application Support/Cursor", "C:\\ProgramData\\Cursor"),
            machine.home / ".config" / "Cursor" / "User" / "settings.json",
            machine.home / "Library" / "Application Support" / "Cursor" / "User" / "settings.json",
        ],
    ),
    unguarded={"WriteShellStdin": "Cursor reports how many characters are typed into a running command, but not which ones"},
)


def places(machine: Machine) -> list[Place]:
    managed = machine.system(
        "/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json", "C:\\ProgramData\\Cursor\\hooks.json"
    )
    user = machine.home / ".cursor"
    return [
        Place("project", machine.project / ".cursor" / "hooks.json", "jsonc", machine.project, committed=True),
        Place("user", user / "hooks.json", "jsonc", machine.scope_of(user)),
        Place("enterprise", managed, "jsonc", managed.parent),
    ]


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    native = EVENTS.get(event, event)  # specific events are installed for programs written for them
    entry: dict[str, Any] = {"command": commands.powershell if windows else commands.posix}
    matcher = wish.matcher(event)
    if matcher and event in TOOL_EVENTS:
        entry["matcher"] = kit.anchored(kit.native_tools(matcher, wire.TOOLS, "MCP:.*"))
    entry["timeout"] = wish.host_timeout
    if wish.fail_closed and wire.EVENTS[native].gates:  # elsewhere a failure would end the whole session
        entry["failClosed"] = True
    if native in ("stop", "subagentStop"):
        entry["loop_limit"] = wish.stop_limit
    return ("hooks", native), entry


def found(data: Any) -> Iterator[Found]:
    return kit.listed_entries(data, lambda entry: entry["command"] if isinstance(kit.table_at(entry).get("command"), str) else None)


def problems(data: Any) -> list[str]:
    """One fault makes Cursor drop the whole file, and the model is not told."""
    if not isinstance(data, dict):
        return ["the file is not a JSON object; Cursor drops the whole file"]
    version, hooks = data.get("version"), data.get("hooks", {})
    wrong: list[str] = []
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        wrong.append('"version" must be a whole number, 1 or more; Cursor drops the whole file')
    if not isinstance(hooks, dict):
        return [*wrong, '"hooks" is not an object; Cursor drops the whole file']
    for event, entries in hooks.items():
        if event not in wire.EVENTS:
            wrong.append(f"hooks.{event}: Cursor has no such event and drops the whole file")
            continue
        wrong += kit.entry_faults(event, entries, _entry_fault, "Cursor drops the whole file")
    return wrong


def _entry_fault(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "an entry must be an object"
    if entry.get("type", "command") == "command" and not isinstance(entry.get("command"), str):
        return 'a string "command" is needed'
    limit = entry.get("loop_limit")
    if not kit.above_zero(entry.get("timeout", 1)):
        return '"timeout" must be a number above 0 (seconds)'
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        return '"loop_limit" must be a whole number above 0, or null'
    if not isinstance(entry.get("failClosed", False), bool):
        return '"failClosed" must be true or false'
    return kit.matcher_fault(entry)


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    """Faults for which Cursor rejects the whole file before it looks at the data."""
    if place.scope == "project" and (place.path.is_symlink() or place.path.parent.is_symlink()):
        return ["it is a symlink, which Cursor refuses in a project: replace it with a regular file"]
    if text.startswith("\ufeff"):
        return kit.byte_order_mark(TITLE, text)
    cut = next((line for line in _texts(data) if "//" in line or "/*" in line), "")
    try:
        if json.loads(_without_comments(text), parse_constant=_no_constant) == data:
            return []
        why = "reads something other than what is written"
    except ValueError as error:
        why = f"drops the whole file ({error})"
    if cut:
        return [f"Cursor takes // or /* in {cut[:60]!r} for a comment and {why}: write the slash as \\/ there"]
    return [f"Cursor {why}: it allows comments, but no comma after the last element, for example"]


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    for inner in [*data, *data.values()] if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _texts(inner)


def _without_comments(text: str) -> str:
    """The text as Cursor strips it: with two patterns that ignore string boundaries."""
    return re.sub(r"(?s)/\*.*?\*/", "", re.sub("//[^\n\r\u2028\u2029]*", "", text))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    """No file has a switch that turns hooks off in the SDK, the editor or cursor-agent. The SDK does not read the machine's file."""
    if place.scope != "enterprise" or not ours:
        return []
    return [
        Diagnosis("note", "Cursor's SDK (1.0.32) does not read this file; the editor was not tried", "install it with --scope user too")
    ]
