"""Mistral Vibe in reverse: the payload that it would send for an event, and how it reads a hook's answer (3.0.2)."""

from __future__ import annotations

from onehook.core import Event, HandlerError, Response
from onehook.hostkit import reverse
from onehook.hosts.vibe.wire import EVENTS, ID, MCP_JOINT, MCP_PREFIX, PROGRAM, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


LABEL = "Vibe"
ENV_FILE = ""
ANSWERS = ("decision", "reason", "system_message", "hook_specific_output")
losses = reverse.no_losses
variables = reverse.no_variables
_NAMES = reverse.native_names(TOOLS)
_LACKS = {"Bash": ("timeout",)}  # Vibe's is in seconds
_DIRECT = ("file_system.", "vibe.", "skill.")  # the tools that a model calls directly; it reaches the others inside run_typescript
_OUTPUTS = {"file_system.bash": "stdout", "file_system.read_file": "content"}


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Vibe would send for this event."""
    body: dict[str, Any] = {
        "session_id": event.session_id,
        "transcript_path": _folder(reverse.own_transcript(event, ID, ("/.vibe/",))),
        "cwd": event.cwd,
        "parent_session_id": "" if event.agent_id else None,
        "hook_event_name": name,
    }
    if name != "post_agent":
        native, given = _tool(event)
        nested = not native.startswith(_DIRECT)
        body["tool_name"] = native
        body["tool_call_id"] = reverse.sent_text(event, "tool_call_id", f"{PROGRAM}1:call_onehook:0:tool:0" if nested else "call_onehook")
        body["tool_input"] = given
        if name == "post_tool":
            body.update(_result(event, native))
    return body


def _folder(transcript: str) -> str:
    """The folder of a session: a journal that onehook wrote is in a folder inside it."""
    return transcript.rpartition("/journal/")[0] or transcript


def _result(event: Event, native: str) -> dict[str, Any]:
    text, error = event.result.text, event.error or None
    output: dict[str, Any] | None = None
    if native in _OUTPUTS and error is None:
        output = {_OUTPUTS[native]: text}
        if native == "file_system.bash":
            code = event.result.exit_code
            output = {"command": event.command, "returncode": code or 0, "stderr": "", **output, "timed_out": False, "was_truncated": False}
    status = "success" if error is None else "failure"
    return {"tool_status": status, "tool_output": output, "tool_output_text": error or text, "tool_error": error, "duration_ms": 0}


def _tool(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return f"{MCP_PREFIX}{event.mcp.server}{MCP_JOINT}{event.mcp.tool}", given
    native = _NAMES.get(tool, tool)
    return native, reverse.spelled(TOOLS.get(native), given, lacks=_LACKS.get(tool, ()))


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

_NO_REASON = {
    "permission": "Blocked by a pre_tool hook.",
    "result": "The tool result was blocked by a post_tool hook.",
    "retry": "A post_agent hook asked the agent to revise its response.",
}


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Vibe reads a hook's answer. Raises HandlerError for what it treats as a failed hook: unless strict, the action proceeds."""
    name = _HOST.name(event, native_event)
    if exit_code != 0:
        raise reverse.exit_problem(LABEL, exit_code, stderr.strip() or stdout.strip())
    if not stdout.strip():
        return Response()
    body = reverse.json_object(stdout.strip())
    if body is None:
        raise HandlerError(f"Vibe hook: what it printed on {name} is not a JSON object, so Vibe marks it as failed")
    shape, denied = EVENTS[name].shape, body.get("decision") == "deny"
    specific = reverse.object_in(body, "hook_specific_output")
    heard = Response(user_message=None if denied and shape == "permission" else reverse.text_in(body, "system_message"))
    if denied:
        heard.decision, heard.reason = "deny", str(body.get("reason") or _NO_REASON[shape])
    elif shape == "permission":
        updated = specific.get("tool_input")
        heard.modified_input = _HOST.rewrite(event, name, updated) if isinstance(updated, dict) else None
    if shape == "result":
        heard.additional_context = reverse.text_in(specific, "additional_context")
    return heard
