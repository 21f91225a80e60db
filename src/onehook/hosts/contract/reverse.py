"""The open contract in reverse: {"tool_name", "tool_input"} for an event, and what a hook's answer means."""

from __future__ import annotations

from onehook.core import Event, HandlerError, Response
from onehook.hostkit import reverse
from onehook.hosts.contract.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.hostkit.reverse import Spec

LABEL = "the open contract"
ENV_FILE = ""
ANSWERS = ("decision", "reason", "message", "lint_command")
losses = reverse.no_losses
variables = reverse.no_variables
_NAMES = reverse.native_names(TOOLS)
_LIFECYCLE = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "beforeSubmitPrompt",
    "stop": "Stop",
    "preCompact": "PreCompact",
    "sessionEnd": "SessionEnd",
}
_SHAPES = {"Shell": ("command",), "Write": ("file_path", "content"), "Read": ("file_path",)}  # the contract fixes these three
_STOP = {"transcript_path": "", "file_path": "", "stop_hook_active": False, "last_assistant_message": ""}
FIELDS: dict[str, dict[str, Any]] = {
    "sessionStart": {"source": ""},
    "beforeSubmitPrompt": {"prompt": ""},
    "stop": _STOP,
    "preCompact": {"trigger": "auto"},
    "sessionEnd": {"reason": "other"},
}


def _payload(event: Event, name: str) -> dict[str, Any]:
    """The contract's two keys. They do not distinguish before from after a call; for that, the caller passes postToolUse."""
    if name in _LIFECYCLE:
        common = {"session_id": event.session_id, "cwd": event.cwd}
        return {"tool_name": _LIFECYCLE[name], "tool_input": {**common, **reverse.filled(event, FIELDS[name])}}
    tool, given = reverse.call_of(event)
    native = event.mcp.name if event.mcp is not None else _NAMES.get(tool, tool)
    return {"tool_name": native, "tool_input": reverse.spelled(TOOLS.get(native), given, _SHAPES.get(native))}


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload)
payload, parts = _HOST.payload, _HOST.parts

# ---- answers ----

_FIELDS: Spec = {"decision": ("allow", "deny"), "reason": str, "message": str, "lint_command": str}


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """What a hook's answer means by the contract. Raises HandlerError if the exit code is neither 0 nor 2, or there is no JSON."""
    _HOST.name(event, native_event)
    if exit_code not in (0, 2):
        raise reverse.exit_problem(LABEL, exit_code, stderr)
    text = stdout.strip()
    body = reverse.json_object(text) if text else {}
    problem = "the answer is not a JSON object" if body is None else reverse.problem_in(body, _FIELDS)
    if exit_code == 2:
        heard = _heard(event, body) if body is not None and not problem else Response()
        heard.decision = "deny"
        heard.reason = heard.reason or stderr.strip() or (text if body is None else "") or "blocked by a hook"
        return heard
    if problem or body is None:
        raise HandlerError(f"the contract's hook: {problem}")
    heard = _heard(event, body)
    if heard.decision == "deny" and not heard.reason:
        heard.reason = "blocked by a hook"
    return heard


def _heard(event: Event, body: dict[str, Any]) -> Response:
    heard = Response(body.get("decision"), body.get("reason"), message=body.get("message"), lint_command=body.get("lint_command"))
    if event.host != ID:  # no other host has a `message`; it is for the user there
        heard.user_message, heard.message = heard.message, None
    return heard
