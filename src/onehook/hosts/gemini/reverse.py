"""Gemini CLI the other way round: the payload it would send for an event, and its reading of a hook's answer (0.61.0)."""

from __future__ import annotations

from onehook.codec import loads
from onehook.core import Event, PayloadError, Response
from onehook.hosts import reversing
from onehook.hosts.gemini.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Gemini CLI"
_NAMES = {
    "Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "replace", "Grep": "grep_search", "Glob": "glob",
    "List": "list_directory", "WebFetch": "web_fetch", "WebSearch": "google_web_search", "Agent": "invoke_agent",
}  # fmt: skip
_REQUEST: dict[str, Any] = {"llm_request": {}}
FIELDS: dict[str, dict[str, Any]] = {
    "BeforeAgent": {"prompt": ""},
    "AfterAgent": {"prompt": "", "stop_hook_active": False},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "exit"},
    "PreCompress": {"trigger": "auto"},
    "Notification": {"notification_type": "ToolPermission", "message": "", "details": {}},
    "BeforeModel": _REQUEST,
    "AfterModel": {**_REQUEST, "llm_response": {}},
    "BeforeToolSelection": _REQUEST,
}


def parts(event: Event) -> list[Event]:
    """One event per changed file, since Gemini CLI's tools change one file each."""
    return reversing.parts(event, ID)


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    """What Gemini CLI would send for this event."""
    name = reversing.native_name(ID, LABEL, EVENTS, event, native_event)
    if event.host == ID and event.native and name == event.native_event:
        body = dict(event.native)
        if event.tool:
            body["tool_input"] = reversing.sent_again(body.get("tool_input"), event.tool_input)
        return body
    reversing.require_tool(LABEL, event)
    body = {
        "session_id": event.session_id,
        # Another host's transcript has another format; Gemini CLI sends "" until its own exists.
        "transcript_path": event.transcript_path if event.host in ("", ID) else "",
        "cwd": event.cwd,
        "hook_event_name": name,
        "timestamp": reversing.sent_text(event, "timestamp", "2026-01-01T00:00:00.000Z"),
    }
    if EVENTS[name].event in reversing.TOOL_EVENTS:
        body.update(_tool(event, name))
    body.update(reversing.filled(event, FIELDS.get(name, {})))
    if name == "AfterAgent":
        body["prompt_response"] = event.last_assistant_message
    return body


def _tool(event: Event, name: str) -> dict[str, Any]:
    tool, given = reversing.call_of(event)
    body: dict[str, Any]
    if event.mcp is not None:
        context = {"server_name": event.mcp.server, "tool_name": event.mcp.tool}
        body = {"tool_name": f"mcp_{event.mcp.server}_{event.mcp.tool}", "tool_input": given, "mcp_context": context}
    else:
        native = _NAMES.get(tool, tool)
        body = {"tool_name": native, "tool_input": reversing.spelled(TOOLS.get(native), given)}
    if name == "AfterTool":
        text = reversing.output_text(event.tool_response)
        body["tool_response"] = {"llmContent": text, "returnDisplay": text}
    return body


# ---- answers ----

_TAKES_CONTEXT = ("result", "prompt", "context")
_NOT_STOPPABLE = ("context", "message")
_NO_REASON = "No reason provided"


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """What Gemini CLI makes of a hook's answer. HandlerError for a failed hook that says nothing but that.

    stdout, or stderr if that is empty. A JSON object counts whatever the exit code; of a plain text the exit code says what it is.
    """
    name = reversing.native_name(ID, LABEL, EVENTS, event, native_event)
    shape = EVENTS[name].shape
    text = stdout.strip() or stderr.strip()
    if shape == "nothing":
        return Response()
    said = _json(text)
    if isinstance(said, dict):
        return _heard(event, name, shape, said)
    if exit_code <= 0:  # killed by a signal counts as success too
        return Response(user_message=text) if text and said is None else Response()
    if exit_code == 1 or not text or said is not None:
        raise reversing.exit_problem(LABEL, exit_code, stderr)
    return Response() if shape in _NOT_STOPPABLE else Response("deny", text)


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
    heard = Response(user_message=_text(body, "systemMessage"))
    if shape in _TAKES_CONTEXT:
        heard.additional_context = _text(specific, "additionalContext")
    halted = body.get("continue") is False
    denied = body.get("decision") in ("deny", "block")
    if shape in _NOT_STOPPABLE or (shape == "continue" and halted):
        return heard
    if denied or halted:
        heard.decision = "deny"
        heard.reason = _text(body, "stopReason") or _text(body, "reason") or _NO_REASON
        heard.additional_context = None
    elif shape == "permission":
        heard.decision = "ask" if body.get("decision") == "ask" else None
        updated = specific.get("tool_input")
        heard.modified_input = _rewrite(event, name, updated) if isinstance(updated, dict) else None
    return heard


def _text(body: dict[str, Any], key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def _rewrite(event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
    if event.host == ID:
        return updated
    sent = payload(event, name)
    return reversing.rewrite_for(event, TOOLS.get(sent["tool_name"]), sent["tool_input"], updated)
