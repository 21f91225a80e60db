"""OpenHands CLI: what it sends and what it obeys (1.16.0; see docs/hosts/openhands.md).

A denial is `decision: deny` at the top level of the answer, or exit code 2; what Claude Code nests in hookSpecificOutput is not read.
After a tool no answer is read. Its subagents run no hooks at all.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Mcp, Output
from onehook.hostkit.effects import HONOURED, NO_CHANNEL, SILENT, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped
from onehook.hostkit.tools import Tool, begun, take_mcp, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "openhands"
TRAITS = Traits(
    variables=("OPENHANDS_EVENT_TYPE", "OPENHANDS_PROJECT_DIR", "OPENHANDS_SESSION_ID", "OPENHANDS_TOOL_NAME"),
    stand_ins={"PreToolUse": StandIn("SubagentStart", tool="Agent"), "PostToolUse": StandIn("SubagentStop", tool="Agent")},
)

EVENTS = {
    "PreToolUse": Row("PreToolUse", "action", gates=True),
    "UserPromptSubmit": Row("UserPromptSubmit", "prompt", gates=True),
    "Stop": Row("Stop", "stop"),
    "PostToolUse": Row("PostToolUse", "nothing"),
    "SessionStart": Row("SessionStart", "nothing"),
    "SessionEnd": Row("SessionEnd", "nothing"),
}

_ASK = dropped("OpenHands ignores it and runs the tool")
_NO_ASK = dropped("OpenHands cannot ask on this event")
_NO_REWRITE = dropped("OpenHands cannot rewrite an input")
_NO_NOTE = dropped("OpenHands takes a reason only with a denial")
_NO_CONTEXT = dropped("OpenHands takes context with a prompt only")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": NO_CHANNEL, "modified_input": _NO_REWRITE, "additional_context": _NO_CONTEXT,
}  # fmt: skip
CAPS = {
    "action": Caps(_BASE, ask=_ASK),
    # The turn ends without a request to the model; the reason is in its log.
    "prompt": Caps(_BASE, reason=Cap("unheeded", "OpenHands does not show why a prompt was blocked"), additional_context=HONOURED),
    "stop": Caps(_BASE, additional_context=Cap("limited", "OpenHands takes it on a stop only with a denial", beside="deny")),
    "nothing": SILENT,
}
caps = Caps.by_shape(EVENTS, CAPS)

_EDITS = {"old_string": "old_str", "new_string": "new_str", "content": "file_text", "file_path": "path"}
TOOLS = {
    # With is_input, the command is text typed into a running one. The timeout is in seconds; that of other hosts is in milliseconds.
    "terminal": Tool("Bash", timeout_seconds="timeout"),
    "file_editor": Tool("Edit|Write|Read", **_EDITS),
    "task": Tool("Agent|Task"),
    "grep": Tool("Grep", glob="include"),
    "glob": Tool("Glob"),
    "apply_patch": Tool("Edit|Write", patch="patch"),
}
# The `command` of file_editor selects what it does.
_EDITOR = {"view": Tool("Read", **_EDITS), "create": Tool("Write", **_EDITS)}
_EDITED = Tool("Edit", **_EDITS)
RESULTS = Results(texts={"*": "content"}, heads=("[Tool '*' executed.]\n",), framed=("MCP",))
_ANY = {"event_type": EVENTS, "session_id": str, "working_dir": str}
MARKS = (Mark(9, {**_ANY, "metadata": dict}), Mark(8, _ANY))
SENDS = ("event_type", "working_dir")
MCP_KIND = "MCPToolAction"


def parse(payload: dict[str, Any], event_name: str) -> Event:
    named = payload.get("event_type", event_name)
    event, row = begun(ID, "OpenHands", EVENTS, {**payload, "hook_event_name": named}, event_name)
    event.native = payload
    if isinstance(payload.get("working_dir"), str):
        event.cwd = payload["working_dir"]
    if isinstance(payload.get("message"), str):
        event.prompt = payload["message"]
    if row.event == "Stop":
        event.stop_chain = "turn"
    if payload.get("tool_name") is not None or row.shape == "action":
        _take_tool(event, payload)
    return event


def _take_tool(event: Event, payload: dict[str, Any]) -> None:
    name, given = payload.get("tool_name"), payload.get("tool_input")
    event.tool_response = payload.get("tool_response")
    if isinstance(name, str) and isinstance(given, dict) and given.get("kind") == MCP_KIND:
        data = given.get("data")
        take_mcp(event, name, data if isinstance(data, dict) else {}, Mcp("", name))  # the payload does not name the server
    elif name == "file_editor" and isinstance(given, dict):
        take_tool(event, TOOLS, name, given, read_as=_EDITOR.get(str(given.get("command")), _EDITED))
    else:
        take_tool(event, TOOLS, name, given)


def render(event: Event, response: Response, chatter: bool) -> Output:
    context = response.additional_context
    if response.decision != "deny":
        return Output("" if context is None else dumps({"additionalContext": context}))
    # On a stop the context would replace the reason.
    joined = event.native_event == "Stop" and context is not None
    body: dict[str, Any] = {"decision": "deny", "reason": f"{response.reason}\n\n{context}" if joined else response.reason}
    if context is not None and not joined:
        body["additionalContext"] = context
    # Exit code 2 denies too, if the answer cannot be read.
    return Output(dumps(body), 2, response.reason or "")
