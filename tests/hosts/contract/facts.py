"""Facts about the open contract for the shared tests. See default_facts.py."""

from __future__ import annotations

_CALL = "a tool call of the contract is a name and an input"
FIELD_LOSSES = {
    **{(name, field): _CALL for name in ("preToolUse", "postToolUse") for field in ("session_id", "cwd")},
    **{(name, "prompt"): "the tool's own prompt is read as the event's" for name in ("preToolUse", "postToolUse")},
}
EVENTS_ARE_TOOLS = True
RESULT = None
INSTEAD = {"compacted": ("PreCompact", "", {}), "subagent": ("PostToolUse", "Agent", {"prompt": "look around"})}
A_WRITE = ('["PreToolUse"]', {"tool_name": "Write", "tool_input": {"path": "/p/a", "contents": "x"}})
HOOK_LIMITS = {
    "it reads the result": "a tool call of the contract has no result",
    "a log as CSV": _CALL,
    "a guard of one kind of agent": _CALL,
}
SAYS_ALLOW = None
ANSWER_LOSSES = [
    ({"tool"}, lambda a: a.decision is None, lambda a: {"decision": "allow"}, "no opinion is written as allow"),
    ({"lifecycle"}, lambda a: a.decision == "allow", lambda a: {"decision": None}, "a decision is left out there"),
]
