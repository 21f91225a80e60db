"""Qwen Code the other way round: the payload it would send for an event, and its reading of a hook's answer (0.24.4)."""

from __future__ import annotations

from onehook.core import Event
from onehook.hosts import reversing
from onehook.hosts.qwen.wire import EVENTS, ID, MODES, TOOLS
from onehook.hosts.tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Qwen Code"
TIME = "2026-01-01T00:00:00.000Z"  # of an event that is another host's
_NAMES = {
    "Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "edit", "Grep": "grep_search", "Glob": "glob",
    "List": "list_directory", "WebFetch": "web_fetch", "WebSearch": "web_search", "Agent": "agent",
}  # fmt: skip
_SPELLING = {
    **TOOLS,
    "run_shell_command": Tool("Bash", run_in_background="is_background"),
    "read_file": Tool("Read"),  # absolute_path was its key in older versions
}
_LACKS = {"Grep": ("output_mode",)}
_TODO = {"todo_id": "", "todo_content": "", "phase": "validation"}
FIELDS: dict[str, dict[str, Any]] = {
    "PostToolUse": {"duration_ms": 0},
    "PostToolUseFailure": {"error": "", "is_interrupt": False, "duration_ms": 0},
    "PermissionDenied": {"reason": "classifier_blocked"},
    "PostToolBatch": {"tool_calls": []},
    "UserPromptExpansion": {"command_name": "", "command_args": "", "prompt": ""},
    "Stop": {
        "stop_hook_active": False, "last_assistant_message": "", "background_tasks": [], "crons": [], "context_usage": 0.0,
        "context_limit": 0, "input_tokens": 0,
    },
    "StopFailure": {"error": "unknown", "last_assistant_message": ""},
    "SubagentStart": {"agent_id": "", "agent_type": ""},
    "SubagentStop": {
        "stop_hook_active": False, "agent_id": "", "agent_type": "", "agent_transcript_path": "", "last_assistant_message": "",
    },
    "SessionStart": {"source": "startup", "model": ""},
    "SessionEnd": {"reason": "other"},
    "SessionDelete": {"deleted_session_id": ""},
    "PreCompact": {"trigger": "auto", "custom_instructions": ""},
    "PostCompact": {"trigger": "auto", "compact_summary": ""},
    "TodoCreated": _TODO,
    "TodoCompleted": _TODO,
    "Notification": {"message": "", "notification_type": "idle_prompt", "title": ""},
    "MessageDisplay": {"message_id": "", "displayed_text": "", "is_final": True},
    "InstructionsLoaded": {"file_path": "", "memory_type": "project", "load_reason": "session_start"},
}  # fmt: skip
_OUTSIDE_TURN = ("SessionStart", "SessionEnd", "SessionDelete", "Notification", "InstructionsLoaded")


def parts(event: Event) -> list[Event]:
    """One event per changed file, since Qwen Code's tools change one file each."""
    return reversing.parts(event, ID)


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    """What Qwen Code would send for this event."""
    name = reversing.native_name(ID, LABEL, EVENTS, event, native_event)
    if event.host == ID and event.native and name == event.native_event:
        body = dict(event.native)
        if event.tool:
            body["tool_input"] = reversing.sent_again(body.get("tool_input"), event.tool_input)
        return body
    reversing.require_tool(LABEL, event)
    mode = event.native.get("permission_mode")
    body = {
        "session_id": event.session_id,
        "transcript_path": reversing.own_transcript(event, ID, ("/.qwen/",)),
        "cwd": event.cwd,
        "hook_event_name": name,
        "timestamp": reversing.sent_text(event, "timestamp", TIME),
        "permission_mode": mode if mode in MODES else "default",
    }
    if event.agent_id:
        body["agent_id"] = event.agent_id
    if name not in _OUTSIDE_TURN:
        body["prompt_id"] = reversing.sent_text(event, "prompt_id", f"{event.session_id}########0")
    if name in reversing.TOOL_EVENTS:
        body.update(_tool(event, name))
    if name == "UserPromptSubmit":
        body.update({"prompt": event.prompt} if event.echo else {"prompt": event.prompt, "submitted_prompt": event.prompt})
    body.update(reversing.filled(event, FIELDS.get(name, {})))
    return body


def _tool(event: Event, name: str) -> dict[str, Any]:
    tool, given = reversing.call_of(event)
    native = event.mcp.name if event.mcp is not None else _NAMES.get(tool, tool)
    lacks = _LACKS.get(tool, ())
    spelled = reversing.spelled(_SPELLING.get(native), {key: value for key, value in given.items() if key not in lacks})
    body: dict[str, Any] = {"tool_name": native, "tool_input": spelled}
    if name == "PostToolUse":
        body["tool_response"] = _tool_response(event.tool_response)
    if name not in ("PermissionRequest", "PermissionDenied"):
        body["tool_use_id"] = reversing.sent_text(event, "tool_use_id", "toolu_onehook")
        body["tool_call_id"] = reversing.sent_text(event, "tool_call_id", "call_onehook")
    return body


def _tool_response(response: Any) -> Any:
    if isinstance(response, dict) and "llmContent" in response:
        return response
    text = reversing.result_text(response)
    return {"llmContent": text, "returnDisplay": text}
