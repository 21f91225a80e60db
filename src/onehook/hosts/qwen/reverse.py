"""Qwen Code the other way round: the payload it would send for an event, and its reading of a hook's answer (0.24.4)."""

from __future__ import annotations

from onehook.codec import loads
from onehook.core import Event, HandlerError, PayloadError, Response
from onehook.hosts import reversing
from onehook.hosts.qwen.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Qwen Code"
_MODES = ("default", "plan", "auto_edit", "auto", "yolo")
_NAMES = {
    "Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "edit", "Grep": "grep_search", "Glob": "glob",
    "List": "list_directory", "WebFetch": "web_fetch", "WebSearch": "web_search", "Agent": "agent",
}  # fmt: skip
_TODO = {"todo_id": "", "todo_content": "", "all_todos": [], "phase": "validation"}
_LISTS: dict[str, Any] = {"background_tasks": [], "crons": []}
FIELDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup", "model": ""},
    "SessionEnd": {"reason": "other"},
    "SessionDelete": {"deleted_session_id": ""},
    "UserPromptSubmit": {"prompt": ""},
    "UserPromptExpansion": {"command_name": "", "command_args": "", "prompt": ""},
    "PostToolUse": {"duration_ms": 0},
    "PostToolUseFailure": {"error": "", "is_interrupt": False, "duration_ms": 0},
    "PermissionDenied": {"reason": "classifier_blocked"},
    "PostToolBatch": {"tool_calls": []},
    "Stop": {
        "stop_hook_active": False, "last_assistant_message": "", **_LISTS, "context_usage": 0.0, "context_limit": 0, "input_tokens": 0,
    },
    "StopFailure": {"error": "unknown", "last_assistant_message": ""},
    "SubagentStart": {"agent_id": "", "agent_type": ""},
    "SubagentStop": {
        "agent_id": "", "agent_type": "", "stop_hook_active": False, "agent_transcript_path": "", "last_assistant_message": "", **_LISTS,
    },
    "PreCompact": {"trigger": "auto", "custom_instructions": ""},
    "PostCompact": {"trigger": "auto", "compact_summary": ""},
    "Notification": {"message": "", "notification_type": "idle_prompt", "title": ""},
    "TodoCreated": {**_TODO, "todo_status": "pending"},
    "TodoCompleted": {**_TODO, "previous_status": "pending"},
    "MessageDisplay": {"message_id": "", "displayed_text": "", "is_final": True},
    "InstructionsLoaded": {"file_path": "", "memory_type": "project", "load_reason": "startup"},
}  # fmt: skip


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
        # Another host's transcript has another format.
        "transcript_path": event.transcript_path if event.host in ("", ID) else "",
        "cwd": event.cwd,
        "hook_event_name": name,
        "timestamp": reversing.sent_text(event, "timestamp", "2026-01-01T00:00:00.000Z"),
        "permission_mode": mode if mode in _MODES else "default",
    }
    if event.agent_id:
        body["agent_id"] = event.agent_id
    if name in reversing.TOOL_EVENTS:
        body.update(_tool(event, name))
    body.update(reversing.filled(event, FIELDS.get(name, {})))
    if name == "UserPromptSubmit" and not event.echo:
        body["submitted_prompt"] = event.prompt
    return body


def _tool(event: Event, name: str) -> dict[str, Any]:
    tool, given = reversing.call_of(event)
    native = event.mcp.name if event.mcp is not None else _NAMES.get(tool, tool)
    body: dict[str, Any] = {"tool_name": native, "tool_input": reversing.spelled(TOOLS.get(native), given)}
    if name == "PostToolUse":
        text = reversing.output_text(event.tool_response)
        body["tool_response"] = {"llmContent": text, "returnDisplay": text}
    if name != "PermissionRequest":
        body["tool_use_id"] = reversing.sent_text(event, "tool_use_id", "toolu_onehook")
        body["tool_call_id"] = reversing.sent_text(event, "tool_call_id", "call_onehook")
    return body


# ---- answers ----

_PLAIN_IS_CONTEXT = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion")
_TAKES_CONTEXT = ("block", "feedback", "context")
_STOPPED_BY_CONTINUE = ("permission", "block", "feedback", "stop", "continue")
_NO_REASON = "No reason provided"


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """What Qwen Code makes of a hook's answer. HandlerError for a failed hook: the action goes on there.

    On exit 2 stderr alone is read; else stdout, or stderr if that is empty, and a JSON object counts whatever the exit code.
    """
    name = reversing.native_name(ID, LABEL, EVENTS, event, native_event)
    shape = EVENTS[name].shape
    if shape == "nothing":
        return Response()
    text = stderr.strip() if exit_code == 2 else stdout.strip() or stderr.strip()
    said = _json(text)
    if isinstance(said, dict):
        return _heard(event, name, shape, said)
    if exit_code != 2 and said is None and text.startswith("{"):
        raise HandlerError("Qwen Code hook: the answer is not valid JSON, so it is not used")
    if exit_code == 2 and text:
        return _heard(event, name, shape, {"decision": "deny", "reason": text})
    if exit_code != 0:
        raise reversing.exit_problem(LABEL, exit_code, stderr)
    if name in _PLAIN_IS_CONTEXT and stdout.strip():
        return Response(additional_context=text)
    return Response(user_message=text) if shape == "stop" and text else Response()


def _json(text: str) -> Any:
    """The JSON value of a text, which may be JSON in a JSON string; None if it is none."""
    try:
        value = loads(text)
        return loads(value) if isinstance(value, str) else value
    except PayloadError:
        return None


def _heard(event: Event, name: str, shape: str, body: dict[str, Any]) -> Response:
    specific = body.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    heard = Response(user_message=_text(body, "systemMessage") if shape == "stop" else None)
    if shape in _TAKES_CONTEXT:
        heard.additional_context = _text(specific, "additionalContext")
    if shape == "request":
        _take_dialog(event, name, heard, specific.get("decision"))
        return heard
    decision = body.get("decision")
    denied = decision == "block" or (decision == "deny" and shape != "refuse")
    if shape == "permission":
        heard.decision = _permission(specific, decision)
        heard.reason = (_text(specific, "permissionDecisionReason") or _text(body, "reason")) if heard.decision else None
        denied = heard.decision == "deny"
    halted = body.get("continue") is False and shape in _STOPPED_BY_CONTINUE and heard.decision != "ask"
    if (denied and shape not in ("context", "feedback")) or halted:
        heard.decision = "deny"
        heard.reason = heard.reason or _text(body, "stopReason") or _text(body, "reason") or _NO_REASON
    return heard


def _permission(specific: dict[str, Any], decision: object) -> str | None:
    """The decision before a tool: the nested one, else the other."""
    nested = specific.get("permissionDecision")
    if nested in ("allow", "deny", "ask"):
        return str(nested)
    words = {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"}
    return words.get(decision) if isinstance(decision, str) else None


def _take_dialog(event: Event, name: str, heard: Response, dialog: object) -> None:
    if not isinstance(dialog, dict):
        return
    if dialog.get("behavior") != "allow":  # whatever else is there, even {}, refuses
        heard.decision, heard.reason = "deny", _text(dialog, "message") or "denied by a hook"
        return
    heard.decision = "allow"
    updated = dialog.get("updatedInput")
    if isinstance(updated, dict):
        heard.modified_input = _rewrite(event, name, updated)


def _text(body: dict[str, Any], key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def _rewrite(event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
    if event.host == ID:
        return updated
    sent = payload(event, name)
    return reversing.rewrite_for(event, TOOLS.get(sent["tool_name"]), sent["tool_input"], updated)
