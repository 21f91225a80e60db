"""Which agent sent a payload. Loaded only for an event that comes without --host; what install writes names the agent."""

from __future__ import annotations

from onehook.core import NotSupported, PayloadError
from onehook.hostkit.effects import weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    from onehook.hostkit.effects import Recognised

    W = TypeVar("W", bound=Recognised)


# Agents that are known but not supported yet: their payloads have all of these keys. Seen in payloads of Auggie 0.36.0, Letta Code
# 0.32.18 and Reasonix 1.38.11.
NOT_YET = {
    "Auggie": ("conversation_id", "hook_event_name", "workspace_roots"),
    "Letta Code": ("agent_id", "event_type", "tool_call_id", "working_directory"),
    "Reasonix": ("cwd", "event", "sessionId"),
}


def heaviest(wires: Sequence[W], payload: dict[str, Any]) -> W:
    """The host whose marks weigh most. A payload that fits no host, or two equally well, is an error."""
    telling = frozenset(key for wire in wires for key in wire.SENDS if key in payload)
    first, second = sorted(((weight(wire, payload, telling), wire) for wire in wires), key=lambda row: -row[0])[:2]
    if first[0] == 0:
        known = ", ".join(wire.ID for wire in wires)
        for title, keys in NOT_YET.items():
            if all(key in payload for key in keys):
                raise NotSupported(f"{title} is not supported yet, and no handler was run; supported: {known}")
        raise PayloadError(f"cannot tell which agent sent this payload; name it with --host ID (known: {known})")
    if first[0] == second[0]:
        raise PayloadError(f"cannot tell whether {first[1].ID} or {second[1].ID} sent this payload; name it with --host ID")
    return first[1]
