"""OpenCode (1.18.33): what onehook's plugin sends from there, and what it does with the answer (see plugin.js).

OpenCode has no command hooks, so both sides of this wire are onehook's (onehook.hostkit.bridge). ".child" marks the events of a
subagent's session.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Mcp, Output
from onehook.hostkit.effects import CERTAIN, HONOURED, NO_CHANNEL, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped, for_plugin
from onehook.hostkit.tools import Tool, begun, take_mcp, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onehook.core import Response

ID = "opencode"
SKILLS = {"skill": "name"}
# A session is created only once. Context added before a compaction becomes part of it; context at session.compacted reaches nobody.
STAND_INS = {"experimental.session.compacting": StandIn("SessionStart", source="compact")}
TRAITS = Traits(skills=SKILLS, variables=("OPENCODE", "OPENCODE_PID"), stand_ins=STAND_INS)

EVENTS = {
    "tool.execute.before": Row("PreToolUse", "tool", gates=True),
    "permission.asked": Row("PermissionRequest", "request", gates=True),
    "chat.message": Row("UserPromptSubmit", "prompt", gates=True),
    "tool.execute.after": Row("PostToolUse", "result"),
    "message.part.updated": Row("PostToolUseFailure", "failure"),
    "session.idle": Row("Stop", "stop"),
    "session.idle.child": Row("SubagentStop", "message"),
    "session.created": Row("SessionStart", "context"),
    "session.created.child": Row("SubagentStart", "context"),
    "experimental.session.compacting": Row("PreCompact", "context"),
    "session.compacted": Row("PostCompact", "message"),
    "experimental.text.complete": Row("AgentResponse", "message"),
    "session.deleted": Row("SessionEnd", "message"),
    "dispose": Row("SessionEnd", "message"),
}

_ONLY_BEFORE = dropped("OpenCode takes a rewrite only before a tool runs")
_NO_NOTE = dropped("OpenCode shows a reason only with a denial")
_NO_ASK = dropped("a plugin cannot ask")
_NOT_BLOCKABLE = dropped("OpenCode cannot stop this event")
_FAILED = dropped("the tool has failed already")
_STOP_CONTEXT = "only a denied stop is followed by something that can carry it"
_NO_REASON = dropped("OpenCode's answer to a permission request has no field for a reason")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": HONOURED, "modified_input": _ONLY_BEFORE, "additional_context": HONOURED,
}  # fmt: skip
_PLAIN = Caps(_BASE)
CAPS = {
    "tool": Caps(_BASE, modified_input=HONOURED),
    # ask = no answer: the dialog stays.
    "request": Caps(_BASE, ask=HONOURED, reason=_NO_REASON, note=_NO_REASON, allow_reason=_NO_REASON, additional_context=NO_CHANNEL),
    "prompt": _PLAIN,
    "result": Caps(_BASE, modified_output=HONOURED),
    "failure": Caps(
        _BASE, deny=_FAILED, ask=_FAILED, modified_output=_FAILED, reason=NO_CHANNEL, note=Cap("moved", becomes="additional_context"),
    ),
    "stop": Caps(_BASE, additional_context=Cap("limited", _STOP_CONTEXT, beside="deny")),
    "context": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL),
    "message": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL, additional_context=NO_CHANNEL),
}  # fmt: skip
caps = Caps.by_shape(EVENTS, CAPS)

TOOLS = {
    "bash": Tool("Bash"),
    "read": Tool("Read", file_path="filePath"),
    "write": Tool("Write", file_path="filePath"),
    "edit": Tool("Edit", file_path="filePath", old_string="oldString", new_string="newString"),
    # For some models this is the only tool that changes files, so handlers for Edit and for Write both see it.
    "apply_patch": Tool("Edit|Write", patch="patchText"),
    "grep": Tool("Grep", glob="include"),
    "glob": Tool("Glob"),
    "list": Tool("List"),
    "webfetch": Tool("WebFetch"),
    "websearch": Tool("WebSearch"),
    "task": Tool("Agent|Task"),
    "lsp": Tool("Read", unless="operation", file_path="filePath"),
}
RESULTS = Results()  # the plugin reads the exit code from the metadata of a command
# OpenCode's other tools; a name that is in neither list and contains a "_" is an MCP server's tool.
OTHERS = ("todowrite", "todoread", "question", "skill", "plan_enter", "plan_exit", "execute", "invalid", "batch")


MARKS = (Mark(CERTAIN, {ID: (1,), "hook_event_name": str}),)
SENDS = (ID,)


def parse(payload: dict[str, Any], event_name: str) -> Event:
    return parse_as(ID, payload, event_name)


def parse_as(host: str, payload: dict[str, Any], event_name: str, tools: Mapping[str, Tool] = TOOLS) -> Event:
    event, row = begun(host, "OpenCode", EVENTS, payload, event_name)
    loops = payload.get("loop_count")
    if isinstance(loops, int):
        event.loop_count = loops
    if "tool_name" in payload or row.shape in ("tool", "request"):
        _take_tool(event, payload, tools)
    return event


def _take_tool(event: Event, payload: dict[str, Any], tools: Mapping[str, Tool]) -> None:
    name, given = payload.get("tool_name"), payload.get("tool_input")
    event.tool_response = payload.get("tool_response")
    mcp = None if name in tools else _mcp(name, payload.get("mcp"))
    if mcp is not None and isinstance(name, str) and isinstance(given, dict):
        take_mcp(event, name, given, mcp)
        return
    take_tool(event, tools, name, given)


def _mcp(name: object, told: object) -> Mcp | None:
    """The plugin asks OpenCode for the servers' names; if that failed, the joined name has to suffice."""
    if isinstance(told, dict) and isinstance(told.get("server"), str) and isinstance(told.get("tool"), str):
        return Mcp(told["server"], told["tool"])
    if isinstance(name, str) and "_" in name and name not in OTHERS:
        return Mcp.joined(name, "_")
    return None


def render(event: Event, response: Response, chatter: bool) -> Output:
    said = for_plugin(response)
    return Output(dumps(said) if said else "")
