"""Kilo: where our plugin goes (7.8.1). The plugin is OpenCode's."""

from __future__ import annotations

from typing import Any

from onehook.hostkit.config import Traits
from onehook.hostkit.plugin import LISTED, PROJECT, foreign, found
from onehook.hosts.kilo import wire
from onehook.hosts.opencode.config import Agent, held, plugin_of, slot, switches, text_problems

__all__ = [
    "BINARIES", "EVENTS", "FOLDERS", "HOST_IDS", "PROJECT", "TITLE", "TRAITS", "diagnose", "found", "places", "problems", "slot",
    "text_problems",
]  # fmt: skip

TITLE = "Kilo"
BINARIES = ("kilo", "kilocode")
FOLDERS = (".kilo", ".kilocode", ".config/kilo")
HOST_IDS = ("kilo",)
PLUGIN = plugin_of(wire)
EVENTS = PLUGIN.events
_AGENT = Agent(PLUGIN)
places, diagnose = _AGENT.places, _AGENT.diagnose
TRAITS = Traits(
    captured=("7.7.9",),
    longest_timeout=86400,  # of our plugin's own; seen with 7.7.9: a hook of eleven minutes is waited for, and its denial obeyed
    shell_variables=("KILO", "KILO_PID"),
    own_content=PLUGIN.content,
    guard="",
    held=held(wire.ID),
    listed=LISTED,
    also_listed=("MCP",),
    switches=switches(("kilo", "opencode"), (".kilo", ".kilocode"), "KILO"),
)


def problems(data: Any) -> list[str]:
    return foreign(data, TITLE)
