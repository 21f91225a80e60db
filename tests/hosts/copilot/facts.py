"""Copilot CLI, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Change, Event, Mcp
from onehook.hosts.copilot import reverse

FIELD_LOSSES = {
    ("agentStop", "last_assistant_message"): "Copilot does not say it",
    ("Stop", "last_assistant_message"): "Copilot does not say it",
    ("errorOccurred", "last_assistant_message"): "Copilot does not say it",
    ("ErrorOccurred", "last_assistant_message"): "Copilot does not say it",
}
START_WORDS = {"startup": "new", "resume": "resume"}
OTHER_SETTINGS = False
RESULT = "textResultForLlm"
INSTEAD = {"compacted": ("PreCompact", "", {})}
SAYS_ALLOW = frozenset({"permission", "request"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ({"feedback", "continue"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "with a block there is one text"),
]  # fmt: skip


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    if name != "permissionRequest":
        return changes
    return [Change(c.path, "edit", "", reverse._diff(c)) for c in changes]  # every change is an edit, and its diff is the new text


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" and name != "permissionRequest" else "Edit"  # only a patch deletes


def mcp_as_told(name: str, mcp: Mcp | None) -> Mcp | None:
    if mcp is None or name == "permissionRequest":
        return mcp
    return Mcp.joined(mcp.tool if not mcp.server and "-" in mcp.tool else f"{mcp.server}-{mcp.tool}", "-")  # split if there is one way to


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"permissionDecision": "allow", "modifiedArgs": updated}


def config_entry(line: str, matched: bool) -> dict[str, Any]:
    return {"type": "command", "bash": line}
