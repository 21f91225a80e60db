"""Hermes Agent in reverse: what it would send for an event, and what it does with a hook's answer (0.19.0)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import reverse
from onehook.hosts.hermes.wire import EVENTS, ID, RESULTS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Hermes"
ENV_FILE = ""
ANSWERS = ("decision", "action", "reason", "message", "context")
losses = reverse.no_losses
variables = reverse.no_variables
_NAMES = reverse.native_names(TOOLS)
_LACKS = {
    "Bash": ("description", "run_in_background", "timeout"), "Grep": ("output_mode",), "WebFetch": ("prompt",),
    "Agent": ("description", "subagent_type"),
}  # fmt: skip
_NO_REASON = "Blocked by shell hook."
SCHEMA = "hermes.observer.v1"


def _payload(event: Event, name: str) -> dict[str, Any]:
    body: dict[str, Any] = {"hook_event_name": name, "tool_name": None, "tool_input": None}
    extra = _extra(event, name)
    if EVENTS[name].event in reverse.TOOL_EVENTS:
        body["tool_name"], body["tool_input"] = _call(event)
        extra = {**(_result(event) if name == "post_tool_call" else {}), **extra}
    return {**body, "session_id": event.session_id, "cwd": event.cwd, "extra": {**extra, "telemetry_schema_version": SCHEMA}}


def _extra(event: Event, name: str) -> dict[str, Any]:
    child = {"child_session_id": event.agent_id, "child_role": event.agent_type}
    told: dict[str, dict[str, Any]] = {
        "pre_tool_call": {"tool_call_id": "call_onehook"},
        "post_tool_call": {"tool_call_id": "call_onehook"},
        "pre_llm_call": {"user_message": event.prompt, "conversation_history": [], "is_first_turn": True, "model": event.model},
        "pre_verify": {
            "model": event.model, "attempt": int(event.stop_hook_active),
            "final_response": event.last_assistant_message, "changed_paths": [],
        },
        "subagent_start": child,
        "subagent_stop": {**child, "child_summary": event.last_assistant_message},
        "post_llm_call": {"assistant_response": event.last_assistant_message, "model": event.model},
    }  # fmt: skip
    return told.get(name, {"model": event.model})


def _result(event: Event) -> dict[str, Any]:
    result = event.result
    key = RESULTS.texts.get(_NAMES.get(event.tool, ""), "output")
    body: dict[str, Any] = {key: result.text, **({"exit_code": result.exit_code} if event.tool == "Bash" else {})}
    failed = result.failed or bool(event.error)
    return {"result": reverse.json_text(body), "status": "error" if failed else "ok", "error_message": event.error or None}


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return f"mcp__{event.mcp.server}__{event.mcp.tool}", given
    if tool == "Delete":  # only a patch deletes
        return "patch", {"mode": "patch", "patch": reverse.patch_of(event.changes, event.cwd)}
    native = _NAMES.get(tool, tool)
    spelled = reverse.spelled(TOOLS.get(native), given, lacks=_LACKS.get(tool, ()))
    return native, {"mode": "replace", **spelled} if native == "patch" else spelled


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload)
payload, parts = _HOST.payload, _HOST.parts


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """The JSON object on stdout, whatever the exit code is; anything else is ignored."""
    name = _HOST.name(event, native_event)
    text = stdout.strip()
    body = reverse.json_object(text) if text else {}
    if body is None:
        raise reverse.invalid_json(LABEL, name)
    shape = EVENTS[name].shape
    if shape == "tool":
        return _tool(body)
    if shape == "stop":
        said = str(body.get("action") or body.get("decision") or "").strip().lower()
        reason = reverse.text_in(body, "message", "reason")
        return Response("deny", reason.strip()) if said in ("continue", "block") and reason and reason.strip() else Response()
    context = reverse.text_in(body, "context") if shape == "prompt" else None
    return Response(additional_context=context if context and context.strip() else None)


def _tool(body: dict[str, Any]) -> Response:
    if body.get("action") == "block":
        return Response("deny", reverse.text_in(body, "message", "reason") or _NO_REASON)
    if body.get("decision") == "block":
        return Response("deny", reverse.text_in(body, "reason", "message") or _NO_REASON)
    return Response()
