"""What a tool call is about (command, paths, changes, url, mcp), read from any host's input through the host's table of tools.

A host's TOOLS maps its tool name to a Tool: the unified names (the first is event.tool, the others match handlers too) and how the
host spells the unified input keys. A tool that is in no table is read by the shape of its input (shapes.py).
"""

from __future__ import annotations

import sys

from onehook.codec import loads
from onehook.core import Change, Event, Facts, Mcp, PayloadError, PowerShell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from onehook.hostkit.effects import Row


# The key that shows what a call is about. A call without it cannot be judged. (Without one, Grep, Glob and List search the whole project.)
MAIN = {"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path", "Delete": "file_path", "WebFetch": "url"}
GATED = ("PreToolUse", "PermissionRequest")  # the events on which a tool call can still be denied


class Tool:
    """How to read the calls of one tool.

    `patch` is the input key that holds a whole patch. `keys`: unified key -> the host's key, where they differ. `unless`: the main key
    may be missing if this key is in the input ("key"), or if it has one of these values ("key=a|b"). `shell`: "powershell" if PowerShell
    runs its commands, or "system" if it does so on Windows.
    """

    __slots__ = ("keys", "names", "patch", "shell", "unless")

    def __init__(self, names: str, patch: str = "", unless: str = "", shell: str = "", **keys: str) -> None:
        self.names = tuple(names.split("|"))
        self.patch = patch
        self.unless = unless
        self.shell = shell
        self.keys = keys

    def key(self, unified: str) -> str:
        return self.keys.get(unified, unified)

    @property
    def main(self) -> str:
        """The input key without which a call cannot be judged; "" if there is none."""
        unified = MAIN.get(self.names[0])
        return self.patch or (self.key(unified) if unified else "")

    def may_lack_main(self, tool_input: Mapping[str, Any]) -> bool:
        key, _, values = self.unless.partition("=")
        return bool(key) and key in tool_input and (not values or tool_input[key] in values.split("|"))


EDIT = Tool("Edit")


def decoded(value: object) -> Any:
    """A value, decoded if it is an object that an agent sent as a JSON string."""
    if not isinstance(value, str):
        return value
    try:
        return loads(value)
    except PayloadError:
        return value


def tool_text(event: Event, key: str) -> str:
    """A string of the tool's input. A wrong type is an error: a guard that saw "" instead would let the call pass."""
    value = event.tool_input.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise PayloadError(f"{event.native_tool}: tool_input.{key} is not a string")
    return value


def _texts(event: Event, key: str) -> list[str]:
    """A string of the tool's input, or several where the host takes a list."""
    value = event.tool_input.get(key)
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return value
    text = tool_text(event, key)
    return [text] if text else []


_ODD_PARTS = frozenset(("", ".", ".."))


def absolute(path: str, cwd: str) -> str:
    """A path as seen from cwd, without . and .. parts."""
    if sys.platform != "win32" and path:
        whole = path if path.startswith("/") or not cwd else f"{cwd.rstrip('/')}/{path}"
        if _ODD_PARTS.isdisjoint(whole.removeprefix("/").split("/")):
            return whole  # most paths; importing os.path costs an event a millisecond
    from os.path import isabs, join, normpath

    return normpath(path if isabs(path) or not cwd else join(cwd, path))


def fold(event: Event, tool: Tool) -> Facts:
    """The facts of a call of a known tool."""
    if tool.patch:
        from onehook.hostkit.patch import changes_of_patch

        return _of_changes(changes_of_patch(tool_text(event, tool.patch)), event.cwd)
    name = tool.names[0]
    if name == "Bash":
        return Facts(command=in_its_shell(tool, tool_text(event, tool.key("command"))))
    if name in ("Write", "Edit", "Delete"):
        return _of_changes(_file_changes(event, tool, name), event.cwd)
    if name in ("Read", "Grep", "Glob", "List"):
        paths = _texts(event, tool.key("file_path" if name == "Read" else "path"))
        return Facts(paths=[absolute(path, event.cwd) for path in paths])
    if name == "WebFetch":
        return Facts(url=tool_text(event, tool.key("url")))
    return Facts()


def in_its_shell(tool: Tool, command: str) -> str:
    runs_powershell = tool.shell == "powershell" or (tool.shell == "system" and sys.platform == "win32")
    return PowerShell(command) if runs_powershell else command


def _file_changes(event: Event, tool: Tool, name: str) -> list[Change]:
    path = tool_text(event, tool.key("file_path"))
    if not path:
        return []
    if name == "Write":
        return [Change(path, "write", None, tool_text(event, tool.key("content")))]
    if name == "Delete":
        return [Change(path, "delete")]
    changes = listed_edits(event.tool_input, path, tool)  # several edits of one file in one call
    old, new = tool_text(event, tool.key("old_string")), tool_text(event, tool.key("new_string"))
    # An empty or unreadable list of edits hides neither the file nor a single edit beside the list.
    return changes if changes and not (old or new) else [*changes, Change(path, "edit", old, new)]


