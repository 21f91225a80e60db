"""Facts about Grok Build for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Change, Event, Mcp

START_WORDS = {"startup": "new"}
OTHER_SETTINGS = False
RESULT = "output"
NOT_BUILT = frozenset({"errorDetails", "reasonDetails", "notificationType", "message", "level", "title"})
# Some events come from a subagent, or have some keys only then; the session's last Stop has fewer keys than the others.
NOT_ALWAYS_SENT = frozenset({"promptId", "lastAssistantMessage", "backgroundTasks", "sessionCrons"})
FIELD_LOSSES = {
    ("PreCompact", "source"): "Grok says there why it compacts",
    ("PostCompact", "source"): "Grok says there why it compacts",
}
ANSWER_LOSSES = [
    ({"permission"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "with a denial there is one text"),
]  # fmt: skip
TRUST_FILES = ('[folders."DIR"]\ntrusted = true\ndecided_at = 1794864311\n',)

_RULES = """[permission]
deny = ["Bash(rm -rf *)", "Read(src/**)", "MCPTool(db__*)", "Nonsense(x)"]
allow = ["Bash(git)", "mcp__notes__note"]
rules = [{ action = "ask", tool = "edit" }, { action = "deny", tool = "bash", pattern = "curl *" }, { action = "maybe", tool = "bash" }]
"""
PERMISSIONS = [
    ("project", ".grok/config.toml", _RULES,
     [("deny", "Bash(rm -rf *)"), ("deny", "Read(src/**)"), ("deny", "mcp__db"), ("deny", "Bash(curl *)"), ("ask", "Edit"),
      ("allow", "Bash(git:*)"), ("allow", "mcp__notes__note")], ["Nonsense(x): it is about a tool that other agents do not have"]),
    ("user", ".grok/config.toml", '[permission]\ndeny = ["MCPTool(*__drop)", "WebFetch"]\n', [("deny", "WebFetch")],
     ["it is about the MCP tools of several servers"]),
]  # fmt: skip


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # no tool deletes


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    return [Change(c.path, "edit", "", "") if c.kind == "delete" else c for c in changes]


def mcp_as_told(name: str, mcp: Mcp | None) -> Mcp | None:
    return None if mcp is None else Mcp.joined(mcp.tool if not mcp.server and "__" in mcp.tool else f"{mcp.server}__{mcp.tool}", "__")


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": updated}}
