"""Mistral Vibe, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from typing import Any

RESULT = "stdout"
BEGINS = ()  # no hook is told of them
TOKENS = 0
FIELD_LOSSES = {
    ("post_agent", "last_assistant_message"): "Vibe does not say it",
    ("post_agent", "stop_hook_active"): "Vibe does not say it",
}
ANSWER_LOSSES = [
    ({"permission"}, lambda a: a.decision == "deny" and a.user_message is not None, lambda a: {"user_message": None},
     "beside a denial Vibe shows no message"),
]  # fmt: skip
INSTEAD = {"subagent": ("Stop", "", {"agent_id": "a1"})}
OTHER_SETTINGS = False


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hook_specific_output": {"tool_input": updated}}


LONGEST_REASON = 62_500  # it reads 1 MB of an answer; see _shortened in its wire
