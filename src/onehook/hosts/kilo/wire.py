"""Kilo (7.8.1), a fork of OpenCode: the same plugin in its own folder, and so the same wire."""

from __future__ import annotations

from onehook.hostkit.effects import CERTAIN, Mark, Traits
from onehook.hostkit.tools import Tool
from onehook.hosts.opencode.wire import CAPS, EVENTS, RESULTS, SKILLS, STAND_INS, caps, parse_as, render
from onehook.hosts.opencode.wire import TOOLS as _SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event

__all__ = ["CAPS", "EVENTS", "ID", "MARKS", "RESULTS", "SENDS", "TOOLS", "TRAITS", "caps", "parse", "render"]

ID = "kilo"
TRAITS = Traits(built_on="opencode", skills=SKILLS, variables=("KILO", "KILO_PID"), stand_ins=STAND_INS)
MARKS = (Mark(CERTAIN, {ID: (1,), "hook_event_name": str}),)
SENDS = (ID,)
# A call has a command when it starts a process, not when it manages one.
TOOLS = {**_SHARED, "background_process": Tool("Bash", unless="action=list|status|logs|stop|restart")}


def parse(payload: dict[str, Any], event_name: str) -> Event:
    return parse_as(ID, payload, event_name, TOOLS)
