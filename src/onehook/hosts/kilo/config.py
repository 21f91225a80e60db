"""Kilo: where our plugin goes (7.8.1). The plugin is OpenCode's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Traits, Wish
from onehook.hosts.opencode.config import (
    EVENTS,
    FILE,
    LISTED,
    PROJECT,
    filled,
    found,
    plugin_checks,
    problems,
    slot,
    switches,
    text_problems,
)

__all__ = [
    "BINARIES", "EVENTS", "FOLDERS", "HOST_IDS", "PROJECT", "TITLE", "TRAITS", "diagnose", "found", "own_content", "places", "problems",
    "slot", "text_problems",
]  # fmt: skip

TITLE = "Kilo"
BINARIES = ("kilo", "kilocode")
FOLDERS = (".kilo", ".kilocode", ".config/kilo")
HOST_IDS = ("kilo",)


def places(machine: Machine) -> list[Place]:
    user = machine.folder("XDG_CONFIG_HOME", ".config") / "kilo"
    return [
        Place("project", machine.project / ".kilo" / "plugins" / FILE, "own", machine.project, committed=True),
        Place("user", user / "plugins" / FILE, "own", user),
    ]


def own_content(place: Place, lines: Mapping[str, Commands], wish: Wish, machine: Machine) -> bytes:
    return filled("kilo", EVENTS, place, lines, wish, machine)


TRAITS = Traits(
    shell_variables=("KILO", "KILO_PID"),
    own_content=own_content,
    guard="",
    listed=LISTED,
    also_listed=("MCP",),
    switches=switches(("kilo", "opencode"), (".kilo", ".kilocode"), "KILO"),
)


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    return plugin_checks(machine, place, ours, "KILO")
