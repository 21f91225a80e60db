"""Grok Build in reverse: the payload that it would send for an event, and how it reads a hook's answer (1.0.41)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import reverse
from onehook.hosts.grok.wire import EVENTS, ID, MCP_JOINT, MODES, PRINTED, SOURCES, TOOLS, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Grok"
ENV_FILE = ""
ANSWERS = ("decision", "reason", "continue", "stopReason", "hookSpecificOutput")
losses = reverse.no_losses
_NAMES = reverse.native_names(TOOLS)
_LACKS = {"Grep": ("output_mode",), "List": ("ignore",), "WebFetch": ("prompt",)}
_TIME = "2026-01-01T00:00:00.000000000+00:00"
_PROMPT = "00000000-0000-4000-8000-000000000000"
_IN_A_TURN = ("UserPromptSubmit", "Stop", "SubagentStop", "StopFailure", "StopCancelled")
_NO_TRANSCRIPT = ("SessionStart", "UserPromptSubmit")
# In camelCase; keys that Grok also sends in the other spelling are added.
FIELDS: dict[str, dict[str, Any]] = {
    "SessionEnd": {"reason": "shutdown"},
    "PreCompact": {"source": "auto"},
    "PostCompact": {"source": "auto"},
    "StopFailure": {"error": "unknown"},
    "StopCancelled": {"reason": "unknown", "cancelledBy": "unknown"},
    "Notification": {"notificationType": "idle_prompt", "message": ""},
    "SubagentStart": {"description": ""},
    "SubagentStop": {"phase": "gate"},
}
_ORDER = (
    "reason", "cancelledBy", "prompt", "toolName", "toolUseId", "toolInput", "toolResult", "toolInputTruncated", "toolResultTruncated",
    "error", "durationMs", "isInterrupt", "isBackgrounded", "phase", "subagentId", "subagentType", "description", "stopHookActive",
    "lastAssistantMessage", "backgroundTasks", "sessionCrons",
)  # fmt: skip
_TOLD = ("Stop", "SubagentStop", "StopFailure", "StopCancelled")


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Grok would send for this event: every key in camelCase, and most of them in Claude Code's spelling as well."""
    transcript = "" if name in _NO_TRANSCRIPT else reverse.own_transcript(event, ID, ("/.grok/",))
    mode = reverse.sent_text(event, "permissionMode", reverse.sent_mode(event, MODES, "default"))
    call = _tool(event, name) if name in reverse.TOOL_EVENTS else {}
    return {
        "hookEventName": _snake(name),
        "sessionId": event.session_id,
        "cwd": event.cwd,
        "workspaceRoot": reverse.sent_text(event, "workspaceRoot", f"{event.cwd.rstrip('/')}/"),
        "timestamp": reverse.sent_text(event, "timestamp", _TIME),
        **({"transcriptPath": transcript} if name not in _NO_TRANSCRIPT else {}),
        **({"promptId": reverse.sent_text(event, "promptId", _PROMPT)} if name in _IN_A_TURN else {}),
        "permissionMode": mode,
        **_in_order({**{_camel(key): value for key, value in call.items()}, **_more(event, name)}),
        "hook_event_name": name,
        "session_id": event.session_id,
        **({"transcript_path": transcript} if name not in _NO_TRANSCRIPT else {}),
        "permission_mode": mode,
        **call,
    }


def _in_order(body: dict[str, Any]) -> dict[str, Any]:
    return {**{key: body[key] for key in _ORDER if key in body}, **body}


def _more(event: Event, name: str) -> dict[str, Any]:
    """The fields of an event that exist only in camelCase, or are spelled the same."""
    body = reverse.filled(event, FIELDS.get(name, {}))
    if name in reverse.TOOL_EVENTS:
        body["toolInputTruncated"] = False
    if name == "PostToolUse":
        body.update(toolResultTruncated=False, isBackgrounded=False)
    if name == "PostToolUseFailure":
        body["error"] = event.error
    if name == "SessionStart":
        body["source"] = reverse.said_source(event, ID, SOURCES, "new")
    if name == "UserPromptSubmit":
        body["prompt"] = event.prompt
    if name == "Stop":
        body.update(reason="end_turn", backgroundTasks=[], sessionCrons=[])
    if name in ("Stop", "SubagentStop"):
        body["stopHookActive"] = event.stop_hook_active
    if name in _TOLD:
        body["lastAssistantMessage"] = event.last_assistant_message
    if name in ("SubagentStart", "SubagentStop"):
        body["subagentId"] = event.agent_id
    if event.agent_type or name in ("SubagentStart", "SubagentStop"):
        body["subagentType"] = event.agent_type
    return body


