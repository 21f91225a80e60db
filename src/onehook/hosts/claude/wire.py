"""Claude Code: what it sends and what it obeys (2.1.325; see docs/hosts/claude.md)."""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Output, PayloadError
from onehook.hostkit.effects import Becomes, Beside, Hollow, Row
from onehook.hostkit.tools import Tool, take_common, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response
    from onehook.hostkit.effects import Caps, StandIn

ID = "claude"
UNREADABLE = ("", 1)
ERROR_EXIT = 1
# Cursor and Copilot also run the hooks of Claude's settings files, with payloads and answers of their own.
BORROWED_BY = (("cursor", "cursor_version"), ("copilot", "timestamp"))
STAND_INS: dict[str, StandIn] = {}

EVENTS = {
    "PreToolUse": Row("PreToolUse", "permission", gates=True),
    "PermissionRequest": Row("PermissionRequest", "request", gates=True),
    "UserPromptSubmit": Row("UserPromptSubmit", "block", gates=True),
    "UserPromptExpansion": Row("UserPromptExpansion", "block", gates=True),
    "PostToolUse": Row("PostToolUse", "feedback"),
    "PostToolUseFailure": Row("PostToolUseFailure", "feedback"),
    "PostToolBatch": Row("PostToolBatch", "block", gates=True),
    "Stop": Row("Stop", "continue"),
    "SubagentStop": Row("SubagentStop", "continue"),
    "SessionStart": Row("SessionStart", "context"),
    "SubagentStart": Row("SubagentStart", "context"),
    "Setup": Row("Setup", "context"),
    "Notification": Row("Notification", "context"),
    "PostModelSwitch": Row("PostModelSwitch", "context"),
    "PreCompact": Row("PreCompact", "refuse", gates=True),
    "TaskCreated": Row("TaskCreated", "refuse", gates=True),
    "TaskCompleted": Row("TaskCompleted", "refuse"),
    "TeammateIdle": Row("TeammateIdle", "refuse"),
    "ConfigChange": Row("ConfigChange", "refuse", gates=True),
    "PreModelSwitch": Row("PreModelSwitch", "switch", gates=True),
    "Elicitation": Row("Elicitation", "refuse", gates=True),
    "ElicitationResult": Row("ElicitationResult", "refuse", gates=True),
    "PostCompact": Row("PostCompact", "message"),
    "PermissionDenied": Row("PermissionDenied", "message"),
    "CwdChanged": Row("CwdChanged", "message"),
    "FileChanged": Row("FileChanged", "message"),
    "DirectoryAdded": Row("DirectoryAdded", "message"),
    "InstructionsLoaded": Row("InstructionsLoaded", "message"),
    "SessionEnd": Row("SessionEnd", "nothing"),
    "StopFailure": Row("StopFailure", "nothing"),
    "MessageDisplay": Row("MessageDisplay", "nothing"),
    "WorktreeRemove": Row("WorktreeRemove", "nothing"),
    "WorktreeCreate": Row("WorktreeCreate", "nothing"),
}

