"""Factory Droid in reverse: the payload that it would send for an event, and how it reads a hook's answer (0.225.2)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import reverse
from onehook.hosts.droid.wire import EVENTS, ID, MCP_JOINT, MODES, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


LABEL = "Droid"
ENV_FILE = "CLAUDE_ENV_FILE"
ANSWERS = reverse.ANSWER
losses = reverse.no_losses
_NAMES = reverse.native_names(TOOLS)
_LACKS = {"Bash": ("timeout",)}  # Droid's is in seconds
_MESSAGE = "00000000-0000-4000-8000-000000000000"
FIELDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"message_id": _MESSAGE, "prompt": "", "has_images": False},
    "Stop": {"message_id": _MESSAGE, "stop_hook_active": False, "tool_execution_count": 0, "elapsed_time": 0},
    "SubagentStop": {"task_name": "", "stop_hook_active": False},
    "Notification": {"message": "", "notification_type": "idle_prompt"},
    "PreCompact": {"trigger": "auto", "message_count": 0, "estimated_tokens": 0, "message_id": _MESSAGE},
    "SessionEnd": {"message_id": _MESSAGE, "reason": "other", "session_duration_ms": 0.0, "message_count": 0},
}


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Droid would send for this event."""
    body: dict[str, Any] = {
        "session_id": event.session_id,
        "transcript_path": reverse.own_transcript(event, ID, ("/.factory/",)),
        "cwd": event.cwd,
        "permission_mode": reverse.sent_mode(event, MODES, "off"),
        "hook_event_name": name,
    }
    if name in reverse.TOOL_EVENTS:
        body["tool_name"], body["tool_input"] = _tool(event)
        if name == "PostToolUse":
            body["tool_response"] = event.result.text
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    if name == "SubagentStop":
        body["task_result"] = event.last_assistant_message
    return body


def variables(event: Event, project: str) -> dict[str, str]:
    """What Droid sets for its hooks. (Droid itself names the folder that it was started in, which may be below the project's.)"""
    return {"FACTORY_PROJECT_DIR": project, "DROID_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project}


def _tool(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        server, tool = event.mcp.server, event.mcp.tool
        return tool if not server and MCP_JOINT in tool else f"{server}{MCP_JOINT}{tool}", given
    if tool == "Delete":  # only a patch deletes
        return "ApplyPatch", {"input": reverse.patch_of(event.changes, event.cwd)}
    native = _NAMES.get(tool, tool)
    return native, reverse.spelled(TOOLS.get(native), given, lacks=_LACKS.get(tool, ()))


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

_ABORTS = 3
_NO_REASON = {
    "permission": "Tool execution blocked by hook", "prompt": "User prompt submission blocked by hook",
    "feedback": "Hook reported an issue", "stop": "Stop hook requested continuation", "compact": "Compaction cancelled by hook",
}  # fmt: skip
_HALT = "Hook requested to stop execution"


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Droid reads a hook's answer. Raises HandlerError for what it treats as a failed hook.

    JSON is read whatever the exit code, if stdout begins with "{"; invalid JSON is ignored, and the exit code counts.
    """
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    if shape == "nothing":
        return Response()
    text, said = stdout.strip(), stderr.strip()
    body = reverse.json_object(text) if text.startswith("{") else None
    if exit_code not in (0, 2, _ABORTS) and not body:
        raise reverse.exit_problem(LABEL, exit_code, said)
    if exit_code == 0 and reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    heard = _HEARD[shape](event, name, body or {}, said, exit_code)
    if text and not _is_answer(body) and exit_code == 0 and shape in ("context", "prompt"):
        heard.additional_context = text
    own = {} if heard.decision == "deny" else _beyond(shape, body or {})
    if own and event.host != ID:
        reverse.refuse_unsaid(LABEL, own["hookSpecificOutput"]["updatedInput"], ("prompt",))
    heard.native = reverse.kept_for(ID, event, own)
    return heard


def _is_answer(body: dict[str, Any] | None) -> bool:
    """Whether Droid accepts an object as an answer; without any of its keys, it is treated as plain text."""
    return body is not None and any(key in body for key in ANSWERS)


def _beyond(shape: str, body: dict[str, Any]) -> dict[str, Any]:
    """A rewritten prompt, which only Droid itself can act on."""
    updated = reverse.object_in(reverse.object_in(body, "hookSpecificOutput"), "updatedInput")
    prompt = reverse.text_in(updated, "prompt") if shape == "prompt" else None
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "updatedInput": {"prompt": prompt}}} if prompt else {}


def _denied(shape: str, *reasons: str | None) -> Response:
    return Response("deny", next((reason for reason in reasons if reason), _NO_REASON[shape]))


def _permission(event: Event, name: str, body: dict[str, Any], said: str, exit_code: int) -> Response:
    specific = reverse.object_in(body, "hookSpecificOutput")
    if body.get("continue") is False:
        return _denied("permission", reverse.text_in(body, "stopReason"), _HALT)
    if specific.get("permissionDecision") == "deny" and exit_code != _ABORTS:
        return _denied("permission", reverse.text_in(specific, "permissionDecisionReason"), "Tool execution denied by hook")
    if exit_code in (2, _ABORTS):
        return _denied("permission", said)
    heard = Response("allow" if specific.get("permissionDecision") == "allow" else None)
    updated = reverse.object_in(specific, "updatedInput")
    if updated:
        heard.modified_input = _HOST.rewrite(event, name, updated)
    return heard


def _prompt(event: Event, name: str, body: dict[str, Any], said: str, exit_code: int) -> Response:
    if exit_code in (2, _ABORTS) or body.get("continue") is False:
        return _denied("prompt", said, reverse.text_in(body, "stopReason", "systemMessage"))
    return _context(event, name, body, said, exit_code)


def _context(event: Event, name: str, body: dict[str, Any], said: str, exit_code: int) -> Response:
    """Context is read only on exit 0."""
    specific = reverse.object_in(body, "hookSpecificOutput") if exit_code == 0 else {}
    return Response(additional_context=reverse.text_in(specific, "additionalContext"))


def _feedback(event: Event, name: str, body: dict[str, Any], said: str, exit_code: int) -> Response:
    specific = reverse.object_in(body, "hookSpecificOutput")
    heard = Response(user_message=reverse.text_in(body, "systemMessage"))
    if body.get("continue") is False:
        heard = _denied("feedback", reverse.text_in(body, "stopReason"), _HALT)
    elif exit_code in (2, _ABORTS):
        heard.decision, heard.reason = "deny", said or _NO_REASON["feedback"]
    heard.additional_context = reverse.text_in(specific, "additionalContext")
    return heard


def _stop(event: Event, name: str, body: dict[str, Any], said: str, exit_code: int) -> Response:
    """A block without a reason does not block, and hides exit 2; exit 3 and `continue: false` end the turn whatever the answer."""
    heard = Response(user_message=reverse.text_in(body, "systemMessage"))
    if body.get("continue") is False or exit_code == _ABORTS:
        return heard
    if body.get("decision") == "block":
        heard.reason = reverse.text_in(body, "reason")
        heard.decision = "deny" if heard.reason else None
    elif exit_code == 2:
        heard.decision, heard.reason = "deny", said or _NO_REASON["stop"]
    return heard


def _compact(event: Event, name: str, body: dict[str, Any], said: str, exit_code: int) -> Response:
    return _denied("compact", said) if exit_code in (2, _ABORTS) else Response()


_HEARD = {
    "permission": _permission, "prompt": _prompt, "context": _context, "feedback": _feedback, "stop": _stop, "compact": _compact,
}  # fmt: skip
