"""Mistral Vibe: what it sends and what it obeys (3.0.2; see docs/hosts/vibe.md).

An answer is one JSON object with exit code 0. Any other exit code, or output that is not JSON, is a failed hook: the tool runs, unless the
entry has `strict = true`, which install writes for a policy that fails closed. A model can call some tools directly, and all of them in
a program, inside run_typescript; hooks run for each of the program's calls.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Mcp, Output
from onehook.hostkit.effects import HONOURED, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped, given
from onehook.hostkit.tools import Tool, begun, take_mcp, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "vibe"
TRAITS = Traits(
    skills={"skill.read": "name"},
    variables=("VIBE_APP_SERVER_BIN",),
    stand_ins={"post_agent": StandIn("SubagentStop", inside=True), "pre_tool": StandIn("SubagentStart", tool="Agent")},
)

EVENTS = {
    "pre_tool": Row("PreToolUse", "permission", gates=True),
    "post_tool": Row("PostToolUse", "result"),  # also after a tool that failed
    "post_agent": Row("Stop", "retry"),  # also for a subagent: event.agent_id is set then
}

_ASK = dropped("Vibe ignores it and runs the tool")
_NO_ASK = dropped("Vibe cannot ask on this event")
_NO_NOTE = dropped("Vibe takes a reason only with a denial")
_ONLY_BEFORE = dropped("a rewrite takes effect only before a tool runs")
_ONLY_AFTER = dropped("Vibe takes context only after a tool")
_MESSAGE = Cap("unheeded", "Vibe shows it in a session, and not in a run with -p")
_MESSAGE_BEFORE = Cap("unheeded", "Vibe shows none beside a denial, and otherwise in a session only, not in a run with -p")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": _MESSAGE, "modified_input": _ONLY_BEFORE, "additional_context": _ONLY_AFTER,
}  # fmt: skip
_PERMISSION = Caps(_BASE, ask=_ASK, user_message=_MESSAGE_BEFORE, modified_input=HONOURED)
CAPS = {
    "permission": _PERMISSION,
    "result": Caps(_BASE, additional_context=HONOURED, modified_output=HONOURED),
    "retry": Caps(_BASE),
}
# Seen with 3.0.2: the program gets "Tool execution was skipped by Runtime policy", and so does the model.
_IN_A_PROGRAM = _PERMISSION.but(reason=Cap("unheeded", "of a call inside run_typescript the model is only told that it was skipped"))
PROGRAM = "typescript:"  # the ids of such calls begin with this

_SECONDS = {"timeout_seconds": "timeout"}  # in seconds, while that of other hosts' tools is in milliseconds, so it has another name
TOOLS = {
    "file_system.bash": Tool("Bash", **_SECONDS),
    "file_system.read_file": Tool("Read"),
    "file_system.write_file": Tool("Write"),
    "file_system.search_replace": Tool("Edit"),
    "agents.spawn": Tool("Agent|Task", prompt="message", description="name", subagent_type="config_name"),
    "process.start": Tool("Bash"),
    "process.write": Tool("Bash", command="text", unless="control"),  # text typed into a running command
    # The names of 2.x.
    "bash": Tool("Bash", **_SECONDS),
    "read_file": Tool("Read"),
    "write_file": Tool("Write"),
    "edit": Tool("Edit"),
    "grep": Tool("Grep"),
    "web_fetch": Tool("WebFetch", **_SECONDS),
    "web_search": Tool("WebSearch"),
    "task": Tool("Agent|Task", prompt="task", subagent_type="agent"),
}
RESULTS = Results(
    texts={"file_system.bash": "stdout|stderr", "bash": "stdout|stderr", "file_system.read_file": "content", "read_file": "content"},
    code="returncode",
)
_ANY = {"hook_event_name": EVENTS, "session_id": str, "transcript_path": str}
MARKS = (Mark(9, {**_ANY, "parent_session_id": str}), Mark(9, {**_ANY, "parent_session_id": None}))
SENDS = ("parent_session_id",)
MCP_PREFIX, MCP_JOINT = "mcp_", "."
STOP_CAP = 3  # it runs the hook a fourth time, and ends the turn whatever the answer
_MAX_ANSWER = 1_000_000  # bytes that it reads of an answer; JSON that is cut off is a failed hook


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Vibe", EVENTS, payload, event_name)
    if isinstance(payload.get("parent_session_id"), str):
        event.agent_id = event.session_id
    if row.event == "Stop":
        event.stop_chain, event._stop_cap = "turn", STOP_CAP
    if "tool_name" in payload or row.shape == "permission":
        _take_tool(event, payload)
    return event


def _take_tool(event: Event, payload: dict[str, Any]) -> None:
    name, given = payload.get("tool_name"), payload.get("tool_input")
    output, error = payload.get("tool_output"), payload.get("tool_error")
    # The result of an MCP tool is only its text.
    event.tool_response = output if output is not None or error is not None else payload.get("tool_output_text")
    event.error = error if isinstance(error, str) else ""
    if isinstance(name, str) and name.startswith(MCP_PREFIX) and MCP_JOINT in name and isinstance(given, dict):
        server, _, tool = name[len(MCP_PREFIX) :].partition(MCP_JOINT)  # Vibe allows no dot in the name of a server
        take_mcp(event, name, given, Mcp(server, tool))
    else:
        take_tool(event, TOOLS, name, given)


def caps(event: Event) -> Caps:
    if event.native_event == "pre_tool" and str(event.native.get("tool_call_id", "")).startswith(PROGRAM):
        return _IN_A_PROGRAM
    return CAPS[EVENTS[event.native_event].shape]


def render(event: Event, response: Response, chatter: bool) -> Output:
    text = _answer(event, response)
    if len(text) > _MAX_ANSWER:  # characters are bytes, since it is ASCII
        text = _answer(event, _shortened(response))
    return Output(text)


def _answer(event: Event, response: Response) -> str:
    body = given(system_message=response.user_message)
    if response.decision == "deny":
        body.update(decision="deny", reason=response.reason)
    if response.modified_output is not None:  # the model gets the reason for a denial instead of the result
        body.update(decision="deny", reason=_instead(response))
    specific = given(tool_input=response.modified_input, additional_context=response.additional_context)
    if specific:
        body["hook_specific_output"] = specific
    return dumps(body) if body else ""


def _instead(response: Response) -> str:
    text = str(response.modified_output)
    return text if response.decision != "deny" else f"{text}\n\n{response.reason}"


def _shortened(response: Response) -> Response:
    """What is left of an answer that is too long to be read: the beginning of a result, and never the old input or result."""
    short = response.copy()
    short.additional_context = short.user_message = None
    if short.modified_input is not None:
        short.decision, short.reason, short.modified_input = "deny", "the rewritten input is longer than what Vibe reads of a hook", None
    if short.modified_output is not None:
        short.modified_output = str(short.modified_output)[: _MAX_ANSWER // 16] + "\n[cut off: Vibe reads no more of a hook]"
    if short.reason is not None:
        short.reason = short.reason[: _MAX_ANSWER // 16]
    return short
