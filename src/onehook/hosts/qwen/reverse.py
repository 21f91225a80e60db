"""Qwen Code in reverse: the payload that it would send for an event, and how it reads a hook's answer (0.24.4)."""

from __future__ import annotations

from onehook.core import Event, HandlerError, Response
from onehook.hostkit import reverse
from onehook.hostkit.tools import Tool
from onehook.hosts.qwen.wire import EVENTS, ID, MODES, SOURCES, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Qwen Code"
ENV_FILE = ""
ANSWERS = reverse.ANSWER
_NAMES = reverse.native_names(TOOLS)
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
    "SessionStart": {"model": ""},
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
_IDS = {"tool_use_id": "toolu_onehook", "tool_call_id": "call_onehook"}
_OUTSIDE_TURN = ("SessionStart", "SessionEnd", "SessionDelete", "Notification", "InstructionsLoaded")


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Qwen Code would send for this event."""
    body: dict[str, Any] = {
        "session_id": event.session_id,
        "transcript_path": reverse.own_transcript(event, ID, ("/.qwen/",)),
        "cwd": event.cwd,
        "hook_event_name": name,
        "timestamp": reverse.sent_text(event, "timestamp", reverse.TIME),
        "permission_mode": reverse.sent_mode(event, MODES, "default"),
    }
    if event.agent_id:
        body["agent_id"] = event.agent_id
    if name not in _OUTSIDE_TURN:
        body["prompt_id"] = reverse.sent_text(event, "prompt_id", f"{event.session_id}########0")
    if name in reverse.TOOL_EVENTS:
        body.update(_tool(event, name))
    if name == "UserPromptSubmit":
        body.update({"prompt": event.prompt} if event.echo else {"prompt": event.prompt, "submitted_prompt": event.prompt})
    if name == "SessionStart":
        body["source"] = reverse.said_source(event, ID, SOURCES, "startup")
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    return body


def variables(event: Event, project: str) -> dict[str, str]:
    """What Qwen Code sets for its hooks."""
    return {"QWEN_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project, "GEMINI_PROJECT_DIR": project}


def _tool(event: Event, name: str) -> dict[str, Any]:
    tool, given = reverse.call_of(event)
    native = event.mcp.name if event.mcp is not None else _NAMES.get(tool, tool)
    spelled = reverse.spelled(_SPELLING.get(native), given, lacks=_LACKS.get(tool, ()))
    body: dict[str, Any] = {}
    if name == "PostToolUseFailure":
        body = _ids(event)
    body.update(tool_name=native, tool_input=spelled)
    if name == "PostToolUse":
        body["tool_response"] = _tool_response(event)
    if name != "PermissionRequest":
        body.update(_ids(event))
    return body


def _ids(event: Event) -> dict[str, Any]:
    return {name: reverse.sent_text(event, name, default) for name, default in _IDS.items()}


def _tool_response(event: Event) -> Any:
    response = event.tool_response
    if isinstance(response, dict) and "llmContent" in response:
        return response
    text = event.result.text
    return {"llmContent": text, "returnDisplay": text}


_HOST = reverse.Host(ID, LABEL, EVENTS, _SPELLING, _payload)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

_PLAIN_IS_CONTEXT = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion")
_TAKES_CONTEXT = ("block", "feedback", "failure", "context")
# Where continue: false counts as a block, even on a stop, where both mean that the agent continues.
_STOPPABLE = ("permission", "block", "stop", "continue")
_BLOCKABLE = ("block", "stop", "continue", "refuse")
_SHOWS_ARTIFACTS = ("PostToolUse", "PostToolUseFailure", "PostToolBatch")
_NO_REASON = "No reason provided"
_DECISIONS = {"deny": "deny", "block": "deny", "ask": "ask"}  # an allow comes after the dialog, so it has no effect


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Qwen Code reads a hook's answer. Raises HandlerError for what it treats as a failed hook.

    On exit 2 stdout is not read; on every other code JSON is, and plain text counts only on exit 0.
    """
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    written = shape == "refuse" and event.host == ID and event.native.get("phase") == "postWrite"
    if shape == "nothing" or written:
        return Response()
    text = stderr.strip() if exit_code == 2 else stdout.strip() or stderr.strip()
    value = reverse.printed_json(text)[1] if text else None
    if isinstance(value, dict):
        return _heard(event, name, shape, value)
    if exit_code == 2:
        if not text:
            raise HandlerError(f"{LABEL} hook: exit code 2 with nothing on stderr; that blocks nothing there")
        return _heard(event, name, shape, {"decision": "deny", "reason": text})
    if reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    if exit_code != 0:
        raise reverse.exit_problem(LABEL, exit_code, text)
    if stdout.strip() and name in _PLAIN_IS_CONTEXT:
        return Response(additional_context=text)
    return Response(user_message=text or None) if shape == "stop" else Response()


