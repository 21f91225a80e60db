"""Kilo the other way round: the same plugin as OpenCode's, under its own name."""

from __future__ import annotations

from onehook.hosts import reversing
from onehook.hosts.kilo.wire import ID
from onehook.hosts.opencode.reverse import payload_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event

LABEL = "Kilo"


def parts(event: Event) -> list[Event]:
    return reversing.parts(event, ID)


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    return payload_of(ID, LABEL, event, native_event)
