"""The open stdin/stdout contract: {"tool_name", "tool_input"} in, {"decision"} out, for any agent or wrapper that follows it."""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Output, PayloadError
from onehook.hostkit.effects import HONOURED, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped, given
from onehook.hostkit.tools import Tool, take_common, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "contract"
TRAITS = Traits(
    # "On stdin parse errors, hooks must output {"decision": "allow"} and exit 0": the contract's own rule.
    unreadable=('{"decision": "allow"}', 0),
    stand_ins={
        "preToolUse": StandIn("SubagentStart", tool="Agent"),
        "postToolUse": StandIn("SubagentStop", tool="Agent"),
        "preCompact": StandIn("SessionStart", source="compact"),
    },
)

# A lifecycle event comes as its name in tool_name. A tool call is preToolUse, unless the caller passes --event postToolUse.
EVENTS = {
    "preToolUse": Row("PreToolUse", "tool", gates=True),
    "postToolUse": Row("PostToolUse", "tool"),
    "beforeSubmitPrompt": Row("UserPromptSubmit", "tool", gates=True),
    "sessionStart": Row("SessionStart", "lifecycle"),
    "stop": Row("Stop", "lifecycle"),
    "preCompact": Row("PreCompact", "lifecycle"),
    "sessionEnd": Row("SessionEnd", "lifecycle"),
}
LIFECYCLE = {
    "SessionStart": "sessionStart",
    "beforeSubmitPrompt": "beforeSubmitPrompt",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "Stop": "stop",
    "PreCompact": "preCompact",
    "SessionEnd": "sessionEnd",
}
_HONOURED = Caps(
    {
        "allow": HONOURED, "deny": HONOURED, "ask": dropped("the contract has only allow and deny"), "reason": HONOURED, "note": HONOURED,
        "allow_reason": HONOURED, "user_message": Cap("moved", becomes="message"), "message": HONOURED, "lint_command": HONOURED,
        "additional_context": dropped("the contract has no channel to the model"),
        "modified_input": dropped("the contract cannot rewrite an input"),
    }
)  # fmt: skip
CAPS = {"tool": _HONOURED, "lifecycle": _HONOURED}
caps = Caps.by_shape(EVENTS, CAPS)

TOOLS = {
    "Shell": Tool("Bash"),
    "Write": Tool("Write", file_path="path", content="contents"),
    "Read": Tool("Read", file_path="path"),
    "Edit": Tool("Edit", file_path="path"),
    "MultiEdit": Tool("Edit", file_path="path"),
    "Delete": Tool("Delete", file_path="path"),
    "Grep": Tool("Grep"),
    "Glob": Tool("Glob"),
    "WebFetch": Tool("WebFetch"),
    "WebSearch": Tool("WebSearch"),
    "Task": Tool("Agent"),
}
RESULTS = Results()

MARKS = (Mark(5, {"tool_name": str, "tool_input": dict}, alone=True),)
SENDS: tuple[str, ...] = ()


def parse(payload: dict[str, Any], event_name: str) -> Event:
    tool = payload.get("tool_name")
    given = payload.get("tool_input")
    if not isinstance(tool, str) or not isinstance(given, dict):
        raise PayloadError("the contract needs a tool_name (a string) and a tool_input (an object)")
    name = LIFECYCLE.get(tool) or event_name or "preToolUse"
    row = EVENTS.get(name)
    if row is None:
        raise PayloadError(f"the contract has no event {name!r}; its events are {', '.join(EVENTS)}")
    event = Event(row.event, ID, payload)
    event.native_event = name
    take_common(event, given)
    if tool not in LIFECYCLE:
        take_tool(event, TOOLS, tool, given)
    return event


def render(event: Event, response: Response, chatter: bool) -> Output:
    denied = response.decision == "deny"
    body: dict[str, Any] = {}
    if EVENTS[event.native_event].shape == "tool":
        body["decision"] = "deny" if denied else "allow"
    body.update(given(reason=response.reason, message=response.message, lint_command=response.lint_command))
    return Output(dumps(body), 2 if denied else 0)
