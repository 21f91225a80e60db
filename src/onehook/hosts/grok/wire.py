"""Grok Build: what it sends and what it obeys (1.0.41; see docs/hosts/grok.md).

Grok has Claude Code's events, and payloads in two spellings at once: sessionId beside session_id, and so on. 1.0.5 has only camelCase,
as a few keys still do, and of the two forms of a denial it reads only the one with `decision` at the top.
Before a tool only a denial, a rewrite and context count. An ask runs the tool when everything is approved (--always-approve), so it is
never written. Grok cuts a tool's input off at 128 KB and sends what is left as text: such a call cannot be judged.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Mcp, Output, PayloadError
from onehook.hostkit.effects import CERTAIN, HONOURED, SILENT, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped
from onehook.hostkit.tools import GATED, Tool, begun, take_mcp, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "grok"
TRAITS = Traits(
    reads_config_of=("claude",),
    variables=("GROK_HOOK_EVENT", "GROK_HOOK_NAME", "GROK_SESSION_ID", "GROK_WORKSPACE_ROOT", "CLAUDE_PROJECT_DIR"),
    stand_ins={"PostCompact": StandIn("SessionStart", source="compact")},
)

EVENTS = {
    "PreToolUse": Row("PreToolUse", "permission", gates=True),
    "UserPromptSubmit": Row("UserPromptSubmit", "prompt", gates=True),
    "PostToolUse": Row("PostToolUse", "feedback"),  # also after a command that exits with an error
    "PostToolUseFailure": Row("PostToolUseFailure", "failure"),
    "Stop": Row("Stop", "stop"),
    "SubagentStop": Row("SubagentStop", "stop"),
    "SessionStart": Row("SessionStart", "nothing"),
    "SessionEnd": Row("SessionEnd", "nothing"),
    "SubagentStart": Row("SubagentStart", "nothing"),
    "PreCompact": Row("PreCompact", "nothing"),
    "PostCompact": Row("PostCompact", "nothing"),
    "PermissionDenied": Row("PermissionDenied", "nothing"),
    "StopFailure": Row("StopFailure", "nothing"),
    "StopCancelled": Row("Interrupt", "nothing"),
    "Notification": Row("Notification", "nothing"),
}
SOURCES = {"new": "startup"}  # why a session starts

_ASK = dropped("with --always-approve Grok runs the tool without asking")
_NO_ASK = dropped("Grok cannot ask on this event")
_ONLY_BEFORE = dropped("a rewrite takes effect only before a tool runs")
_NO_NOTE = dropped("Grok takes a reason only with a denial")
_NO_MESSAGE = dropped("Grok does not read a message for the user")
_NO_OUTPUT = dropped("Grok cannot replace a result")
_CONTEXT_LOST = dropped("Grok drops the context of this event")
_UNSHOWN = Cap("unheeded", "a headless run does not show why a prompt was blocked")
_FAILED = dropped("Grok takes context after a failure, and no decision")
_STOP_CONTEXT = "on a stop, context by itself would keep Grok working; it is taken only with a denial"
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": _NO_MESSAGE, "modified_input": _ONLY_BEFORE, "additional_context": HONOURED,
}  # fmt: skip
CAPS = {
    "permission": Caps(_BASE, ask=_ASK, modified_input=HONOURED),
    "prompt": Caps(_BASE, reason=_UNSHOWN, additional_context=_CONTEXT_LOST),
    "feedback": Caps(_BASE, modified_output=_NO_OUTPUT),
    "failure": Caps(
        _BASE, modified_output=_NO_OUTPUT, deny=_FAILED, ask=_FAILED, reason=dropped("no decision is taken after a failure"),
        note=Cap("moved", becomes="additional_context"),
    ),
    "stop": Caps(_BASE, additional_context=Cap("limited", _STOP_CONTEXT, beside="deny")),
    "nothing": SILENT,
}  # fmt: skip
caps = Caps.by_shape(EVENTS, CAPS)

TOOLS = {
    "run_terminal_command": Tool("Bash", run_in_background="background"),
    "monitor": Tool("Bash"),  # carries a command
    "read_file": Tool("Read", file_path="target_file"),
    "write": Tool("Write"),
    "search_replace": Tool("Edit"),
    "list_dir": Tool("List", path="target_directory"),
    "grep": Tool("Grep"),
    "web_fetch": Tool("WebFetch"),
    "web_search": Tool("WebSearch"),
    "spawn_subagent": Tool("Agent|Task"),
}
MCP_JOINT = "__"
# What was printed arrives as a list of bytes; parse converts it to a string.
PRINTED = ("output", "stdout", "stderr")
RESULTS = Results(
    {
        "run_terminal_command": "output", "monitor": "output", "grep": "stdout", "list_dir": "Content.content",
        "write": "EditsApplied.tool_output_for_prompt", "search_replace": "EditsApplied.tool_output_for_prompt|FileNotFound",
        "read_file": "FileContent.raw_output|FileNotFound", "spawn_subagent": "output", "search_tool": "content",
        "*": "output.OkayOutput",
    },
    code="exit_code",
)  # fmt: skip
MODES = ("default", "auto", "plan", "bypassPermissions")
_ENDINGS = ("shutdown", "channel_closed")  # a Stop with one of these comes when the session ends; its answer is not read
_CAMEL = {
    "last_assistant_message": "lastAssistantMessage", "agent_id": "subagentId", "agent_type": "subagentType", "model": "modelId",
}  # fmt: skip
_BOTH = {
    "sessionId": "session_id", "transcriptPath": "transcript_path", "toolName": "tool_name", "toolInput": "tool_input",
    "toolResult": "tool_response",
}  # fmt: skip
_QUERY, _END = "<user_query>\n", "\n</user_query>"  # around a prompt, in 1.0.5
MARKS = (Mark(CERTAIN, {"hookEventName": str, "workspaceRoot": str}),)
SENDS = ("workspaceRoot", "sessionId")


def parse(payload: dict[str, Any], event_name: str) -> Event:
    told = _told(payload)
    event, row = begun(ID, "Grok", EVENTS, told, event_name, SOURCES)
    event.native = payload
    event.prompt = event.prompt.removeprefix(_QUERY).removesuffix(_END)
    for field, key in _CAMEL.items():
        if isinstance(payload.get(key), str):
            setattr(event, field, payload[key])
    event.stop_hook_active = payload.get("stopHookActive") is True
    event.echo = row.event == "Stop" and payload.get("reason") in _ENDINGS
    if "tool_name" in told or row.shape == "permission":
        _take_tool(event, told)
    return event


def _told(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload with Claude Code's spelling added for the keys that have one."""
    told = {snake: payload[camel] for camel, snake in _BOTH.items() if camel in payload}
    name = payload.get("hookEventName")
    if isinstance(name, str):
        told["hook_event_name"] = "".join(word.capitalize() for word in name.split("_"))
    return {**told, **payload}


