"""The permission lists of Mistral Vibe (3.0.2) in config.toml: [tools.NAME] with permission, allowlist and denylist; disabled_tools.

A list is compared with the first words of a command (`p x` covers `p x y`, not `p xy`), separately for each part of a line. The lists of
a file tool are patterns for the whole path, in which * also matches slashes. The denylist comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine, read_toml
from onehook.hostkit.permissions import Listed, Translated
from onehook.hosts.vibe.wire import TOOLS

_LEVELS = {"always": "allow", "ask": "ask", "never": "deny"}
_LISTS = {"denylist": "deny", "allowlist": "allow"}


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    folders = {"project": machine.project / ".vibe", "user": machine.folder("VIBE_HOME", ".vibe")}
    if scope not in folders:
        return
    file = folders[scope] / "config.toml"
    data = read_toml(file)
    yield from kit.one_list("deny", data.get("disabled_tools"), file, _tool)
    for text in kit.strings(data.get("enabled_tools")):
        yield Listed("allow", text, file, refused="enabled_tools switches every other tool off, which permissions do not")
    for name, held in kit.table(data.get("tools")).items():
        for one in _of_tool(name, kit.table(held)):
            yield Listed(one[0], one[1], file, *one[2])


def _of_tool(name: str, held: dict[str, Any]) -> Iterator[tuple[str, str, Translated]]:
    level = _LEVELS.get(str(held.get("permission", "")))
    if level:
        yield level, f"{name}: {held['permission']}", _tool(name)
    for key, level in _LISTS.items():
        for text in kit.strings(held.get(key)):
            yield level, f"{name}: {text}", _entry(name, text)
    for text in kit.strings(held.get("denylist_standalone")):
        yield "deny", f"{name}: {text}", (f"Bash({text})", "") if name == "bash" else ("", kit.NO_TOOL)


def _tool(name: str) -> Translated:
    found = kit.unified(name, TOOLS)
    return (found, "") if found else ("", kit.NO_TOOL)


def _entry(name: str, text: str) -> Translated:
    tool, refused = _tool(name)
    if tool == "Bash":
        return kit.command(text)
    if tool not in ("Read", "Write", "Edit", "Grep"):
        return "", refused or "it is a list of a tool that has none"
    return _path(tool, text)


def _path(tool: str, pattern: str) -> Translated:
    """A path pattern, if its * means the same here as in Vibe."""
    plain = pattern.strip("*")
    if any(char in plain for char in "*?[]()"):
        return "", "its pattern means something else here"
    if pattern.startswith("*") and not pattern.endswith("*") and "/" not in plain:
        return f"{tool}(**/*{plain})", ""
    if pattern.startswith("/") and pattern.endswith("/*"):
        return f"{tool}({plain}**)", ""
    return (f"{tool}({pattern})", "") if pattern.startswith("/") and plain == pattern else ("", "its pattern means something else here")
