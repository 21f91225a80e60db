"""Kimi Code in reverse: the payload that it would send for an event, and how it reads a hook's answer (2.1.0)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import reverse
from onehook.hosts.kimi.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Kimi Code"
ENV_FILE = ""
ANSWERS = ("message", "hookSpecificOutput")
losses = reverse.no_losses
variables = reverse.no_variables
_NAMES = reverse.native_names(TOOLS)
_LACKS = {"WebFetch": ("prompt",)}
FIELDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup", "model": "", "profile": "agent"},
    "SessionEnd": {"reason": "exit"},
    "Stop": {"stop_hook_active": False},
    "StopFailure": {"error": ""},
    "Interrupt": {"reason": ""},
    "PreCompact": {"trigger": "auto", "token_count": 0},
    "PostCompact": {"trigger": "auto", "estimated_token_count": 0},
    "Notification": {"message": "", "notification_type": "task.completed"},
    "SubagentStart": {"prompt": ""},
}


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Kimi Code would send for this event."""
    body: dict[str, Any] = {
        "hook_event_name": name,
        "session_id": event.session_id,
        "cwd": event.cwd,
        "client_type": reverse.sent_text(event, "client_type", "kimi_code_cli"),
    }
    if name in reverse.TOOL_EVENTS:
        body["tool_name"], body["tool_input"] = _tool(event)
        body["tool_call_id"] = reverse.sent_text(event, "tool_call_id", "call_onehook")
    if name == "PostToolUse":
        body["tool_output"] = event.result.text
    if name == "PostToolUseFailure":
        body["error"] = {"code": "internal", "message": event.error, "retryable": False}
    if name == "UserPromptSubmit":
        body.update(prompt=[{"type": "text", "text": event.prompt}], is_steer=False)
    if name in ("SubagentStart", "SubagentStop"):
        body["agent_name"] = event.agent_type
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    if name == "SubagentStop":
        body["response"] = event.last_assistant_message
    return body


def _tool(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return event.mcp.name, given
    if tool == "Delete":  # no tool deletes a file; an edit that leaves it empty comes closest
        return "Edit", {"path": given["file_path"], "old_string": "", "new_string": ""}
    native = _NAMES.get(tool, tool)
    return native, reverse.spelled(TOOLS.get(native), given, lacks=_LACKS.get(tool, ()))


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload)
payload, parts = _HOST.payload, _HOST.parts


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Kimi Code reads a hook's answer. Raises HandlerError for what it treats as a failed hook. On exit 2 stdout is not read."""
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    if shape == "nothing":
        return Response()
    text, said = stdout.strip(), stderr.strip()
    if exit_code == 2:
        return Response("deny", said or f"Blocked by {name} hook")
    if exit_code != 0:
        raise reverse.exit_problem(LABEL, exit_code, said)
    if reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    body = reverse.json_object(text) or {}
    specific = reverse.object_in(body, "hookSpecificOutput")
    if specific.get("permissionDecision") == "deny":
        return Response("deny", reverse.text_in(specific, "permissionDecisionReason") or f"Blocked by {name} hook")
    context = reverse.text_in(body, "message") or reverse.text_in(specific, "message") or text
    return Response(additional_context=context or None) if shape == "prompt" else Response()
