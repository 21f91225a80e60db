"""Codex, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Change, Event

# "permission": a bare allow is said by silence, an allow with a rewrite is said.
START_WORDS = {"startup": "startup", "resume": "resume", "fork": "fork"}
OTHER_SETTINGS = False
READ = None
SAYS_ALLOW = frozenset({"request", "permission"})
ANSWER_LOSSES = [
    ({"permission"}, lambda a: a.decision == "allow" and a.modified_input is None, lambda a: {"decision": None},
     "a bare allow is said by silence"),
    ({"permission"}, lambda a: a.decision is None and a.modified_input is not None, lambda a: {"decision": "allow"},
     "a rewrite is taken only with allow"),
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing leaves it to Codex"),
]  # fmt: skip
# In code mode Codex leaves no line for a command that it refused itself, as it does with rm -rf.
REFUSED_UNSEEN = {"21-41-13": ("rm -rf build",)}


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    return [
        Change(c.path, c.kind, None if c.kind == "write" else ended(c.old), ended(c.new)) if c.kind in ("write", "edit") else c
        for c in changes
    ]


def ended(text: str | None) -> str:
    """A patch is made of whole lines."""
    return text if text and text.endswith("\n") else f"{text}\n" if text else ""


def tool_as_told(name: str, event: Event) -> str:
    return "Edit" if event.changes else event.tool


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": updated}}
