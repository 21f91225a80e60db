"""Cursor's prompt hooks: what the verdict of a model means there (@cursor/sdk 1.0.32)."""

from __future__ import annotations

from onehook.core import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# On any other event a verdict has no effect.
JUDGED = (
    "preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "subagentStart", "beforeSubmitPrompt", "sessionStart",
)  # fmt: skip


def verdict(event: Event, said: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """The answer that a command would give for the same verdict."""
    if said["ok"]:
        return {}
    message = {"user_message": said["reason"] or "Prompt hook blocked this action"}
    return {"continue": False, **message} if event.event in ("UserPromptSubmit", "SessionStart") else {"permission": "deny", **message}
