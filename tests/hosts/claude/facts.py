"""Claude Code, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Response

FAILURES = True
TOKENS = 28
START_WORDS = {"startup": "startup", "resume": "resume", "fork": "fork"}
RESULT = "stdout"
NOT_BUILT = frozenset({"effort", "mcp_server", "prompt_id"})
NOT_ALWAYS_SENT = frozenset({"prompt_id"})
SAYS_ALLOW = frozenset({"permission", "request", "switch"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ({"context"}, lambda a: a.decision == "deny", lambda a: {"decision": None, "reason": None, "user_message": joined(a)},
     "cannot be stopped; the reason is shown to the user"),
]  # fmt: skip


def joined(answer: Response) -> str | None:
    return f"{answer.user_message}\n\n{answer.reason}" if answer.user_message else answer.reason


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": updated}}
