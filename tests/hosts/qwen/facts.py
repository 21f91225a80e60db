"""Qwen Code, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

FAILURES = True
START_WORDS = {"startup": "startup", "resume": "resume", "fork": "branch"}
RESULT = "llmContent"
SAYS_ALLOW = frozenset({"request"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ({"feedback", "failure"}, lambda a: a.decision == "deny",
     lambda a: {"decision": None, "reason": None, "additional_context": "\n\n".join(filter(None, [a.reason, a.additional_context]))},
     "after the tool a block has no effect; the reason is told as context"),
]  # fmt: skip