def losses(event: Event, stdout: str, exit_code: int, native_event: str = "") -> list[str]:
    """The fields of an accepted answer that Qwen Code acts on but a Response cannot carry. (A rewrite on PreToolUse and
    updatedPermissions are in its schema, and have no effect in 0.24.4.)"""
    name = _HOST.name(event, native_event)
    _, value = reverse.printed_json(stdout.strip()) if exit_code != 2 else (False, None)
    own = _beyond(name, value) if isinstance(value, dict) else {}
    return [key for part in (own, own.pop("decision", {})) for key in part]


def _beyond(name: str, body: dict[str, Any]) -> dict[str, Any]:
    """The part of hookSpecificOutput that only Qwen Code can act on."""
    specific = reverse.object_in(body, "hookSpecificOutput")
    dialog = reverse.object_in(specific, "decision") if name == "PermissionRequest" else {}
    own = reverse.part_of(specific, ("artifacts",)) if name in _SHOWS_ARTIFACTS else {}
    part = reverse.part_of(dialog, ("interrupt",))
    return {**own, "decision": part} if part else own


def _heard(event: Event, name: str, shape: str, body: dict[str, Any]) -> Response:
    """The answer that a JSON object expresses."""
    specific = reverse.object_in(body, "hookSpecificOutput")
    heard = Response()
    if shape == "stop":  # the only event on which the message is shown
        heard.user_message = reverse.text_in(body, "systemMessage")
    if shape in _TAKES_CONTEXT:
        heard.additional_context = reverse.text_in(specific, "additionalContext")
    said = body.get("decision")
    wanted = _DECISIONS.get(said) if isinstance(said, str) else None
    why = reverse.text_in(body, "stopReason", "reason")
    if shape == "permission":
        own = specific.get("permissionDecision")
        heard.decision = _DECISIONS.get(own) if own in ("allow", "deny", "ask") else wanted
        if heard.decision:
            why = reverse.text_in(specific, "permissionDecisionReason") or reverse.text_in(body, "reason") or why
            heard.reason = why
    elif shape == "request":
        _take_dialog(event, name, heard, specific.get("decision"))
    elif shape in _BLOCKABLE and wanted == "deny":
        heard.decision, heard.reason = "deny", why
    if body.get("continue") is False and heard.decision is None and (shape in _STOPPABLE or name == "PostToolUse"):
        heard.decision, heard.reason = "deny", why
    if heard.decision == "deny":
        heard.reason = heard.reason or _NO_REASON
    own = _beyond(name, body)
    heard.native = reverse.kept_for(ID, event, {"hookSpecificOutput": {"hookEventName": name, **own}} if own else {})
    return heard


def _take_dialog(event: Event, name: str, heard: Response, dialog: object) -> None:
    """The answer to a permission request: anything except an allow refuses."""
    if not isinstance(dialog, dict):
        return
    heard.decision = "allow" if dialog.get("behavior") == "allow" else "deny"
    if heard.decision == "deny":
        heard.reason = reverse.text_in(dialog, "message")
    elif isinstance(dialog.get("updatedInput"), dict):
        heard.modified_input = _HOST.rewrite(event, name, dialog["updatedInput"])
