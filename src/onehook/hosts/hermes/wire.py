"""Hermes Agent (0.19.0): what it sends its shell hooks, and which of their answers it obeys. Only stdout counts, and in it
`decision: block`: exit codes, stderr and any other word for a denial are passed over, and so is a hook that cannot be started or takes too
long.

In: {"hook_event_name", "tool_name", "tool_input", "session_id", "cwd", "extra"}, with null for what an event does not have. A call made
by the code of execute_code is reported like any other, but without a session.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Output
from onehook.hostkit.effects import CERTAIN, HONOURED, NO_CHANNEL, SILENT, Caps, Mark, Results, Row, Traits, dropped, given
from onehook.hostkit.tools import Tool, begun, decoded, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "hermes"
TRAITS = Traits(skills={"skill_view": "name"}, variables=("HERMES_SESSION_ID",))

EVENTS = {
    "pre_tool_call": Row("PreToolUse", "tool", gates=True),
    "post_tool_call": Row("PostToolUse", "nothing"),
    "pre_llm_call": Row("UserPromptSubmit", "prompt"),
    "pre_verify": Row("Stop", "stop"),
    "on_session_start": Row("SessionStart", "nothing"),
    "subagent_start": Row("SubagentStart", "nothing"),
    "subagent_stop": Row("SubagentStop", "nothing"),
    "post_llm_call": Row("AgentResponse", "nothing"),
    "on_session_end": Row("SessionEnd", "nothing"),  # after each turn
}

_NO_ASK = dropped("Hermes has no answer that asks")
_NO_NOTE = dropped("Hermes reads a reason only with a denial")
_NO_REWRITE = dropped("Hermes ignores a rewritten input from a shell hook")
_NOT_BLOCKABLE = dropped("Hermes cannot stop a prompt")
_BASE = {"allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE}
CAPS = {
    "tool": Caps(_BASE, modified_input=_NO_REWRITE),
    "prompt": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL, additional_context=HONOURED),
    "stop": Caps(_BASE),
    "nothing": SILENT,
}
caps = Caps.by_shape(EVENTS, CAPS)

_PATCH = Tool("Edit|Write", patch="patch")
TOOLS = {
    "terminal": Tool("Bash"),
    "read_file": Tool("Read", file_path="path"),
    "write_file": Tool("Write", file_path="path"),
    "patch": Tool("Edit", unless="patch", file_path="path"),  # or a whole patch
    "search_files": Tool("Grep", glob="file_glob"),
    "browser_navigate": Tool("WebFetch"),
    "web_search": Tool("WebSearch"),
    "delegate_task": Tool("Agent|Task", prompt="goal"),
}
RESULTS = Results({"terminal": "output", "execute_code": "output", "read_file": "content", "*": "result"})  # the last: for MCP tools
MARKS = (Mark(CERTAIN, {"hook_event_name": tuple(EVENTS), "tool_name": object, "tool_input": object, "extra": dict}),)
SENDS = ("extra",)


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Hermes", EVENTS, payload, event_name)
    extra = payload.get("extra")
    told = extra if isinstance(extra, dict) else {}
    event.model = _text(told, "model")
    event.prompt = _text(told, "user_message") if row.shape == "prompt" else ""
    event.last_assistant_message = _text(told, "final_response") or _text(told, "assistant_response") or _text(told, "child_summary")
    event.agent_id = _text(told, "child_session_id")
    event.agent_type = _text(told, "child_role")
    attempt = told.get("attempt")
    if row.shape == "stop" and isinstance(attempt, int):
        event.stop_hook_active = attempt > 0
    if row.event in ("PreToolUse", "PostToolUse"):
        event.error = _text(told, "error_message")
        event.tool_response = decoded(told.get("result"))
        _take_tool(event, payload.get("tool_name"), payload.get("tool_input"))
    return event


def _text(told: dict[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""


def _take_tool(event: Event, name: object, tool_input: object) -> None:
    whole = name == "patch" and isinstance(tool_input, dict) and isinstance(tool_input.get("patch"), str)
    take_tool(event, TOOLS, name, tool_input, read_as=_PATCH if whole else None)


def render(event: Event, response: Response, chatter: bool) -> Output:
    """Always exit code 0, and nothing else on stdout: two objects there would not be read."""
    said = given(context=response.additional_context)
    if response.decision == "deny":
        said = {"decision": "block", "reason": response.reason}
    return Output(dumps(said) if said else "")
