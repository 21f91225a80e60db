"""For policy authors: what a policy does on every agent, without running one. See docs/testing.md.

pytest loads onehook.testing.plugin wherever onehook is installed, so nothing is imported here until it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Hooks, Response
    from onehook.testing.fire import Fire as Fire
    from onehook.testing.fired import Fired as Fired
    from onehook.testing.shots import Shot as Shot

__all__ = ["Fire", "Fired", "Shot", "simulate"]
_HOMES = {"Fire": "fire", "Fired": "fired", "Shot": "shots"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(f"onehook.testing.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'onehook.testing' has no attribute {name!r}")


def simulate(hooks: Hooks, event: str, tool: str = "", **fields: Any) -> Response:
    """The merged answer of a policy's handlers to a made-up event, before it is translated for an agent.

    simulate(hooks, "PreToolUse", "Bash", command="rm -rf /").decision == "deny"
    """
    from onehook.hostkit.reverse import sample

    return hooks.dispatch(sample(event, tool, **fields))
