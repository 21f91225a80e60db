"""Claude Code: what it sends and what it obeys (2.1.325; see docs/hosts/claude.md)."""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Facts, Output, PayloadError
from onehook.hostkit.effects import (
    ABSENT,
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
    given,
    halted,
)
from onehook.hostkit.tools import Tool, begun, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onehook.core import Response

ID = "claude"
TRAITS = Traits(
    skills={"Skill": "skill", "UserPromptExpansion": "command_name"},
    variables=("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_ENV_FILE", "CLAUDE_PID", "CLAUDE_PROJECT_DIR"),
)

EVENTS = {
    "PreToolUse": Row("PreToolUse", "permission", gates=True),
    "PermissionRequest": Row("PermissionRequest", "request", gates=True),
    "UserPromptSubmit": Row("UserPromptSubmit", "block", gates=True),
    "UserPromptExpansion": Row("UserPromptExpansion", "block", gates=True),
    "PostToolUse": Row("PostToolUse", "feedback"),
    "PostToolUseFailure": Row("PostToolUseFailure", "failure"),
    "PostToolBatch": Row("PostToolBatch", "block", gates=True),
    "Stop": Row("Stop", "continue"),
    "SubagentStop": Row("SubagentStop", "continue"),
    "SessionStart": Row("SessionStart", "context"),
    "SubagentStart": Row("SubagentStart", "context"),
    "Setup": Row("Setup", "context"),
    "Notification": Row("Notification", "context"),
    "PostModelSwitch": Row("PostModelSwitch", "context"),
    "PreCompact": Row("PreCompact", "compaction", gates=True),
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

_ONLY_BEFORE = dropped("Claude Code takes a rewrite only before a tool runs")
_NOT_BLOCKABLE = "Claude Code cannot stop this event; the reason is shown to the user"
_OWN_DIALOG = dropped("Claude Code shows its own dialog without it")
_NO_ASK = dropped("only PreToolUse can ask")
_NO_PLACE = Cap("limited", "Claude Code's own value of this result has no place for text")
_TEXT_ALONE = "Claude Code takes it here as plain text, so with nothing else beside it"
_FAILED = dropped("Claude Code cannot replace the error of a tool")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "user_message": HONOURED, "modified_input": _ONLY_BEFORE,
    "additional_context": HONOURED,
}  # fmt: skip
_PLAIN = Caps(_BASE)
CAPS = {
    "permission": Caps(
        _BASE, approve=HONOURED, ask=HONOURED, note=HONOURED, allow_reason=HONOURED, modified_input=HONOURED,
    ),
    # ask = no answer: the dialog that was about to appear does appear.
    "request": Caps(
        _BASE, ask=HONOURED, ask_reason=_OWN_DIALOG, additional_context=NO_CHANNEL,
        modified_input=Cap("limited", "Claude Code takes a rewrite here only with an allow", beside="allow"),
    ),
    "block": _PLAIN,
    "feedback": Caps(_BASE, modified_output=_NO_PLACE, withhold=HONOURED),
    "failure": Caps(_BASE, modified_output=_FAILED),  # (2.1.325 does not read `continue` on it)
    "continue": _PLAIN,
    # A block with exit 2 is the documented form of a denial on every event; here Claude Code shows it to the user and continues.
    "context": Caps(_BASE, deny=Cap("unheeded", _NOT_BLOCKABLE)),
    "refuse": Caps(_BASE, additional_context=NO_CHANNEL),
    # Plain text becomes instructions for the compaction; `additionalContext` does not (seen with 2.1.325).
    "compaction": Caps(_BASE, additional_context=Cap("limited", _TEXT_ALONE, beside="nothing")),
    "switch": Caps(_BASE, ask=HONOURED, note=HONOURED, allow_reason=HONOURED, additional_context=NO_CHANNEL),
    "message": Caps(
        _BASE, deny=dropped(_NOT_BLOCKABLE), reason=NO_CHANNEL, note=Cap("moved", becomes="user_message"), additional_context=NO_CHANNEL,
    ),
    "nothing": SILENT,
}  # fmt: skip
caps = Caps.by_shape(EVENTS, CAPS)

