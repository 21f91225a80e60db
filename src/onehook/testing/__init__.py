"""The author's kit: what a policy does, without an agent."""

from __future__ import annotations

from typing import Any

from onehook.core import Hooks, Response
from onehook.hosts.reversing import sample


def simulate(hooks: Hooks, event: str, tool: str = "", **fields: Any) -> Response:
    """The merged answer of a policy's handlers to a made-up event; what a host makes of it is another matter.

    simulate(hooks, "PreToolUse", "Bash", command="rm -rf /").decision == "deny"
    """
    return hooks.dispatch(sample(event, tool, **fields))
