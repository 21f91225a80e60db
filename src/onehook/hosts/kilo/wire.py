"""Kilo (7.8.1), a fork of OpenCode: the same plugin in its own folder, and so the same wire."""

from __future__ import annotations

from onehook.hosts.opencode.wire import (
    BORROWED_BY,
    CAPS,
    ERROR_EXIT,
    EVENTS,
    OTHERS,
    STAND_INS,
    TOOLS,
    UNREADABLE,
    caps,
    parse,
    render,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "BORROWED_BY", "CAPS", "ERROR_EXIT", "EVENTS", "ID", "OTHERS", "STAND_INS", "TOOLS", "UNREADABLE", "caps", "parse", "render", "score",
]  # fmt: skip

ID = "kilo"


def score(payload: dict[str, Any]) -> int:
    return 10 if payload.get(ID) == 1 and isinstance(payload.get("hook_event_name"), str) else 0
