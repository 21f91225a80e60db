"""Facts about OpenHands CLI for the shared tests. See default_facts.py."""

from __future__ import annotations

from onehook.core import Event, Mcp

SAID = "OpenHands does not say it"
FIELD_LOSSES = {
    ("Stop", "last_assistant_message"): SAID,
    ("Stop", "stop_hook_active"): SAID,
    **{(name, "transcript_path"): SAID for name in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart", "SessionEnd")},
    ("SessionStart", "source"): SAID,
}
INSTEAD = {"subagent": ("PostToolUse", "Agent", {"prompt": "look around"})}
MCP_BY_NAME = False  # such a tool has only its own name
RESULT = "content"
TOKENS = 0
LISTED = "build  old.txt"  # in a terminal
READ = "Here's the result of running `cat -n` on /home/dev/project/old.txt:\n     1\tone\n     2\ttwo\n     3"
OTHER_SETTINGS = False
ANSWER_LOSSES = [
    ({"stop"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "both are one text"),
]  # fmt: skip


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # only a patch deletes


def mcp_as_told(name: str, mcp: Mcp | None) -> Mcp | None:
    return mcp and Mcp("", mcp.tool)
