"""Kilo: where our plugin goes (7.8.1). The plugin is OpenCode's."""

from __future__ import annotations

from typing import Any

from onehook.hostkit.config import Traits
from onehook.hostkit.plugin import LISTED, PROJECT, foreign, found
from onehook.hosts.kilo import wire
from onehook.hosts.opencode.config import Agent, held, plugin_of, slot, switches, text_problems

__all__ = [
    "BINARIES", "EVENTS", "FOLDERS", "PROJECT", "TITLE", "TRAITS", "diagnose", "found", "places", "problems", "slot", "text_problems",
]  # fmt: skip

TITLE = "Kilo"
BINARIES = ("kilo", "kilocode")
FOLDERS = (".kilo", ".kilocode", ".config/kilo")
PLUGIN = plugin_of(wire)
EVENTS = PLUGIN.events
_AGENT = Agent(PLUGIN)
places, diagnose = _AGENT.places, _AGENT.diagnose
TRAITS = Traits(
    captured=("7.7.9",),
    longest_timeout=86400,  # our plugin's own limit; seen with 7.7.9: it waits for a hook that takes eleven minutes, and obeys its denial
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
