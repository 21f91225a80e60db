"""Kilo in reverse: the same plugin as OpenCode's, under its own name."""

from __future__ import annotations

from onehook.hostkit import reverse
from onehook.hosts.kilo.wire import ID
from onehook.hosts.opencode.reverse import ANSWERS, answer_of, payload_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event, Response

__all__ = ["ANSWERS", "ENV_FILE", "LABEL", "answer", "losses", "parts", "payload", "variables"]
LABEL = "Kilo"
ENV_FILE = ""
losses = reverse.no_losses
variables = reverse.no_variables


def parts(event: Event) -> list[Event]:
    return reverse.parts(event, ID)


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    return payload_of(ID, LABEL, event, native_event)


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    return answer_of(ID, LABEL, event, stdout, stderr, exit_code, native_event)
