"""OpenCode, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Event

FIELD_LOSSES = {
    ("session.idle.child", "stop_hook_active"): "a subagent's end cannot be denied",
    ("session.created.child", "source"): "the plugin says how every session began",
}
INSTEAD = {"compacted": ("PreCompact", "", {})}
SAYS_ALLOW = frozenset({"tool", "request"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "deny", lambda a: {"reason": "denied by policy"},
     "an answer to a permission request carries no text"),
]  # fmt: skip


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # only a patch deletes


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"decision": "allow", "args": updated}