def _take_tool(event: Event, payload: dict[str, Any]) -> None:
    name, given = payload.get("tool_name"), payload.get("tool_input")
    event.tool_response = _read(payload.get("tool_response"))
    if payload.get("toolInputTruncated") is True:
        if event.event in GATED:
            raise PayloadError(f"{event.native_event} {name}: Grok has cut the tool's input off, which is larger than 128 KB")
        given = {}
    if isinstance(name, str) and name not in TOOLS and MCP_JOINT in name and isinstance(given, dict):
        take_mcp(event, name, given["tool_input"] if _wraps(given) else given, Mcp.joined(name, MCP_JOINT))
    else:
        take_tool(event, TOOLS, name, given)


def _wraps(given: object) -> bool:
    """Whether this is the input of use_tool, which calls most MCP tools and contains their input."""
    return isinstance(given, dict) and "tool_name" in given and isinstance(given.get("tool_input"), dict)


def wrapped(event: Event, given: dict[str, Any]) -> dict[str, Any]:
    """The tool's input in the same form as in the event's payload: inside the input of use_tool if it was there."""
    sent = _told(event.native).get("tool_input")
    return {**sent, "tool_input": given} if event.mcp is not None and isinstance(sent, dict) and _wraps(sent) else given


def _read(result: object) -> object:
    """A result with strings in place of lists of bytes."""
    if not isinstance(result, dict):
        return result
    return {key: _text(value) if key in PRINTED else value for key, value in result.items()}


def _text(value: object) -> object:
    try:
        return bytes(value).decode("utf-8", "replace") if isinstance(value, list) else value
    except (TypeError, ValueError):
        return value


def render(event: Event, response: Response, chatter: bool) -> Output:
    shape = EVENTS[event.native_event].shape
    denied = response.decision == "deny"
    reason, context = response.reason, response.additional_context
    if denied and shape == "permission" and context is not None:
        reason, context = f"{reason}\n\n{context}", None  # with a denial only the reason reaches the model
    body: dict[str, Any] = {"decision": "deny" if shape == "permission" else "block", "reason": reason} if denied else {}
    specific: dict[str, Any] = {}
    if response.modified_input is not None:
        specific["updatedInput"] = wrapped(event, response.modified_input)
    if context is not None:
        specific["additionalContext"] = context
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": event.native_event, **specific}
    stops = denied and shape in ("permission", "prompt")
    return Output(dumps(body) if body else "", 2 if stops else 0, reason or "" if stops else "")
