"""Codex CLI: what it sends and what it obeys (0.166.0; see docs/hosts/codex.md).

Codex's output schemas reject unknown keys, and a rejected answer is a failed hook: the tool runs. So only keys that the schema of the
event names are written here.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Output
from onehook.hostkit.effects import CERTAIN, HONOURED, NO_CHANNEL, SILENT, Cap, Caps, Mark, Results, Row, Traits, dropped
from onehook.hostkit.tools import Tool, begun, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "codex"
TRAITS = Traits(variables=("CODEX_SANDBOX", "CODEX_THREAD_ID"))  # no skills: it reads a skill's file in a shell

EVENTS = {
    "PreToolUse": Row("PreToolUse", "permission", gates=True),
    "PermissionRequest": Row("PermissionRequest", "request", gates=True),
    "UserPromptSubmit": Row("UserPromptSubmit", "block", gates=True),
    "PostToolUse": Row("PostToolUse", "feedback"),
    "Stop": Row("Stop", "continue"),
    "SubagentStop": Row("SubagentStop", "continue"),
    "SessionStart": Row("SessionStart", "halt_context"),
    "SubagentStart": Row("SubagentStart", "context"),
    "PreCompact": Row("PreCompact", "halt", gates=True),
    "PostCompact": Row("PostCompact", "halt"),
    "Interrupt": Row("Interrupt", "message"),
    "SessionEnd": Row("SessionEnd", "nothing"),
    "PreModelRequest": Row("PreModelRequest", "nothing"),
    "PostModelRequest": Row("PostModelRequest", "nothing"),
}

_NO_ASK = dropped("Codex rejects it as unsupported and runs the tool")
_NEVER_ASKS = dropped("Codex cannot ask on this event")
_ONLY_BEFORE = dropped("Codex takes a rewrite only on PreToolUse")
_NO_NOTE = dropped("Codex takes a reason only with a denial")
_REQUEST_REWRITE = dropped("Codex rejects a rewrite in the answer to a permission request")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NEVER_ASKS, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": HONOURED, "modified_input": _ONLY_BEFORE, "additional_context": HONOURED,
}  # fmt: skip
_PLAIN = Caps(_BASE)
CAPS = {
    "permission": Caps(_BASE, ask=_NO_ASK, modified_input=HONOURED),
    "request": Caps(_BASE, ask=HONOURED, ask_reason=_NO_NOTE, modified_input=_REQUEST_REWRITE, additional_context=NO_CHANNEL),
    "block": _PLAIN,
    "feedback": Caps(_BASE, modified_output=HONOURED),
    "continue": Caps(
        _BASE, additional_context=Cap("moved", "Codex takes no context on a stop; it is shown to the user instead", "user_message")
    ),
    "halt_context": _PLAIN,
    "context": Caps(_BASE, deny=NO_CHANNEL, ask=NO_CHANNEL, reason=NO_CHANNEL),
    "halt": Caps(_BASE, additional_context=NO_CHANNEL),
    "message": Caps({"allow": HONOURED, "user_message": HONOURED}),
    "nothing": SILENT,
}
caps = Caps.by_shape(EVENTS, CAPS)

TOOLS = {
    "Bash": Tool("Bash"),
    # Every file change is a patch, so handlers for Edit and for Write both see it, as Codex's own matchers do.
    "apply_patch": Tool("Edit|Write", patch="command"),
    "spawn_agent": Tool("Agent", prompt="message"),
    "collaborationspawn_agent": Tool("Agent", prompt="message"),  # the same in code mode (0.166.0)
    "view_image": Tool("Read", file_path="path"),
}
# The output of a command arrives unchanged, its exit code only in transcripts; the result of a patch has text around it.
RESULTS = Results(heads=("Exit code: *\nOutput:\n",), framed=("Edit",), marker="Exit code: ")

_ANY = {"hook_event_name": EVENTS, "session_id": str}
MARKS = (
    Mark(CERTAIN, _ANY, file="rollout-"),
    Mark(9, {**_ANY, "turn_id": object}),
    # SessionStart and SessionEnd have no turn. The transcript of an ephemeral session is null.
    Mark(8, {**_ANY, "transcript_path": None}),
    Mark(8, {**_ANY, "hook_event_name": ("SessionStart",), "model": object, "permission_mode": object}),
)
SENDS = ("permission_mode", "turn_id")


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Codex", EVENTS, payload, event_name)
    if "tool_name" in payload or row.shape in ("permission", "request"):
        given = payload.get("tool_input")
        # If the arguments of a function tool were not JSON, the raw string arrives.
        take_tool(event, TOOLS, payload.get("tool_name"), {"input": given} if isinstance(given, str) else given)
        event.tool_response = payload.get("tool_response")
    return event


def render(event: Event, response: Response, chatter: bool) -> Output:
    shape = EVENTS[event.native_event].shape
    body: dict[str, Any] = {}
    if response.user_message is not None:
        body["systemMessage"] = response.user_message
    specific = _specific(shape, response)
    if response.additional_context is not None:
        specific["additionalContext"] = response.additional_context
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": event.native_event, **specific}
    if response.modified_output is not None:
        return Output(dumps({**body, "decision": "block", "reason": _instead(event, response)}))
    if response.decision != "deny":
        return Output(dumps(body) if body else "")
    if shape in ("halt", "halt_context"):
        body["continue"] = False
        body["stopReason"] = response.reason
        return Output(dumps(body))  # exit 2 is a failed hook on these events
    if shape in ("block", "feedback", "continue"):
        body["decision"] = "block"
        body["reason"] = response.reason
    # On exit 2 Codex discards stdout, and all of stderr is the reason. So that form is used only if the answer contains nothing else.
    if chatter or response.user_message is not None or response.additional_context is not None:
        return Output(dumps(body))
    return Output(dumps(body), 2, response.reason or "", alone=True)


def _instead(event: Event, response: Response) -> str:
    """The model gets the reason for a block instead of the result. (continue: false does that too, but not in code mode.)"""
    from onehook.hostkit.results import framed

    text = framed(event, RESULTS, response.modified_output)
    return text if response.decision != "deny" else f"{text}\n\n{response.reason}"


def _specific(shape: str, response: Response) -> dict[str, Any]:
    denied = response.decision == "deny"
    if shape == "permission":
        if denied:
            return {"permissionDecision": "deny", "permissionDecisionReason": response.reason}
        # A bare allow is rejected; with a rewrite it is the only form that is accepted.
        return {} if response.modified_input is None else {"permissionDecision": "allow", "updatedInput": response.modified_input}
    if shape == "request" and response.decision in ("allow", "deny"):
        return {"decision": {"behavior": "deny", "message": response.reason} if denied else {"behavior": "allow"}}
    return {}
