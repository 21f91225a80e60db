"""OpenHands CLI in reverse: the payload that it would send for an event, and how it reads a hook's answer (1.16.0)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import reverse
from onehook.hosts.openhands.wire import EVENTS, ID, MCP_KIND, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


LABEL = "OpenHands"
ENV_FILE = ""
ANSWERS = ("decision", "reason", "additionalContext", "continue")
losses = reverse.no_losses
_NAMES = {"Bash": "terminal", "Read": "file_editor", "Write": "file_editor", "Edit": "file_editor", "Agent": "task"}
_COMMANDS = {"Read": "view", "Write": "create", "Edit": "str_replace"}
# Every key of an action is sent, null if it is not set.
ACTIONS: dict[str, dict[str, Any]] = {
    "terminal": {"command": "", "is_input": False, "timeout": None, "reset": False, "kind": "TerminalAction"},
    "file_editor": {
        "command": "", "path": "", "file_text": None, "old_str": None, "new_str": None, "insert_line": None, "view_range": None,
        "kind": "FileEditorAction",
    },
    "task": {"description": None, "prompt": "", "subagent_type": "default", "resume": None, "max_turns": None, "kind": "TaskAction"},
}  # fmt: skip


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What OpenHands would send for this event: every key, null if it is empty."""
    body: dict[str, Any] = {
        "event_type": name, "tool_name": None, "tool_input": None, "tool_response": None,
        "message": event.prompt if name == "UserPromptSubmit" else None,
        "session_id": event.session_id, "working_dir": event.cwd, "metadata": {"reason": "agent_finished"} if name == "Stop" else {},
    }  # fmt: skip
    if name in reverse.TOOL_EVENTS:
        body["tool_name"], body["tool_input"] = _tool(event)
        if name == "PostToolUse":
            body["tool_response"] = _response(event, body["tool_name"])
    return body


def _response(event: Event, native: str) -> dict[str, Any]:
    result = event.result
    content = [{"cache_prompt": False, "type": "text", "text": result.text}]
    body: dict[str, Any] = {"content": content, "is_error": result.failed and result.exit_code is None}
    if native == "terminal":
        body.update(command=event.command, exit_code=result.exit_code, timeout=False, kind="TerminalObservation")
    return body


def variables(event: Event, project: str) -> dict[str, str]:
    """What OpenHands sets for its hooks."""
    own = {"OPENHANDS_PROJECT_DIR": project, "OPENHANDS_SESSION_ID": event.session_id, "OPENHANDS_EVENT_TYPE": event.event}
    return {**own, "OPENHANDS_TOOL_NAME": _tool(event)[0]} if event.tool else own


def _tool(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return event.mcp.tool, {"data": given, "kind": MCP_KIND}
    if tool == "Delete":  # only a patch deletes
        return "apply_patch", {"patch": reverse.patch_of(event.changes, event.cwd), "kind": "ApplyPatchAction"}
    native = _NAMES.get(tool, tool)
    action = ACTIONS.get(native)
    spelled = reverse.spelled(TOOLS.get(native), given)
    if action is None:
        return native, spelled
    known = {key: value for key, value in spelled.items() if key in action and key != "timeout"}
    return native, {**action, **known, **({"command": _COMMANDS[tool]} if native == "file_editor" else {})}


def _again(event: Event) -> dict[str, Any]:
    """The original payload with the current input. The arguments of an MCP tool are below a key of the input."""
    body = dict(event.native)
    if event.mcp is not None:
        body["tool_input"] = {**body["tool_input"], "data": event.tool_input}
    elif event.tool:
        body["tool_input"] = reverse.sent_again(body.get("tool_input"), event.tool_input)
    return body


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload, _again)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

_NO_REASON = "Blocked by hook"


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How OpenHands reads a hook's answer. Raises HandlerError for what it treats as a failed hook: the action proceeds there.

    JSON is read whatever the exit code; exit code 2, `decision: deny` and `continue: false` each deny.
    """
    name = _HOST.name(event, native_event)
    shape, text, said = EVENTS[name].shape, stdout.strip(), stderr.strip()
    if shape == "nothing":
        return Response()
    body = reverse.json_object(text) or {}
    decision = body.get("decision")
    denied = exit_code == 2 or (isinstance(decision, str) and decision.lower() == "deny") or ("continue" in body and not body["continue"])
    if not denied and exit_code != 0:
        raise reverse.exit_problem(LABEL, exit_code, said)
    if not denied and reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    context = body.get("additionalContext")
    heard = Response(additional_context=str(context) if context and shape == "prompt" else None)
    if denied:
        reason = str(body.get("reason") or "") or said or _NO_REASON
        heard.decision, heard.reason = "deny", str(context) if context and shape == "stop" else reason
    return heard
