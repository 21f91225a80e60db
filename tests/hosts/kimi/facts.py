"""Kimi Code, as the shared tests need to know it. See default_facts.py."""

from __future__ import annotations

from onehook.core import Change, Event, Output, Response
from onehook.hosts.kimi import wire

RESULT = ""
FAILURES = True
NOT_BUILT = frozenset({"session_title"})
FIELD_LOSSES = {
    ("Stop", "last_assistant_message"): "Kimi Code does not say it",
    ("SubagentStop", "stop_hook_active"): "Kimi Code does not say it",
    ("StopFailure", "last_assistant_message"): "Kimi Code does not say it",
}
ANSWER_LOSSES = [
    ({"prompt"}, lambda a: a.decision == "deny" and a.additional_context is not None, lambda a: {"additional_context": None},
     "of a blocked prompt nothing reaches the model"),
]  # fmt: skip
PERMISSIONS = [
    ("user", ".kimi-code/config.toml",
     '[[permission.rules]]\ndecision = "deny"\npattern = "Bash(rm -rf*)"\n\n[[permission.rules]]\ndecision = "ask"\npattern = "Write"\n\n'
     '[[permission.rules]]\ndecision = "allow"\npattern = "mcp__notes__note"\n\n'
     '[[permission.rules]]\ndecision = "deny"\npattern = "TodoList"\n',
     [("deny", "Bash(rm -rf*)"), ("ask", "Write"), ("allow", "mcp__notes__note")],
     ["TodoList: it is about a tool that other agents do not have"]),
]  # fmt: skip


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # no tool deletes


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    return [Change(c.path, "edit", "", "") if c.kind == "delete" else c for c in changes]


def as_received(event: Event, output: Output, answer: Response) -> Response:
    if output.exit_code == 2 and wire.EVENTS[event.native_event].shape != "nothing":
        assert output.stderr.endswith(answer.reason or "")
        answer.reason = output.stderr.strip()  # the reason is all of stderr, with the warnings
    return answer
