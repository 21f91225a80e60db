"""Claude Code's prompt and agent handlers: what the verdict of a model means there (2.1.325)."""

from __future__ import annotations

from onehook.core import STOPS, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The others have no conversation or (PermissionRequest) need more than yes or no as an answer.
JUDGED = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop",
    "TaskCreated", "TaskCompleted",
)  # fmt: skip


def verdict(event: Event, said: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """The answer that a command would give for the same verdict. A `prompt` that is not met ends the turn, unless it is about a stop."""
    stops = event.event in STOPS
    if said["ok"] or (stops and said["impossible"]):
        return {}
    reason = f"Agent hook condition was not met: {said['reason']}" if asked["agent"] else f"[{asked['prompt']}]: {said['reason']}"
    goes_on = stops or asked["agent"] or asked["continue_on_block"]
    halt = {} if goes_on else {"continue": False, "stopReason": said["reason"]}
    if event.event == "PreToolUse":
        denied = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
        return {**halt, "hookSpecificOutput": denied}
    return {**halt, "decision": "block", "reason": reason}
