"""Kimi Code: what it sends and what it obeys (2.1.0; see docs/hosts/kimi.md).

Kimi Code has Claude Code's names for events and tools. A hook denies a tool with Claude Code's JSON, which keeps the reason apart from
anything else on stderr; it denies a prompt or, once in a turn, a stop only with exit 2 and all of stderr as the reason. At a prompt it can
add context. All other events are reported without waiting for an answer.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Output, PayloadError
from onehook.hostkit.effects import CERTAIN, HONOURED, SILENT, Caps, Mark, Results, Row, StandIn, Traits, dropped
from onehook.hostkit.tools import Tool, begun, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "kimi"
TRAITS = Traits(skills={"Skill": "skill"}, stand_ins={"PostCompact": StandIn("SessionStart", source="compact")})

EVENTS = {
    "PreToolUse": Row("PreToolUse", "permission", gates=True),
    "UserPromptSubmit": Row("UserPromptSubmit", "prompt", gates=True),
    "Stop": Row("Stop", "stop"),  # also sent, indistinguishably, when a subagent ends
    "PostToolUse": Row("PostToolUse", "nothing"),
    "PostToolUseFailure": Row("PostToolUseFailure", "nothing"),  # also for a command that exits with an error, and for a denied call
    "PermissionRequest": Row("PermissionRequest", "nothing"),
    "SessionStart": Row("SessionStart", "nothing"),
    "SessionEnd": Row("SessionEnd", "nothing"),
    "SubagentStart": Row("SubagentStart", "nothing"),
    "SubagentStop": Row("SubagentStop", "nothing"),
    "PreCompact": Row("PreCompact", "nothing"),
    "PostCompact": Row("PostCompact", "nothing"),
    "StopFailure": Row("StopFailure", "nothing"),
    "Interrupt": Row("Interrupt", "nothing"),
    "Notification": Row("Notification", "nothing"),
}

_ASK = dropped("Kimi Code ignores it, and runs the tool if its permission mode allows that")
_NO_ASK = dropped("Kimi Code cannot ask on this event")
_NO_REWRITE = dropped("Kimi Code takes no rewrite from hooks")
_NO_NOTE = dropped("Kimi Code takes a reason only with a denial")
_NO_MESSAGE = dropped("Kimi Code has no message for the user beside a reason")
_CONTEXT_LOST = dropped("Kimi Code takes context at a prompt only")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": _NO_MESSAGE, "modified_input": _NO_REWRITE, "additional_context": _CONTEXT_LOST,
}  # fmt: skip
CAPS = {
    "permission": Caps(_BASE, ask=_ASK),
    "prompt": Caps(_BASE, additional_context=HONOURED),
    "stop": Caps(_BASE),
    "nothing": SILENT,
}
caps = Caps.by_shape(EVENTS, CAPS)

_PATH = {"file_path": "path"}
TOOLS = {
    "Bash": Tool("Bash"),
    "Read": Tool("Read", offset="line_offset", limit="n_lines", **_PATH),
    "Write": Tool("Write", **_PATH),
    "Edit": Tool("Edit", **_PATH),
    "Grep": Tool("Grep"),
    "Glob": Tool("Glob"),
    "FetchURL": Tool("WebFetch"),
    "Agent": Tool("Agent|Task"),
}
RESULTS = Results(
    tails=("Process exited with code #\nCommand failed with exit code: #.", "Command failed with exit code: #."), marker="exit code: ",
    empty="Command executed successfully.",
)  # fmt: skip
MARKS = (Mark(CERTAIN, {"hook_event_name": EVENTS, "session_id": str, "client_type": str}),)
SENDS = ("client_type",)


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Kimi Code", EVENTS, payload, event_name)
    if row.event == "UserPromptSubmit":
        event.prompt = _prompt(payload.get("prompt"))
    for field, key in (("agent_type", "agent_name"), ("last_assistant_message", "response")):
        if isinstance(payload.get(key), str):
            setattr(event, field, payload[key])
    error = payload.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        event.error = error["message"]
    if "tool_name" in payload or row.shape == "permission":
        event.tool_response = payload.get("tool_output")
        take_tool(event, TOOLS, payload.get("tool_name"), payload.get("tool_input"))
    return event


def _prompt(parts: object) -> str:
    """A prompt is a list of parts; those that are not text contribute nothing."""
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise PayloadError("UserPromptSubmit without a prompt")
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def render(event: Event, response: Response, chatter: bool) -> Output:
    if response.decision == "deny" and EVENTS[event.native_event].shape == "permission":
        return Output(dumps({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": response.reason or ""}}))
    if response.decision == "deny":
        return Output("", 2, response.reason or "")
    # Plain text would work too, but text that looks like JSON would be read as an answer.
    return Output(dumps({"message": response.additional_context}) if response.additional_context is not None else "")
