"""Kilo the other way round: OpenCode's plugin under another name."""

from __future__ import annotations

from onehook.hosts import reversing
from onehook.hosts.kilo.wire import ID
from onehook.hosts.opencode import reverse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event, Response


def parts(event: Event) -> list[Event]:
    return reversing.parts(event, ID)


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    return reverse.payload(event, native_event, ID)


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    return reverse.answer(event, stdout, stderr, exit_code, native_event, ID)
