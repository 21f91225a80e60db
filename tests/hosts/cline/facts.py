"""Facts about Cline for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Event

SAYS_ALLOW = frozenset({"tool", "prompt", "result", "context"})
ANSWER_LOSSES = [
    ({"prompt", "result", "context"}, lambda a: a.decision == "allow", lambda a: {"decision": None}, "to say nothing is to go on"),
    ({"result"}, lambda a: a.modified_output is not None, lambda a: {"modified_output": None}, "a word of our own plugin's"),
]
# Keys that only our plugin adds to those of a hook file, and keys that it leaves out.
NOT_BUILT = frozenset({"cline", "hook_event_name", "session_id", "cwd", "transcript_path", "turn"})
NOT_ALWAYS_SENT = frozenset({"userId", "workspaceInfo", "preToolUse", "postToolUse", "iteration", "taskComplete", "taskStart", "turn"})
SAID = "a hook file of Cline's is not told"
FIELD_LOSSES = {
    ("TaskComplete", "stop_hook_active"): "a stop cannot be denied",
    **{
        (name, "transcript_path"): SAID
        for name in (
            "PreToolUse", "PostToolUse", "UserPromptSubmit", "TaskStart", "TaskResume", "TaskComplete", "TaskError", "TaskCancel",
            "SessionShutdown", "PreCompact",
        )
    },
    ("TaskStart", "source"): "the event says it",
    ("TaskResume", "source"): "the event says it",
}  # fmt: skip
INSTEAD = {"subagent": ("PostToolUse", "Agent", {"prompt": "look around"})}
UNTOLD = frozenset({"compacted"})
RESULT = None
TOKENS = 0
READ = "1 | one\n2 | two"
HOOK_FILES = ".clinerules/hooks"
OTHER_SETTINGS = False
# (rewrite is omitted: the input is not at the top of a payload, where the shared test looks. tests/guests has a rewrite for Cline.)


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # only a patch deletes


def rewritten_command(rewrite: dict[str, Any]) -> str | None:
    return "\n".join(rewrite["commands"]) if "commands" in rewrite else rewrite.get("command")
