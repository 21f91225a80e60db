"""What a tool call is about (command, paths, changes, url, mcp), read from any host's input through the host's table of tools.

A host's TOOLS maps its tool name to a Tool: the unified names (the first is event.tool, the others match handlers too) and how the
host spells the unified input keys.
"""

from __future__ import annotations

import sys

from onehook.core import Change, Facts, Mcp, PayloadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from onehook.core import Event


class Tool:
    __slots__ = ("keys", "names", "patch")

    def __init__(self, names: str, patch: str = "", **keys: str) -> None:
        self.names = tuple(names.split("|"))
        self.patch = patch  # the input key that holds a whole patch
        self.keys = keys  # unified key -> the host's key, where they differ

    def key(self, unified: str) -> str:
        return self.keys.get(unified, unified)


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
    """A path as seen from cwd, without . and .. in it."""
    if sys.platform != "win32" and path:
        whole = path if path.startswith("/") or not cwd else f"{cwd.rstrip('/')}/{path}"
        if _ODD_PARTS.isdisjoint(whole.removeprefix("/").split("/")):
            return whole  # most paths; os.path costs an event a millisecond
    from os.path import isabs, join, normpath

    return normpath(path if isabs(path) or not cwd else join(cwd, path))


def fold(event: Event, tool: Tool) -> Facts:
    """The facts of a call of a known tool."""
    if tool.patch:
        from onehook.hostkit.patch import changes_of_patch

        return _of_changes(changes_of_patch(tool_text(event, tool.patch)), event.cwd)
    name = tool.names[0]
    if name == "Bash":
        return Facts(command=tool_text(event, tool.key("command")))
    if name in ("Write", "Edit", "Delete"):
        return _of_changes(_file_changes(event, tool, name), event.cwd)
    if name in ("Read", "Grep", "Glob", "List"):
        paths = _texts(event, tool.key("file_path" if name == "Read" else "path"))
        return Facts(paths=[absolute(path, event.cwd) for path in paths])
    if name == "WebFetch":
        return Facts(url=tool_text(event, tool.key("url")))
    # Of a tool that is not known here nothing can be demanded: an error would keep the policy from seeing the call at all.
    url = event.tool_input.get(tool.key("url"))
    return Facts(url=url if isinstance(url, str) else "")


def _file_changes(event: Event, tool: Tool, name: str) -> list[Change]:
    path = tool_text(event, tool.key("file_path"))
    if not path:
        return []
    if name == "Write":
        return [Change(path, "write", None, tool_text(event, tool.key("content")))]
    if name == "Delete":
        return [Change(path, "delete")]
    changes = listed_edits(event.tool_input, path)  # several edits of one file in one call
    old, new = tool_text(event, tool.key("old_string")), tool_text(event, tool.key("new_string"))
    # An empty or unreadable list of edits hides neither the file nor the one edit that is beside it.
    return changes if changes and not (old or new) else [*changes, Change(path, "edit", old, new)]


def listed_edits(tool_input: Mapping[str, Any], path: str) -> list[Change]:
    edits = tool_input.get("edits")
    pairs = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    return [Change(path, "edit", str(pair.get("old_string", "")), str(pair.get("new_string", ""))) for pair in pairs]


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
) -> None:
    """Set the tool of an event from a host's table. A tool that is not in the table keeps its own name.

    `facts` reads an unusual input; `read_as` is the entry to read this one call by, where it differs from the table's.
    """
    if not isinstance(name, str) or not name:
        raise PayloadError(f"{event.native_event} without a tool name")
    if not isinstance(tool_input, dict):
        raise PayloadError(f"{event.native_event} {name}: the tool's input is not an object")
    mcp = mcp_of(name)
    if mcp is not None:
        event.take_tool(("MCP",), name, tool_input, lambda _: Facts(mcp=mcp))
        return
    event._tool = tools.get(name)
    tool = read_as or event._tool or Tool(name)
    read = facts or (lambda current: fold(current, tool))
    event.take_tool(tool.names, name, tool_input, read, lambda current, keys: native_keys(current, tool, keys))


def mcp_of(name: str) -> Mcp | None:
    """mcp__server__tool, the spelling that most hosts share."""
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name[len("mcp__") :].partition("__")
    return Mcp(server, tool)


def native_keys(event: Event, tool: Tool, modified_input: Mapping[str, Any]) -> dict[str, Any]:
    """modified_input in the host's own spelling; a key that is the host's own already stays."""
    return {key if key in event.tool_input else tool.key(key): value for key, value in modified_input.items()}


def take_common(event: Event, payload: Mapping[str, Any], sources: Mapping[str, str] | None = None) -> None:
    """The fields that most hosts send under the same names. `sources`: the host's own words for why a session starts."""
    for field in ("session_id", "cwd", "transcript_path", "model", "prompt", "source", "last_assistant_message", "error", "agent_id"):
        value = payload.get(field)
        if isinstance(value, str):
            setattr(event, field, value)
    if sources and event.event == "SessionStart":
        event.source = sources.get(event.source, event.source)
    event.stop_hook_active = payload.get("stop_hook_active") is True
