"""Gemini CLI, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from typing import Any

START_WORDS = {"startup": "startup", "resume": "resume"}
RESULT = "llmContent"
INSTEAD = {"compacted": ("PreCompact", "", {}), "subagent": ("PostToolUse", "Agent", {"prompt": "look around"})}
ANSWER_LOSSES = [
    ({"result"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "of a denied result there is one text"),
]  # fmt: skip


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": updated}}