TOOLS = {
    "Bash": Tool("Bash"),
    "PowerShell": Tool("Bash", shell="powershell"),
    # Carries a command, and the host's own Bash matcher sees it too; or a WebSocket instead.
    "Monitor": Tool("Bash", unless="ws"),
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
    # These upload a file. Their other actions do not involve one.
    "Artifact": Tool("Read", unless="action"),
    "Projects": Tool("Read", unless="method", file_path="local_path"),
}
# The keys of each tool's result that hold its output. Claude Code reports a Write and an Edit to the model in its own words.
RESULTS = Results(
    {
        "Bash": "stdout|stderr", "PowerShell": "stdout|stderr", "Read": "file.content", "Write": "content", "Edit": "newString",
        "MultiEdit": "newString", "Grep": "content|filenames", "Glob": "filenames", "WebFetch": "result", "Agent": "content",
        "Task": "content",
    },
    heads=("Exit code #\n",), marker="Exit code ", code_if_none=0,
    unless=("returnCodeInterpretation", "backgroundTaskId", "interrupted"),
    unkept=("persistedOutputPath", "persistedOutputSize", "structuredContent"),
)  # fmt: skip
_STREAM = Tool("WebFetch", url="ws")  # a Monitor that watches a WebSocket
_MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
_ANY = {"hook_event_name": EVENTS, "session_id": str, "permission_mode": (*_MODES, ABSENT)}
MARKS = (
    Mark(9, _ANY, folder="/.claude/"),
    Mark(9, {**_ANY, "prompt_id": str}),
    Mark(9, {**_ANY, "effort": object}),
    Mark(4, _ANY),  # so generic that others copied it
)
SENDS = ("permission_mode", "prompt_id", "effort", "turn_id")  # turn_id only on MessageDisplay


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Claude Code", EVENTS, payload, event_name)
    if "tool_name" in payload or row.shape in ("permission", "request"):
        _take_tool(event, payload.get("tool_name"), payload.get("tool_input"))
        event.tool_response = payload.get("tool_response")
    return event


def _take_tool(event: Event, name: object, given: object) -> None:
    if name == "Monitor" and isinstance(given, dict) and isinstance(given.get("ws"), dict) and given.get("command") is None:
        take_tool(event, TOOLS, name, given, _stream_facts, _STREAM, _stream_keys)
    else:
        take_tool(event, TOOLS, name, given)


def _stream_facts(event: Event) -> Facts:
    url = event.tool_input["ws"].get("url")
    if not isinstance(url, str):
        raise PayloadError(f"{event.native_tool}: tool_input.ws.url is not a string")
    return Facts(url=url)


def _stream_keys(event: Event, keys: Mapping[str, Any]) -> dict[str, Any]:
    spelled = dict(keys)
    if "url" in spelled:
        spelled["ws"] = {**event.tool_input["ws"], "url": spelled.pop("url")}
    return spelled


def _plain(text: str) -> str:
    """A string that Claude Code does not mistake for JSON."""
    return f"Note:\n{text}" if text.lstrip()[:1] == "{" else text


def render(event: Event, response: Response, chatter: bool) -> Output:
    name = event.native_event
    shape = EVENTS[name].shape
    denied = response.decision == "deny"
    specific: dict[str, Any] = {}
    body: dict[str, Any] = {}
    if shape in ("permission", "switch"):
        said = given(permissionDecision=response.decision, permissionDecisionReason=response.reason, updatedInput=response.modified_input)
        specific.update(said)
    elif shape == "request" and response.decision in ("allow", "deny"):
        specific["decision"] = dialog_answer(response)
    elif denied:
        body["decision"] = "block"
        body["reason"] = response.reason
    if response.modified_output is not None and event.tool_response:
        from onehook.hostkit.results import replaced

        specific["updatedToolOutput"] = replaced(event, RESULTS, response.modified_output)
    if response.additional_context is not None:
        if shape == "compaction":
            return Output(_plain(response.additional_context))
        specific["additionalContext"] = response.additional_context
    if response.user_message is not None:
        body["systemMessage"] = response.user_message
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": name, **specific}
    if response.halt:
        return Output(dumps(halted(response, body)))
    # On PermissionRequest only the JSON decision is read, and exit 2 would add an error message to it.
    exit_code = 2 if denied and shape != "request" else 0
    return Output(dumps(body) if body else "", exit_code, response.reason or "" if exit_code == 2 else "")