def listed_edits(tool_input: Mapping[str, Any], path: str, tool: Tool = EDIT) -> list[Change]:
    """The edits of a list, each spelled like a single edit of this tool, or as most agents spell it."""
    edits = tool_input.get("edits")
    pairs = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []

    def said(pair: Mapping[str, Any], key: str) -> str:
        return str(pair.get(tool.key(key), pair.get(key, "")))

    return [Change(path, "edit", said(pair, "old_string"), said(pair, "new_string")) for pair in pairs]


def _of_changes(changes: list[Change], cwd: str) -> Facts:
    paths: list[str] = []
    for change in changes:
        change.path = absolute(change.path, cwd)
        change.to = absolute(change.to, cwd) if change.to else None
        for path in (change.path, change.to):
            if path and path not in paths:
                paths.append(path)
    return Facts(paths=paths, changes=changes)


def take_tool(
    event: Event,
    tools: Mapping[str, Tool],
    name: object,
    tool_input: object,
    facts: Callable[[Event], Facts] | None = None,
    read_as: Tool | None = None,
    spell: Callable[[Event, Mapping[str, Any]], dict[str, Any]] | None = None,
) -> None:
    """Set the tool of an event from a host's table. A tool that is not in the table keeps its own name in addition to the unified one
    that its input suggests.

    `facts` reads an unusual input, and `spell` does the opposite; `read_as` is the entry for this one call, if it differs from the
    table's.
    """
    if not isinstance(name, str) or not name:
        raise PayloadError(f"{event.native_event} without a tool name")
    if not isinstance(tool_input, dict):
        raise PayloadError(f"{event.native_event} {name}: the tool's input is not an object")
    mcp = mcp_of(name)
    if mcp is not None:
        take_mcp(event, name, tool_input, mcp)
        return
    tool = read_as or tools.get(name)
    event._tool = tools.get(name)
    if tool is not None and tool.main and tool_input.get(tool.main) is None:
        if not tool.may_lack_main(tool_input):
            _refuse_if_gated(event, name, tool)
        elif facts is None:
            tool = None  # this call is about something else
    if tool is None:
        from onehook.hostkit.shapes import shape_of

        tool, facts = shape_of(name, tool_input, Tool, fold)
        event._tool = tool
    known = tool
    read = facts or (lambda now: fold(now, known))
    event.take_tool(known.names, name, tool_input, read, spell or (lambda now, keys: native_keys(now, known, keys)))


def take_mcp(event: Event, name: str, tool_input: dict[str, Any], mcp: Mcp) -> None:
    """Set an MCP tool. The files that its input names become the event's files, whatever the tool is called."""

    def facts(now: Event) -> Facts:
        if not now.tool_input:
            return Facts(mcp=mcp)
        from onehook.hostkit.shapes import files_of_mcp

        changes, paths = files_of_mcp(mcp.tool, now.tool_input, lambda shape: fold(now, shape), Tool)
        found = _of_changes(changes, now.cwd)
        return Facts(paths=list(dict.fromkeys([*found.paths, *(absolute(path, now.cwd) for path in paths)])), changes=changes, mcp=mcp)

    event.take_tool(("MCP",), name, tool_input, facts)


def _refuse_if_gated(event: Event, name: str, tool: Tool) -> None:
    """Raise an error if the main key is missing: a guard that saw "" instead of the command or the path would let the call pass."""
    if event.event in GATED:
        raise PayloadError(f"{event.native_event} {name}: the tool's input has no {tool.main!r}")


def mcp_of(name: str) -> Mcp | None:
    """mcp__server__tool, the spelling that most hosts share."""
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name[len("mcp__") :].partition("__")
    return Mcp(server, tool)


def native_keys(event: Event, tool: Tool, modified_input: Mapping[str, Any]) -> dict[str, Any]:
    """modified_input in the host's own spelling; a key that is already the host's own stays."""
    return {key if key in event.tool_input else tool.key(key): value for key, value in modified_input.items()}


def begun(
    host: str, label: str, events: Mapping[str, Row], payload: dict[str, Any], event_name: str, sources: Mapping[str, str] | None = None
) -> tuple[Event, Row]:
    """The event that a payload names, with the fields that most hosts send under the same names, and the event's row."""
    name = payload.get("hook_event_name", event_name)
    row = events.get(name) if isinstance(name, str) else None
    if row is None:
        raise PayloadError(f"{label} has no event {name!r}")
    event = Event(row.event, host, payload)
    event.native_event = name
    take_common(event, payload, sources)
    return event, row


_COMMON = (
    "session_id", "cwd", "transcript_path", "model", "prompt", "source", "last_assistant_message", "error", "agent_id", "agent_type",
)  # fmt: skip


def take_common(event: Event, payload: Mapping[str, Any], sources: Mapping[str, str] | None = None) -> None:
    """The fields that most hosts send under the same names. `sources`: the host's own words for why a session starts."""
    for field in _COMMON:
        value = payload.get(field)
        if isinstance(value, str):
            setattr(event, field, value)
    if sources and event.event == "SessionStart":
        event.source = sources.get(event.source, event.source)
    event.stop_hook_active = payload.get("stop_hook_active") is True
