"""Cline's hooks (CLI 3.0.65), which are files named after an event: the events and tools."""

from __future__ import annotations

from onehook.hostkit.effects import HONOURED, SILENT, Caps, Row
from onehook.hostkit.tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.core import Event

ID = "cline"
EVENTS = {
    "PreToolUse": Row("PreToolUse", "tool", gates=True),
    "PostToolUse": Row("PostToolUse", "tool"),
    "UserPromptSubmit": Row("UserPromptSubmit", "tool", gates=True),
    "TaskStart": Row("SessionStart", "tool"),
    "TaskResume": Row("SessionStart", "tool"),
    "TaskComplete": Row("Stop", "nothing"),
    "TaskError": Row("StopFailure", "nothing"),
    "TaskCancel": Row("Interrupt", "nothing"),
    "SessionShutdown": Row("SessionEnd", "nothing"),
    "PreCompact": Row("PreCompact", "nothing"),
}
TOOLS = {
    "run_commands": Tool("Bash"),
    "read_files": Tool("Read"),
    "editor": Tool("Edit|Write", file_path="path", old_string="old_text", new_string="new_text", content="new_text"),
    "search_codebase": Tool("Grep"),
    "fetch_web_content": Tool("WebFetch"),
}
CAPS = {
    "tool": Caps({"allow": HONOURED, "deny": HONOURED, "reason": HONOURED, "modified_input": HONOURED, "additional_context": HONOURED}),
    "nothing": SILENT,
}


def caps(event: Event) -> Caps:
    return CAPS[EVENTS[event.native_event].shape]