def _tool(event: Event, name: str) -> dict[str, Any]:
    """The keys of a tool call, in Claude Code's spelling."""
    native, given = _call(event)
    body: dict[str, Any] = {"tool_name": native, "tool_input": given}
    if name == "PostToolUse":
        body["tool_response"] = _response(event)
    body["tool_use_id"] = reverse.sent_text(event, "tool_use_id", "call_onehook")
    if name in ("PostToolUse", "PostToolUseFailure"):
        duration = event.native.get("duration_ms")
        body["duration_ms"] = duration if type(duration) is int else 0
    if name == "PostToolUseFailure":
        body["is_interrupt"] = event.native.get("is_interrupt") is True
    return body


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        server, tool = event.mcp.server, event.mcp.tool
        name = tool if not server and MCP_JOINT in tool else f"{server}{MCP_JOINT}{tool}"
        return name, {"tool_name": name, "tool_input": given}
    if tool == "Delete":  # no tool deletes a file; an edit that leaves it empty comes closest
        return "search_replace", {"file_path": given["file_path"], "old_string": "", "new_string": ""}
    native = _NAMES.get(tool, tool)
    return native, reverse.spelled(TOOLS.get(native), given, lacks=_LACKS.get(tool, ()))


def _response(event: Event) -> Any:
    response = event.tool_response
    if isinstance(response, dict) and "type" in response:
        return {
            key: list(value.encode()) if key in PRINTED[:1] and _is_printed(response, value) else value for key, value in response.items()
        }
    text = event.result.text
    code = event.result.exit_code
    return {"type": "Bash", "output": list(text.encode()), "output_for_prompt": f"exit: {code or 0}\n{text}", "exit_code": code or 0}


def _is_printed(response: dict[str, Any], value: object) -> bool:
    return response["type"] == "Bash" and isinstance(value, str)


def variables(event: Event, project: str) -> dict[str, str]:
    """What Grok sets for its hooks, without GROK_HOOK_NAME: a manifest has no hook file."""
    root = f"{project.rstrip('/')}/"
    return {
        "GROK_HOOK_EVENT": _snake(_HOST.name(event, "")) if event.event in reverse.unified_events(EVENTS) else "",
        "GROK_SESSION_ID": event.session_id, "GROK_WORKSPACE_ROOT": root, "CLAUDE_PROJECT_DIR": root,
    }  # fmt: skip


def _again(event: Event) -> dict[str, Any]:
    """The original payload with the current input, in both spellings."""
    body = dict(event.native)
    if event.tool:
        now = wrapped(event, event.tool_input)
        body.update({key: now for key in ("toolInput", "tool_input") if isinstance(body.get(key), dict)})
    return body


def _camel(key: str) -> str:
    if key == "tool_response":
        return "toolResult"
    first, *others = key.split("_")
    return first + "".join(word.capitalize() for word in others)


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload, _again)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

_NO_REASON = {"permission": "denied by hook", "prompt": "blocked by hook", "feedback": "blocked by hook", "stop": "Blocked by stop hook"}


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Grok reads a hook's answer. Raises HandlerError for what it treats as a failed hook.

    JSON is read whatever the exit code. Without JSON, exit 2 denies with stderr as the reason (before a tool, only its first line).
    """
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    if shape == "nothing" or (event.echo and shape == "stop"):
        return Response()
    text, said = stdout.strip(), stderr.strip()
    body = reverse.json_object(text) if text else None
    if exit_code == 2 and not _denial(shape, body or {}) and shape != "failure":
        return Response("deny", (said.partition("\n")[0] if shape == "permission" else said) or _NO_REASON[shape])
    if exit_code not in (0, 2) and not body:
        raise reverse.exit_problem(LABEL, exit_code, said)
    if reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    return _heard(event, name, shape, body or {})


def _denial(shape: str, body: dict[str, Any]) -> str:
    """The reason for a denial in a JSON answer; "" if it does not deny."""
    specific = reverse.object_in(body, "hookSpecificOutput")
    if shape == "permission" and specific.get("permissionDecision") == "deny":
        return reverse.text_in(specific, "permissionDecisionReason") or reverse.text_in(body, "reason") or _NO_REASON[shape]
    words = ("deny", "block") if shape == "permission" else ("block",)
    return reverse.text_in(body, "reason") or _NO_REASON[shape] if shape in _NO_REASON and body.get("decision") in words else ""


def _heard(event: Event, name: str, shape: str, body: dict[str, Any]) -> Response:
    specific = reverse.object_in(body, "hookSpecificOutput")
    context = reverse.text_in(specific, "additionalContext") if shape != "prompt" else None
    reason = _denial(shape, body)
    if shape == "stop" and body.get("continue") is False:
        return Response()  # the turn ends, whatever else the answer contains
    if reason:
        return Response("deny", reason, additional_context=None if shape == "permission" else context)
    if shape == "stop" and context:
        return Response("deny", context)  # like a block, it keeps the agent working
    heard = Response(additional_context=context)
    if shape == "permission" and specific.get("permissionDecision") == "ask":
        heard.decision, heard.reason = "ask", reverse.text_in(specific, "permissionDecisionReason")
    updated = specific.get("updatedInput")
    if shape == "permission" and isinstance(updated, dict):
        heard.modified_input = _rewrite(event, name, updated)
    return heard


def _rewrite(event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
    sent = payload(event, name)["tool_input"]
    if event.mcp is not None and isinstance(updated.get("tool_input"), dict) and "tool_name" in sent:
        inner = updated["tool_input"]
        return inner if event.host == ID else reverse.rewrite_for(event, None, sent["tool_input"], inner)
    return _HOST.rewrite(event, name, updated)
