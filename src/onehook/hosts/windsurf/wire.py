"""Windsurf's hooks (Cascade, up to 3.9.18 and in JetBrains IDEs), as its documentation has them: the events."""

from __future__ import annotations

from onehook.hostkit.effects import HONOURED, SILENT, Caps, Row

ID = "windsurf"
EVENTS = {
    "pre_run_command": Row("PreToolUse", "block", gates=True, tool="Bash"),
    "pre_read_code": Row("PreToolUse", "block", gates=True, tool="Read"),
    "pre_write_code": Row("PreToolUse", "block", gates=True, tool="Edit"),
    "pre_mcp_tool_use": Row("PreToolUse", "block", gates=True, tool="MCP"),
    "pre_user_prompt": Row("UserPromptSubmit", "block", gates=True),
    "post_run_command": Row("PostToolUse", "nothing", tool="Bash"),
    "post_read_code": Row("PostToolUse", "nothing", tool="Read"),
    "post_write_code": Row("PostToolUse", "nothing", tool="Edit"),
    "post_mcp_tool_use": Row("PostToolUse", "nothing", tool="MCP"),
    "post_cascade_response": Row("Stop", "nothing"),
}
CAPS = {"block": Caps({"allow": HONOURED, "deny": HONOURED, "reason": HONOURED}), "nothing": SILENT}
caps = Caps.by_shape(EVENTS, CAPS)
