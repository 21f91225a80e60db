"""Pi (0.87.1): what onehook's extension sends from there, and what it does with the answer (see plugin.js).

Pi has no command hooks, so both sides of this wire are onehook's (onehook.hostkit.bridge). The events are those of Pi's extensions;
"tool_result.error" is the tool_result of a tool that failed. Pi has no MCP and no subagents of its own.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Output, Response
from onehook.hostkit.effects import CERTAIN, HONOURED, NO_CHANNEL, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped, for_plugin
from onehook.hostkit.tools import Tool, begun, native_keys, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ID = "pi"
TRAITS = Traits(
    variables=("PI_CODING_AGENT",),
    # Pi does not start a new session when it compacts one; context that is added afterwards is in every later request.
    stand_ins={"tool_result": StandIn("SubagentStop", tool="Agent"), "session_compact": StandIn("SessionStart", source="compact")},
)

EVENTS = {
    "tool_call": Row("PreToolUse", "tool", gates=True),
    "tool_result": Row("PostToolUse", "result"),
    "tool_result.error": Row("PostToolUseFailure", "failure"),
    "input": Row("UserPromptSubmit", "prompt", gates=True),
    "agent_end": Row("Stop", "stop"),
    "session_start": Row("SessionStart", "context"),
    "session_before_compact": Row("PreCompact", "compaction", gates=True),
    "session_compact": Row("PostCompact", "context"),
    "message_end": Row("AgentResponse", "message"),
    "session_shutdown": Row("SessionEnd", "message"),
}
SOURCES = {"new": "clear", "reload": "resume"}

_ONLY_BEFORE = dropped("Pi takes a rewrite only before a tool runs")
_NO_NOTE = dropped("a reason is shown only with a denial")
_NO_ASK = dropped("only a tool call can be asked about")
_NOBODY = dropped("nobody is there to answer: Pi runs without a user interface")
_NOT_BLOCKABLE = dropped("Pi cannot stop this event")
_FAILED = dropped("the tool has failed already")
_STOP_CONTEXT = "only a denied stop is followed by something that can carry it"
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": HONOURED, "modified_input": _ONLY_BEFORE, "additional_context": HONOURED,
}  # fmt: skip
CAPS = {
    "tool": Caps(_BASE, ask=HONOURED, modified_input=HONOURED),
    "headless": Caps(_BASE, ask=_NOBODY, modified_input=HONOURED),
    "prompt": Caps(_BASE),
    "result": Caps(_BASE, modified_output=HONOURED),
    "failure": Caps(
        _BASE, deny=_FAILED, ask=_FAILED, modified_output=HONOURED, reason=NO_CHANNEL, note=Cap("moved", becomes="additional_context"),
    ),
    "stop": Caps(_BASE, additional_context=Cap("limited", _STOP_CONTEXT, beside="deny")),
    "context": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL),
    "compaction": Caps(_BASE, additional_context=NO_CHANNEL),
    "message": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL, additional_context=NO_CHANNEL),
}  # fmt: skip

TOOLS = {
    "bash": Tool("Bash"),
    "powershell": Tool("Bash", shell="powershell"),
    "read": Tool("Read", file_path="path"),
    "write": Tool("Write", file_path="path"),
    # It takes a list of edits, each spelled as here.
    "edit": Tool("Edit", file_path="path", old_string="oldText", new_string="newText"),
    "grep": Tool("Grep"),
    "find": Tool("Glob"),
    "ls": Tool("List"),
    "subagent": Tool("Agent|Task", prompt="task", subagent_type="agent"),  # from an example extension that comes with Pi
}
# (The extension reports exit code 0 for a command that succeeded.)
RESULTS = Results(tails=("\nCommand exited with code #",), marker="Command exited with code ", empty="(no output)")
MARKS = (Mark(CERTAIN, {ID: (1,), "hook_event_name": str}),)
SENDS = (ID,)


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Pi", EVENTS, payload, event_name, SOURCES)
    loops = payload.get("loop_count")
    if isinstance(loops, int):
        event.loop_count = loops
    if "tool_name" in payload or row.shape == "tool":
        event.tool_response = payload.get("tool_response")
        name = payload.get("tool_name")
        take_tool(event, TOOLS, name, payload.get("tool_input"), spell=_spelled_edit if name == "edit" else None)
    return event


def _spelled_edit(event: Event, keys: Mapping[str, Any]) -> dict[str, Any]:
    """A rewrite of an edit, whose strings belong to the first element of the list."""
    spelled = native_keys(event, TOOLS["edit"], keys)
    texts: dict[str, Any] = {key: spelled.pop(key) for key in ("oldText", "newText") if key in spelled}
    edits = event.tool_input.get("edits")
    if not texts or not isinstance(edits, list) or not edits or not isinstance(edits[0], dict):
        return {**spelled, **texts}
    return {**spelled, "edits": [{**edits[0], **texts}, *edits[1:]]}


def caps(event: Event) -> Caps:
    shape = EVENTS[event.native_event].shape
    return CAPS["headless" if shape == "tool" and event.native.get("has_ui") is False else shape]


def render(event: Event, response: Response, chatter: bool) -> Output:
    if response.modified_output is not None:
        from onehook.hostkit.results import framed

        response.modified_output = framed(event, RESULTS, response.modified_output)
    said = for_plugin(response)
    return Output(dumps(said) if said else "")
