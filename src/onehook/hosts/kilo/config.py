"""Kilo: where our plugin goes (7.8.1). The plugin is OpenCode's."""

from __future__ import annotations

from onehook.hostkit.config import Traits
from onehook.hosts.kilo import wire
from onehook.hosts.opencode.config import EVENTS, LISTED, PROJECT, Plugin, found, held, problems, slot, switches, text_problems

__all__ = [
    "BINARIES", "EVENTS", "FOLDERS", "HOST_IDS", "PROJECT", "TITLE", "TRAITS", "diagnose", "found", "places", "problems", "slot",
    "text_problems",
]  # fmt: skip

TITLE = "Kilo"
BINARIES = ("kilo", "kilocode")
FOLDERS = (".kilo", ".kilocode", ".config/kilo")
HOST_IDS = ("kilo",)
_PLUGIN = Plugin(wire.ID)
places, diagnose = _PLUGIN.places, _PLUGIN.diagnose
TRAITS = Traits(
    captured=("7.7.9",),
    longest_timeout=86400,  # of our plugin's own; Kilo runs plugins as OpenCode does
    shell_variables=("KILO", "KILO_PID"),
    own_content=_PLUGIN.content,
    guard="",
    held=held(wire.ID),
    listed=LISTED,
    also_listed=("MCP",),
    switches=switches(("kilo", "opencode"), (".kilo", ".kilocode"), "KILO"),
)
