"""What a call is about if its tool is in no table, determined by the shape of its input.

Other agents run the entries of a host with their own tool names, and agents get new tools. A handler for Bash is meant for every
call that has a command, whatever the tool is called. Loaded only for such a call.
"""

from __future__ import annotations

from onehook.core import TOOLS, Change, Facts, Mcp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from onehook.core import Event
    from onehook.hostkit.tools import Tool

# How agents spell the keys of the unified tools.
SPELLINGS = {
    "command": ("command", "cmd"),
    "file_path": ("file_path", "filePath", "path", "target_file", "absolute_path", "notebook_path", "filename"),
    "content": ("content", "contents", "file_text", "file_content"),
    "old_string": ("old_string", "oldString", "old_str"),
    "new_string": ("new_string", "newString", "new_str", "new_source"),
    "path": ("target_directory", "directory_path", "dir_path"),
    "url": ("url",),
}
_PATCH = "*** Begin Patch"
_DELETING = ("delete", "remove", "unlink")


def shape_of(
    name: str, tool_input: Mapping[str, Any], row: type[Tool], fold: Callable[[Event, Tool], Facts]
) -> tuple[Tool, Callable[[Event], Facts] | None]:
    """An entry for the tool, and what reads the facts of its calls. An input of several shapes is read as all of them.

    `row` and `fold` are those of tools.py, which loads this module and so cannot be imported here.
    """
    if name in TOOLS and (not (main := row(name).main) or main in tool_input):
        return row(name), None  # its name and keys are the unified ones
    called = tool_input.get("tool_name")
    if isinstance(called, str) and isinstance(tool_input.get("tool_input"), dict) and len(tool_input) == 2:
        server, _, tool = called.rpartition("__")
        return row("MCP"), lambda _: Facts(mcp=Mcp(server, tool))  # a call of an MCP tool, with its input inside a wrapper
    keys = {unified: key for unified, spelled in SPELLINGS.items() if (key := _held(tool_input, spelled))}
    words = tool_input.get("command")
    argv = words if isinstance(words, list) and words and all(isinstance(word, str) for word in words) else []
    patch = next((key for key, value in tool_input.items() if isinstance(value, str) and value.lstrip().startswith(_PATCH)), "")
    tools = ([row("Edit|Write", patch=patch)] if patch else []) + [row(unified, **keys) for unified in _unified(name, keys, tool_input)]
    every: list[str] = ["Bash"] if argv else []
    for each in tools:
        every += each.names
    names = list(dict.fromkeys(every))
    if not names:
        return row(name), None

    def facts(event: Event) -> Facts:
        found = [fold(event, tool) for tool in tools]
        command = "".join(each.command for each in found)
        if argv:
            given = event.tool_input["command"]  # a handler may have rewritten it as a string
            command = given if isinstance(given, str) else " ".join(map(_quoted, given))
        return Facts(
            command=command,
            paths=list(dict.fromkeys(path for each in found for path in each.paths)),
            changes=[change for each in found for change in each.changes],
            url="".join(each.url for each in found),
        )

    return row("|".join(names), patch, **keys), facts


def files_of_mcp(
    name: str, tool_input: Mapping[str, Any], fold: Callable[[Tool], Facts], row: type[Tool]
) -> tuple[list[Change], list[str]]:
    """The changes that a call of an MCP tool makes, by the shape of its input, and the files that it reads."""
    keys = {unified: key for unified, spelled in SPELLINGS.items() if (key := _held(tool_input, spelled))}
    moved = [tool_input.get(key) for key in ("source", "destination")]
    if all(isinstance(path, str) and path for path in moved):
        return [Change(str(moved[0]), "move", to=str(moved[1]))], []
    listed = tool_input.get("paths")
    paths = [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
    uri = tool_input.get("uri")
    paths += [uri[len("file://") :]] if isinstance(uri, str) and uri.startswith("file://") else []
    for unified in _unified(name, {key: value for key, value in keys.items() if key not in ("command", "url")}, tool_input):
        found = fold(row(unified, **keys))
        if found.changes:
            return found.changes, paths
        paths += found.paths
    return [], paths


def _held(tool_input: Mapping[str, Any], spelled: tuple[str, ...]) -> str:
    return next((key for key in spelled if isinstance(tool_input.get(key), str)), "")


def _unified(name: str, keys: Mapping[str, str], tool_input: Mapping[str, Any]) -> list[str]:
    """The unified tools that an input with these keys may belong to."""
    found = ["Bash"] if "command" in keys else []
    if "file_path" in keys:
        if "content" in keys:
            found.append("Write")
        elif "old_string" in keys or "new_string" in keys or isinstance(tool_input.get("edits"), list):
            found.append("Edit")
        else:
            found.append("Delete" if any(word in name.lower() for word in _DELETING) else "Read")
    elif "path" in keys:
        found.append("List")
    return [*found, "WebFetch"] if "url" in keys else found


def _quoted(word: str) -> str:
    """A word of an argument list, quoted for the shell."""
    plain = word and all(char.isalnum() or char in "_-./=:,@%+" for char in word)
    return word if plain else "'" + word.replace("'", "'\\''") + "'"
