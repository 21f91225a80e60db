"""Factory Droid, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Event, Output, Response
from onehook.hosts.droid import wire

NOT_BUILT = frozenset({"CLAUDE_ENV_FILE"})  # a file that only the agent itself reads back
HOOKS_ARE_BARE = True
FIELD_LOSSES = {("Stop", "last_assistant_message"): "Droid does not say it"}
SAYS_ALLOW = frozenset({"permission"})
ANSWER_LOSSES = [
    ({"prompt"}, lambda a: a.decision == "deny" and a.additional_context is not None, lambda a: {"additional_context": None},
     "of a blocked prompt nothing reaches the model"),
]  # fmt: skip
TOKENS = 0
FAILED_UNTOLD = ("false",)
COMPACTED_WHEN_ASKED = ("session",)


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # only a patch deletes


def as_received(event: Event, output: Output, answer: Response) -> Response:
    if output.exit_code == 2 and wire.EVENTS[event.native_event].shape in ("prompt", "feedback", "compact"):
        assert output.stderr.endswith(answer.reason or "")
        answer.reason = output.stderr.strip()  # the reason is all of stderr there, with the warnings
    return answer


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": updated}}
