"""Factory Droid: what it sends and what it obeys (0.225.2; see docs/hosts/droid.md).

Droid has Claude Code's keys but other rules: of several hooks the first permissionDecision wins, even an allow before a deny, but exit 2
denies after any of them; after a tool call and before a prompt, exit 2 is read and a JSON `decision` is not. So every denial is exit 2
with its reason on stderr, plus JSON where that is read.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Mcp, Output
from onehook.hostkit.effects import HONOURED, NO_CHANNEL, SILENT, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped, given, halted
from onehook.hostkit.tools import Tool, begun, take_mcp, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "droid"
TRAITS = Traits(  # (exit code 1 continues, 2 blocks, and 3 ends the whole run)
    skills={"Skill": "skill"},
    variables=("CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "DROID_PROJECT_DIR", "FACTORY_PROJECT_DIR"),
    stand_ins={"PreToolUse": StandIn("SubagentStart", tool="Agent")},
)

EVENTS = {
    "PreToolUse": Row("PreToolUse", "permission", gates=True),
    # `droid exec PROMPT` does not send it for its own prompt; sessions over JSON-RPC, as editors run them, and subagents do.
    "UserPromptSubmit": Row("UserPromptSubmit", "prompt", gates=True),
    "PostToolUse": Row("PostToolUse", "feedback"),  # not after a tool that failed: no event follows that
    "Stop": Row("Stop", "stop"),
    "PreCompact": Row("PreCompact", "compact", gates=True),  # on a requested compaction; a full context runs no hook
    "SessionStart": Row("SessionStart", "context"),
    "SubagentStop": Row("SubagentStop", "nothing"),
    "Notification": Row("Notification", "nothing"),
    "SessionEnd": Row("SessionEnd", "nothing"),
}

_ASK = dropped("Droid ignores it, and runs the tool if its autonomy level allows that")
_NO_ASK = dropped("Droid cannot ask on this event")
_ONLY_BEFORE = dropped("a rewrite takes effect only before a tool runs")
_NO_NOTE = dropped("Droid takes a reason only with a denial")
_NO_MESSAGE = dropped("Droid does not show a hook's message on this event")
_UNSEEN_MESSAGE = Cap("unheeded", "Droid 0.225.2 did not show it anywhere when tried, although it has code for that")
_CONTEXT_LOST = dropped("Droid takes context on SessionStart, UserPromptSubmit and PostToolUse only")
_NOT_BLOCKABLE = dropped("Droid cannot stop this event")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": _NO_MESSAGE, "modified_input": _ONLY_BEFORE, "additional_context": _CONTEXT_LOST,
}  # fmt: skip
CAPS = {
    "permission": Caps(_BASE, approve=HONOURED, ask=_ASK, modified_input=HONOURED),
    "prompt": Caps(_BASE, additional_context=HONOURED),
    "feedback": Caps(
        _BASE, user_message=_UNSEEN_MESSAGE, additional_context=HONOURED, modified_output=dropped("Droid cannot replace a result"),
        withhold=HONOURED,
    ),
    "stop": Caps(_BASE, user_message=_UNSEEN_MESSAGE),
    "compact": Caps(_BASE, reason=Cap("unheeded", "Droid does not show why a compaction was cancelled")),
    "context": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL, additional_context=HONOURED),
    "nothing": SILENT,
}  # fmt: skip
caps = Caps.by_shape(EVENTS, CAPS)

TOOLS = {
    # The timeout is in seconds, and that of other hosts' tools in milliseconds, so it has another name.
    "Execute": Tool("Bash", description="summary", run_in_background="fireAndForget", timeout_seconds="timeout"),
    "Read": Tool("Read"),
    "Create": Tool("Write"),
    "Edit": Tool("Edit", old_string="old_str", new_string="new_str", replace_all="change_all"),
    "MultiEdit": Tool("Edit", old_string="old_str", new_string="new_str", replace_all="change_all"),
    "ApplyPatch": Tool("Edit|Write", patch="input"),  # what some models get instead of Create and Edit
    "Grep": Tool("Grep", glob="glob_pattern"),
    "Glob": Tool("Glob", pattern="patterns", path="folder"),
    "LS": Tool("List", path="directory_path", ignore="ignorePatterns"),
    "FetchUrl": Tool("WebFetch"),
    "WebSearch": Tool("WebSearch"),
    "Task": Tool("Agent|Task"),
}
RESULTS = Results(tails=("[Process exited with code #]", ""), marker="exited with code ")
MODES = ("off", "spec", "auto-low", "auto-medium", "auto-high")
_ANY = {"hook_event_name": EVENTS, "session_id": str}
MARKS = (Mark(9, _ANY, folder="/.factory/"), Mark(9, {**_ANY, "permission_mode": MODES}))
SENDS = ("permission_mode",)
MCP_JOINT = "___"


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Droid", EVENTS, payload, event_name)
    if event.native_event == "SubagentStop" and isinstance(payload.get("task_result"), str):
        event.last_assistant_message = payload["task_result"]
    if "tool_name" in payload or row.shape == "permission":
        _take_tool(event, payload)
    return event


def _take_tool(event: Event, payload: dict[str, Any]) -> None:
    name, given = payload.get("tool_name"), payload.get("tool_input")
    event.tool_response = payload.get("tool_response")
    if isinstance(name, str) and MCP_JOINT in name and isinstance(given, dict):
        take_mcp(event, name, given, Mcp.joined(name, MCP_JOINT))
    else:
        take_tool(event, TOOLS, name, given)


def render(event: Event, response: Response, chatter: bool) -> Output:
    name = event.native_event
    shape = EVENTS[name].shape
    denied = response.decision == "deny"
    body: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if shape == "permission":
        said = given(permissionDecision=response.decision, permissionDecisionReason=response.reason, updatedInput=response.modified_input)
        specific.update(said)
    elif shape == "stop" and denied:
        body["decision"] = "block"
        body["reason"] = response.reason
    if response.additional_context is not None:
        specific["additionalContext"] = response.additional_context
    if response.user_message is not None:
        body["systemMessage"] = response.user_message
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": name, **specific}
    if response.halt:
        return Output(dumps(halted(response, body)))
    # An empty answer prints nothing: at the start of a session and at a prompt, {} would be read as context.
    return Output(dumps(body) if body else "", 2 if denied else 0, response.reason or "" if denied else "")
