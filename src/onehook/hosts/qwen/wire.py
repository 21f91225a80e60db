"""Qwen Code: what it sends and what it obeys (0.24.4; see docs/hosts/qwen.md).

Qwen Code has Claude Code's keys but other rules: on exit 2 stdout is discarded, so every answer is exit 0 with JSON; of several hooks the
last permissionDecision wins, so an allow is never written before a tool; and an empty answer prints nothing, since two answers without a
decision refuse a permission request.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Facts, Output, PayloadError
from onehook.hostkit.effects import (
    CERTAIN,
    HONOURED,
    NO_CHANNEL,
    SILENT,
    Cap,
    Caps,
    Mark,
    Results,
    Row,
    Traits,
    dialog_answer,
    dropped,
    halted,
)
from onehook.hostkit.tools import Tool, absolute, begun, take_tool, tool_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onehook.core import Response

ID = "qwen"
TRAITS = Traits(
    skills={"skill": "skill", "UserPromptExpansion": "command_name"},
    variables=("QWEN_CODE", "QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
)

EVENTS = {
    "PreToolUse": Row("PreToolUse", "permission", gates=True),
    "PermissionRequest": Row("PermissionRequest", "request", gates=True),
    "UserPromptSubmit": Row("UserPromptSubmit", "block", gates=True),
    "UserPromptExpansion": Row("UserPromptExpansion", "block", gates=True),
    "PostToolBatch": Row("PostToolBatch", "block", gates=True),
    "PostToolUse": Row("PostToolUse", "feedback"),
    "PostToolUseFailure": Row("PostToolUseFailure", "failure"),
    "Stop": Row("Stop", "stop"),
    "SubagentStop": Row("SubagentStop", "continue"),
    "SessionStart": Row("SessionStart", "context"),
    "SubagentStart": Row("SubagentStart", "context"),
    "PreCompact": Row("PreCompact", "context"),
    "TodoCreated": Row("TodoCreated", "refuse", gates=True),
    "TodoCompleted": Row("TodoCompleted", "refuse", gates=True),
    "SessionEnd": Row("SessionEnd", "nothing"),
    "SessionDelete": Row("SessionDelete", "nothing"),
    "StopFailure": Row("StopFailure", "nothing"),
    "PostCompact": Row("PostCompact", "nothing"),
    "PermissionDenied": Row("PermissionDenied", "nothing"),
    "Notification": Row("Notification", "nothing"),
    "MessageDisplay": Row("MessageDisplay", "nothing"),
    "InstructionsLoaded": Row("InstructionsLoaded", "nothing"),
}

_ONLY_REQUEST = "Qwen Code takes a rewrite only in the answer to a PermissionRequest, with an allow"
_NO_NOTE = dropped("Qwen Code takes a reason only with a denial")
_NO_MESSAGE = dropped("Qwen Code shows a hook's message only on Stop")
_NO_ASK = dropped("only PreToolUse can ask")
_NOT_BLOCKABLE = dropped("Qwen Code cannot stop this event")
_CONTEXT_LOST = dropped("Qwen Code drops the context of this event")
_NO_OUTPUT = dropped("Qwen Code cannot replace a result")
_OWN_DIALOG = dropped("Qwen Code shows its own dialog without it")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": _NO_MESSAGE, "modified_input": dropped(_ONLY_REQUEST), "additional_context": _CONTEXT_LOST,
}  # fmt: skip
_PLAIN, _WITH_CONTEXT = Caps(_BASE), Caps(_BASE, additional_context=HONOURED)
CAPS = {
    # The documentation names updatedInput and additionalContext here too; 0.24.4 reads neither.
    "permission": Caps(_BASE, ask=HONOURED),
    # ask = no answer: the dialog that was about to appear does appear.
    "request": Caps(_BASE, ask=HONOURED, ask_reason=_OWN_DIALOG, modified_input=Cap("limited", _ONLY_REQUEST, beside="allow")),
    "block": _WITH_CONTEXT,
    "feedback": _WITH_CONTEXT.but(modified_output=_NO_OUTPUT, withhold=HONOURED),
    "failure": _WITH_CONTEXT.but(modified_output=_NO_OUTPUT),  # (0.24.4 does not read `continue` on it)
    "stop": Caps(_BASE, user_message=HONOURED),
    "continue": _PLAIN,
    "context": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL, additional_context=HONOURED),
    "refuse": _PLAIN,
    "nothing": SILENT,
}

TOOLS = {
    "run_shell_command": Tool("Bash", shell="system"),
    "monitor": Tool("Bash"),  # carries a command
    "read_file": Tool("Read", unless="absolute_path"),
    "write_file": Tool("Write"),
    "edit": Tool("Edit"),
    "replace": Tool("Edit"),  # its name in older versions
    "notebook_edit": Tool("Edit", file_path="notebook_path", new_string="new_source"),
    "grep_search": Tool("Grep"),
    "glob": Tool("Glob"),
    "list_directory": Tool("List"),
    "web_fetch": Tool("WebFetch"),
    "web_search": Tool("WebSearch"),
    "agent": Tool("Agent"),
    "task": Tool("Agent"),  # its name in older versions
    "zoom_image": Tool("Read"),
    "display_image": Tool("Read"),
    "artifact": Tool("Read"),  # publishes a file
    "lsp": Tool("Read", unless="operation", file_path="filePath"),
}
RESULTS = Results(
    {"*": "llmContent"}, heads=("Command: *\nOutput: ",), empty="(empty)", marker="Exit Code: ",
    tails=("Process Group PGID: #", "Background PIDs: #", "Signal: #", "Exit Code: #", "Error: #"),
)  # fmt: skip
SOURCES = {"branch": "fork"}  # why a session starts
MODES = ("default", "plan", "auto_edit", "auto", "yolo")


_ANY = {"hook_event_name": EVENTS, "session_id": str, "timestamp": str, "transcript_path": str}
MARKS = (Mark(CERTAIN, _ANY, folder="/.qwen/"), Mark(9, {**_ANY, "permission_mode": MODES}), Mark(2, _ANY))
SENDS = ("permission_mode", "prompt_id", "timestamp")


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Qwen Code", EVENTS, payload, event_name, SOURCES)
    # UserPromptSubmit comes before every request to the model; after a tool call its prompt is empty.
    if row.event == "UserPromptSubmit" and not isinstance(payload.get("prompt"), str):
        raise PayloadError("UserPromptSubmit without a prompt")
    event.echo = row.event == "UserPromptSubmit" and not event.prompt and "submitted_prompt" not in payload
    if "tool_name" in payload or row.shape in ("permission", "request"):
        _take_tool(event, payload)
    return event


def _take_tool(event: Event, payload: dict[str, Any]) -> None:
    name, given = payload.get("tool_name"), payload.get("tool_input")
    event.tool_response = payload.get("tool_response")
    if name == "read_file":
        take_tool(event, TOOLS, name, given, _read_facts, spell=_read_keys)
    else:
        take_tool(event, TOOLS, name, given)


def _read_facts(event: Event) -> Facts:
    """The path is file_path, or absolute_path in older versions; a call may have both, and a guard must see both."""
    given = [tool_text(event, key) for key in ("file_path", "absolute_path")]
    return Facts(paths=list(dict.fromkeys(absolute(path, event.cwd) for path in given if path)))


def _read_keys(event: Event, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite whichever of the two keys the call has."""
    spelled = dict(keys)
    if "file_path" in spelled and "absolute_path" in event.tool_input:
        spelled["absolute_path"] = spelled["file_path"]
        if "file_path" not in event.tool_input:
            del spelled["file_path"]
    return spelled


