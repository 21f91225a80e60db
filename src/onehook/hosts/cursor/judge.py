"""Cursor's prompt hooks: what the verdict of a model means there (@cursor/sdk 1.0.32)."""

from __future__ import annotations

from onehook.core import Event
from onehook.hostkit import reverse
from onehook.hosts.cursor.reverse import LABEL
from onehook.hosts.cursor.wire import EVENTS, ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTINUES = ("beforeSubmitPrompt", "sessionStart")
# On any other event a verdict has no effect.
JUDGED = (
    "preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "subagentStart", *_CONTINUES,
)  # fmt: skip


def verdict(event: Event, said: dict[str, Any], asked: dict[str, Any], native_event: str = "") -> dict[str, Any]:
    """The answer of a command that does the same."""
    if said["ok"]:
        return {}
    name = reverse.native_name(ID, LABEL, EVENTS, event, native_event)
    message = {"user_message": said["reason"] or "Prompt hook blocked this action"}
    return {"continue": False, **message} if name in _CONTINUES else {"permission": "deny", **message}
