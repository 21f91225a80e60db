"""Kilo (7.8.1), a fork of OpenCode: the same plugin in its own folder, and so the same wire."""

from __future__ import annotations

from onehook.hostkit.effects import CERTAIN, Mark
from onehook.hostkit.tools import Tool
from onehook.hosts.opencode.wire import (
    CAPS,
    ERROR_EXIT,
    EVENTS,
    OTHERS,
    READS_CONFIG_OF,
    RESULTS,
    SKILLS,
    STAND_INS,
    UNREADABLE,
    caps,
    parse_as,
    render,
)
from onehook.hosts.opencode.wire import TOOLS as _SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event

__all__ = [
    "BUILT_ON", "CAPS", "ERROR_EXIT", "EVENTS", "ID", "MARKS", "OTHERS", "READS_CONFIG_OF", "RESULTS", "SENDS", "SKILLS", "STAND_INS",
    "TOOLS", "UNREADABLE", "VARIABLES", "caps", "parse", "render",
]  # fmt: skip

ID = "kilo"
BUILT_ON = "opencode"
VARIABLES = ("KILO", "KILO_PID")
MARKS = (Mark(CERTAIN, {ID: (1,), "hook_event_name": str}),)
SENDS = (ID,)
# The command is there when a process is started, not when one is looked after.
TOOLS = {**_SHARED, "background_process": Tool("Bash", unless="action=list|status|logs|stop|restart")}


def parse(payload: dict[str, Any], event_name: str) -> Event:
    return parse_as(ID, payload, event_name, TOOLS)