def caps(event: Event) -> Caps:
    shape = EVENTS[event.native_event].shape
    # Todo events come twice: before the list is written, and after, when nothing can be refused.
    return CAPS["nothing" if shape == "refuse" and event.native.get("phase") == "postWrite" else shape]


def render(event: Event, response: Response, chatter: bool) -> Output:
    name = event.native_event
    shape = EVENTS[name].shape
    denied = response.decision == "deny"
    context = response.additional_context
    body: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if response.halt:
        body = halted(response, body)
    elif denied and shape in ("feedback", "failure"):
        # A block after the tool has no effect here; the context tells the model instead, which is what a denial is for.
        context = response.reason if context is None else f"{response.reason}\n\n{context}"
    elif denied and shape != "request":
        body["decision"] = "block"
        body["reason"] = response.reason
    if shape == "permission" and response.decision in ("deny", "ask"):
        if denied:
            body["continue"] = False  # so that the denial takes effect if another hook allows after it
        specific["permissionDecision"] = response.decision
        if response.reason is not None:
            specific["permissionDecisionReason"] = response.reason
    if shape == "request" and response.decision in ("allow", "deny"):
        specific["decision"] = dialog_answer(response)
    if context is not None:
        specific["additionalContext"] = context
    if response.user_message is not None:
        body["systemMessage"] = response.user_message
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": name, **specific}
    # If stdout were empty, stderr would be read as the answer: an allow.
    return Output(dumps(body) if body or chatter else "")
