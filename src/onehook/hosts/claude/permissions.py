"""The permission lists of Claude Code (2.1.325): permissions.deny, ask and allow of its settings. [permissions] has the same syntax."""

from __future__ import annotations

from collections.abc import Iterator

from onehook.hostkit import permissions as kit
from onehook.hostkit.config import Machine
from onehook.hostkit.permissions import Listed, Translated
from onehook.hosts.claude import config
from onehook.hosts.claude.wire import TOOLS
from onehook.jsonc import read_jsonc

_FILES = ("Read", "Edit", "Write", "Grep", "Glob", "List")


def listed(machine: Machine, scope: str) -> Iterator[Listed]:
    for place in config.places(machine):
        if place.scope == scope and place.path.is_file():
            translate = _of_user if scope == "user" else _entry
            yield from kit.three_lists(read_jsonc(place.path).get("permissions"), place.path, translate)


def _entry(text: str) -> Translated:
    name, specifier = kit.split(text)
    if name.startswith("mcp__"):
        return text.strip(), ""
    tool = kit.unified(name, TOOLS)
    if not tool:
        return "", kit.NO_TOOL
    return f"{tool}({specifier})" if specifier else tool, ""


def _of_user(text: str) -> Translated:
    name, specifier = kit.split(text)
    if name in _FILES and specifier.startswith("/") and not specifier.startswith("//"):
        return "", "its path starts from the folder of the settings"
    return _entry(text)