_ONLY_BEFORE = "Claude Code takes a rewrite only before a tool runs"
_NOT_BLOCKABLE = "Claude Code cannot stop this event; the reason is shown to the user"
_OWN_DIALOG = "Claude Code's own dialog is shown, without it"
_NO_ASK = "only PreToolUse can ask"
CAPS: dict[str, Caps] = {
    "permission": {
        "approve": True, "allow": True, "deny": True, "ask": True, "reason": True, "note": True, "allow_reason": True, "user_message": True,
        "modified_input": True, "additional_context": True,
    },
    # ask = say nothing, and the dialog that was about to be shown is shown.
    "request": {
        "allow": True, "deny": True, "ask": True, "reason": True, "ask_reason": _OWN_DIALOG, "user_message": True,
        "modified_input": Beside("allow", "Claude Code takes a rewrite here only with an allow"),
    },
    "block": {
        "allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": True,
    },
    "feedback": {
        "allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": True,
    },
    "continue": {
        "allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": True,
    },
    # A block with exit 2 is the documented form of a denial on every event; here Claude Code shows it to the user and goes on.
    "context": {
        "allow": True, "deny": Hollow(_NOT_BLOCKABLE), "ask": _NO_ASK, "reason": True, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": True,
    },
    "refuse": {"allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "user_message": True, "modified_input": _ONLY_BEFORE},
    "switch": {
        "allow": True, "deny": True, "ask": True, "reason": True, "note": True, "allow_reason": True, "user_message": True,
        "modified_input": _ONLY_BEFORE,
    },
    "message": {
        "allow": True, "deny": _NOT_BLOCKABLE, "ask": _NO_ASK, "note": Becomes("user_message"), "user_message": True,
        "modified_input": _ONLY_BEFORE,
    },
    "nothing": {"allow": True, "silent": True},
}  # fmt: skip

TOOLS = {
    "Bash": Tool("Bash"),
    "PowerShell": Tool("Bash"),
    "Monitor": Tool("Bash"),  # carries a command; the host's own Bash matcher sees it too
    "Read": Tool("Read"),
    "Write": Tool("Write"),
    "Edit": Tool("Edit"),
    "MultiEdit": Tool("Edit"),
    "NotebookEdit": Tool("Edit", file_path="notebook_path", new_string="new_source"),
    "Grep": Tool("Grep"),
    "Glob": Tool("Glob"),
    "WebFetch": Tool("WebFetch"),
    "WebSearch": Tool("WebSearch"),
    "Agent": Tool("Agent|Task"),
    "Task": Tool("Agent"),
}
_MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")


def score(payload: dict[str, Any]) -> int:
    name = payload.get("hook_event_name")
    if not isinstance(name, str) or name not in EVENTS or not isinstance(payload.get("session_id"), str):
        return 0
    # Others that speak Claude's words: each shows itself by what Claude Code never sends.
    if any(key in payload for key in ("timestamp", "cursor_version", "conversation_id")):
        return 0
    # Codex names the turn on most events; Claude Code does so on MessageDisplay alone. Codex sends null for a missing transcript.
    if ("turn_id" in payload and name != "MessageDisplay") or payload.get("transcript_path", "") is None:
        return 0
    if payload.get("permission_mode", "default") not in _MODES:
        return 0
    transcript = payload.get("transcript_path")
    where = transcript.replace("\\", "/") if isinstance(transcript, str) else ""
    if "/.factory/" in where or "/.codex/" in where or where.rpartition("/")[2].startswith("rollout-"):
        return 0
    known = "/.claude/" in where or "prompt_id" in payload or "effort" in payload
    return 9 if known else 4


def parse(payload: dict[str, Any], event_name: str) -> Event:
    name = payload.get("hook_event_name", event_name)
    row = EVENTS.get(name) if isinstance(name, str) else None
    if row is None:
        raise PayloadError(f"Claude Code has no event {name!r}")
    event = Event(row.event, ID, payload)
    event.native_event = name
    take_common(event, payload)
    if "tool_name" in payload or row.shape in ("permission", "request"):
        take_tool(event, TOOLS, payload.get("tool_name"), payload.get("tool_input"))
        event.tool_response = payload.get("tool_response")
    return event


def caps(event: Event) -> Caps:
    return CAPS[EVENTS[event.native_event].shape]


def render(event: Event, response: Response, chatter: bool) -> Output:
    name = event.native_event
    shape = EVENTS[name].shape
    denied = response.decision == "deny"
    specific: dict[str, Any] = {}
    body: dict[str, Any] = {}
    if shape in ("permission", "switch"):
        if response.decision:
            specific["permissionDecision"] = response.decision
        if response.reason is not None:
            specific["permissionDecisionReason"] = response.reason
        if response.modified_input is not None:
            specific["updatedInput"] = response.modified_input
    elif shape == "request" and response.decision in ("allow", "deny"):
        specific["decision"] = _dialog_answer(response)
    elif denied:
        body["decision"] = "block"
        body["reason"] = response.reason
    if response.additional_context is not None:
        specific["additionalContext"] = response.additional_context
    if response.user_message is not None:
        body["systemMessage"] = response.user_message
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": name, **specific}
    # On PermissionRequest only the JSON decision is read, and exit 2 adds an error text beside it.
    exit_code = 2 if denied and shape != "request" else 0
    return Output(dumps(body) if body else "", exit_code, response.reason or "" if exit_code == 2 else "")


def _dialog_answer(response: Response) -> dict[str, Any]:
    if response.decision == "deny":
        return {"behavior": "deny", "message": response.reason}
    answer: dict[str, Any] = {"behavior": "allow"}
    if response.modified_input is not None:
        answer["updatedInput"] = response.modified_input
    return answer
