"""The permission lists of Qwen Code (0.24.4): permissions.deny, ask and allow, and the older tools.exclude and tools.allowed.

Tools have several names (its permission aliases); paths without a prefix start from the current folder, and a domain covers its
subdomains.
"""

from __future__ import annotations

from collections.abc import Iterator

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed, Translated
from onehook.hosts.qwen import config
from onehook.hosts.qwen.wire import TOOLS
from onehook.jsonc import read_jsonc

_ALIASES = {
    "Shell": "Bash", "ReadFile": "Read", "EditFile": "Edit", "NotebookEdit": "Edit", "WriteFile": "Write", "SearchFiles": "Grep",
    "FindFiles": "Glob", "ListFiles": "List", "ReadFolder": "List", "Task": "Agent", "task": "Agent", "search_file_content": "Grep",
}  # fmt: skip


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    for place in config.places(machine):
        if place.scope != scope or not place.path.is_file():
            continue
        data = read_jsonc(place.path)
        yield from kit.three_lists(data.get("permissions"), place.path, _entry)
        older = kit.table(data.get("tools"))
        for level, key in (("deny", "exclude"), ("allow", "allowed")):
            yield from kit.one_list(level, older.get(key), place.path, _entry)
        for text in kit.strings(older.get("core")):
            yield Listed("allow", text, place.path, refused="tools.core switches every other tool off, which permissions do not")


def _entry(text: str) -> Translated:
    name, specifier = kit.split(text)
    if name.startswith("mcp__"):
        return text.strip(), ""
    plain = name.removesuffix("Tool")
    tool = _ALIASES.get(plain) or kit.unified(plain, TOOLS)
    if not tool:
        return "", kit.NO_TOOL
    if not specifier:
        return tool, ""
    if tool == "WebFetch":
        return f"WebFetch(domain:*{specifier.removeprefix('domain:').removeprefix('*')})", ""
    if tool != "Bash" and not specifier.startswith(("/", "~/", "./", "**")):
        specifier = f"./{specifier}"
    return f"{tool}({specifier})", ""
