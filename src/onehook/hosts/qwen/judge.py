"""Qwen Code's prompt hooks: what the verdict of a model means there (0.24.4)."""

from __future__ import annotations

from onehook.core import STOPS, Event
from onehook.hosts.qwen.wire import EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

JUDGED = tuple(EVENTS)


def verdict(event: Event, said: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """The answer that a command would give for the same verdict."""
    if said["ok"]:
        return {}
    reason = said["reason"] or "Blocked by prompt hook"
    halt = {} if event.event in STOPS else {"continue": False, "stopReason": reason}
    return {**halt, "decision": "block", "reason": reason}
