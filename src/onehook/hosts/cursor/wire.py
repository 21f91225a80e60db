"""Cursor: what it sends and what it obeys (see docs/hosts/cursor.md).

The form of answers has changed twice. cursor_version distinguishes the three eras:
- documented: up to 3.2.16, the last version that the public bridge documents were verified on: JSON and exit 2 for a deny;
- sdk: "1.0.0", which the SDK and the CLI report whatever their real version; seen on the runtime of @cursor/sdk 1.0.32;
- current: everything newer, or unknown. With exit 2 the raw JSON becomes the message, and only user_message reaches the model.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Change, Event, Facts, Mcp, Output, PayloadError
from onehook.hostkit.effects import CERTAIN, HONOURED, NO_CHANNEL, SILENT, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped
from onehook.hostkit.tools import Tool, absolute, begun, decoded, listed_edits, take_mcp, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "cursor"
TRAITS = Traits(
    reads_config_of=("claude",),
    skills={},  # it reads a skill's file like any other
    variables=(
        "CURSOR_AGENT", "CURSOR_PROJECT_DIR", "CURSOR_TRACE_ID", "CURSOR_TRANSCRIPT_PATH", "CURSOR_USER_EMAIL", "CURSOR_VERSION",
        "CLAUDE_PROJECT_DIR",
    ),
    # sessionStart does not report why, and does not fire after a compaction.
    stand_ins={"preCompact": StandIn("SessionStart", source="compact")},
)  # fmt: skip

EVENTS = {
    "preToolUse": Row("PreToolUse", "tool", gates=True),
    "beforeShellExecution": Row("PreToolUse", "action", gates=True, tool="Bash"),
    "beforeMCPExecution": Row("PreToolUse", "action", gates=True, tool="MCP"),
    "beforeReadFile": Row("PreToolUse", "read", gates=True, tool="Read"),
    "beforeTabFileRead": Row("PreToolUse", "read", gates=True, tool="Read"),
    "subagentStart": Row("SubagentStart", "subagent", gates=True),
    "beforeSubmitPrompt": Row("UserPromptSubmit", "prompt", gates=True),
    "sessionStart": Row("SessionStart", "session"),
    "postToolUse": Row("PostToolUse", "context"),
    "postToolUseFailure": Row("PostToolUseFailure", "context"),
    "stop": Row("Stop", "stop"),
    "subagentStop": Row("SubagentStop", "stop"),
    "preCompact": Row("PreCompact", "compact"),
    "afterAgentResponse": Row("AgentResponse", "response"),
    "afterShellExecution": Row("PostToolUse", "observe", tool="Bash"),
    "afterMCPExecution": Row("PostToolUse", "observe", tool="MCP"),
    "afterFileEdit": Row("PostToolUse", "observe", tool="Edit"),
    "afterTabFileEdit": Row("PostToolUse", "observe", tool="Edit"),
    "afterAgentThought": Row("AgentThought", "observe"),
    "sessionEnd": Row("SessionEnd", "observe"),
    "workspaceOpen": Row("WorkspaceOpen", "observe"),
}

LAST_DOCUMENTED = (3, 2, 16)
ASK_BROKEN_SINCE = (2, 4, 21)
SDK_VERSION = "1.0.0"

_ONLY_PRE = dropped("only preToolUse takes a rewrite")
_CONTEXT_EVENT = dropped("this event takes additional_context and nothing else")
_NOT_ON_PROMPT = dropped("beforeSubmitPrompt has no channel to the model")
_STOP_DECISION = dropped("a stop takes no decision; the reason is sent as followup_message")
_STOP_ONLY = dropped("a stop takes a followup_message and nothing else")
_UNHEARD = "Cursor's runtime takes no answer on this event"
_READ_ASK = dropped("Cursor refuses the answer as invalid and blocks")
_NO_NOTE = dropped("Cursor shows a reason only with a denial")
_OLD_CONTEXT = dropped("Cursor up to 3.2.16 takes context on sessionStart and postToolUse only")
_CONTEXT_PLACES = dropped("Cursor takes no context on this event")

_TO_USER = Cap("moved", becomes="user_message")
_TO_MODEL = Cap("moved", becomes="additional_context")  # after a tool call a reason is feedback, which is given as context
_UNHEEDED = Cap("unheeded", _UNHEARD)
_PROMPT_ASK = dropped("beforeSubmitPrompt cannot ask")
_NEW = {
    "allow": HONOURED, "deny": HONOURED, "reason": HONOURED, "user_message": HONOURED, "modified_input": _ONLY_PRE,
    "additional_context": HONOURED,
}  # fmt: skip
_ONLY_MCP = dropped("Cursor can replace the result of an MCP tool only")
_CURRENT = {
    "tool": Caps(_NEW, ask_passes=True, note=_NO_NOTE, allow_reason=_NO_NOTE, modified_input=HONOURED),
    "action": Caps(_NEW, ask_passes=True, note=_NO_NOTE, allow_reason=_NO_NOTE, additional_context=_CONTEXT_PLACES),
    "read": Caps(_NEW, ask=_READ_ASK, note=_NO_NOTE, allow_reason=_NO_NOTE, additional_context=_CONTEXT_PLACES),
    "subagent": Caps(_NEW, ask=dropped("Cursor treats it as a deny"), reason=_TO_USER),
    "prompt": Caps(_NEW, ask=_PROMPT_ASK, reason=_TO_USER),
    "session": Caps(_NEW, ask=dropped("sessionStart cannot ask"), reason=_TO_USER),
    "context": Caps(
        _NEW, reason=_TO_MODEL, note=_TO_MODEL, user_message=NO_CHANNEL, modified_input=_CONTEXT_EVENT, modified_output=_ONLY_MCP,
    ),
    "stop": Caps(_NEW, note=HONOURED, user_message=_STOP_ONLY, modified_input=NO_CHANNEL, additional_context=_STOP_ONLY),
    "compact": Caps({"allow": HONOURED, "user_message": HONOURED}),
    "response": Caps({"allow": HONOURED, "deny": _UNHEEDED, "ask": dropped(_UNHEARD), "reason": _TO_USER, "user_message": _UNHEEDED}),
    "observe": SILENT,
}  # fmt: skip
# Seen on 1.0.32: the SDK's session runner discards the context of sessionStart, and the whole answer to the beforeSubmitPrompt that it
# fires itself. Cursor's server fires that event too, and reads the answer, so it is still written.
_SDK_PROMPT = Cap("unheeded", "the SDK discards the answer to the prompt event that it fires itself")
_SDK = {
    "session": _CURRENT["session"].but(additional_context=dropped("the SDK's session runner drops it")),
    "prompt": _CURRENT["prompt"].but(deny=_SDK_PROMPT, additional_context=_SDK_PROMPT),
}
_NEVER_ASKS = dropped("Cursor does not ask")
_ASK_WARNING = (
    "cursor {version}: 'permission: \"ask\"' is not honored (silently treated as 'deny' on 2.4.21-2.x, 'allow' on 3.x; "
    "last verified on 3.2.16); downgrading to '{fallback}'. Pass cursor_ask_fallback=\"ask\" to opt out."
)

TOOLS = {
    "Shell": Tool("Bash"),
    "Read": Tool("Read"),
    "Write": Tool("Write|Edit"),  # every edit arrives as a Write of the whole text
    "Delete": Tool("Delete"),
    "Grep": Tool("Grep", path="file_path"),
    "List": Tool("List", path="file_path"),
    "ReadLints": Tool("Read"),
    "FetchMcpResource": Tool("Write", unless="uri", file_path="download_path"),  # writes a file if it is given a path
    "RecordScreen": Tool("Write", unless="mode", file_path="save_as_filename"),
    "Fetch": Tool("WebFetch"),
    "WebFetch": Tool("WebFetch"),
    "WebSearch": Tool("WebSearch"),
    "Task": Tool("Agent"),
}
RESULTS = Results({"Shell": "output"}, code="exitCode")
# The keys that a rewrite can change. For tools that are not listed here, all of it applies (MCP, and tools that run on Cursor's server).
REWRITES = {
    "Shell": frozenset({"command", "cwd", "timeout"}),
    "Read": frozenset({"file_path"}),
    "Write": frozenset({"file_path"}),
    "Delete": frozenset({"file_path"}),
    "Grep": frozenset({"pattern", "file_path"}),
    "List": frozenset({"file_path"}),
    "ReadLints": frozenset({"file_path"}),
    "Fetch": frozenset({"url"}),
}
MARKS = (Mark(CERTAIN, {"cursor_version": str}), Mark(6, {"hook_event_name": EVENTS, "conversation_id": str}))
SENDS = ("conversation_id", "cursor_version")


def version_of(text: str) -> tuple[int, ...]:
    """The leading numbers of a version: "3.2.16-pre" is (3, 2, 16); empty if there are none."""
    numbers: list[int] = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits[:9]))
        if digits != part:
            break
    return tuple(numbers)


def era(event: Event) -> str:
    version = version_of(event.host_version)
    if event.host_version == SDK_VERSION:
        return "sdk"
    return "documented" if version and version <= LAST_DOCUMENTED else "current"


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Cursor", EVENTS, payload, event_name)
    event.host_version = _text(payload, "cursor_version")
    event.session_id = event.session_id or _text(payload, "conversation_id")
    event.cwd = event.cwd or _first_root(payload)
    event.error = event.error or _text(payload, "error_message")
    event.agent_id, event.agent_type = _text(payload, "subagent_id"), _text(payload, "subagent_type")
    loops = payload.get("loop_count")
    if isinstance(loops, int):
        event.loop_count, event.stop_hook_active = loops, loops > 0
    if row.event in ("AgentResponse", "AgentThought"):
        event.last_assistant_message = _text(payload, "text")
    if row.shape == "prompt":
        event.paths = _attached(payload, event.cwd)
    if row.tool:
        _take_implied_tool(event, row.tool, payload)
    elif "tool_name" in payload or row.shape == "tool":
        _take_named_tool(event, payload)
    return event


def _text(payload: dict[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _first_root(payload: dict[str, Any]) -> str:
    roots = payload.get("workspace_roots")
    return roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""


def _attached(payload: dict[str, Any], cwd: str) -> list[str]:
    """The files attached to a prompt, without rules, which are sent with every prompt."""
    listed = payload.get("attachments")
    attached = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [absolute(item["file_path"], cwd) for item in attached if item.get("type") == "file" and isinstance(item.get("file_path"), str)]


def _take_named_tool(event: Event, payload: dict[str, Any]) -> None:
    name = payload.get("tool_name")
    event.tool_response = decoded(payload.get("tool_output"))
    if isinstance(name, str) and name.startswith("MCP:"):
        _take_mcp(event, name, "", name[len("MCP:") :], payload.get("tool_input"))
        return
    take_tool(event, TOOLS, name, payload.get("tool_input"))


def _take_mcp(event: Event, native_name: str, server: str, tool: str, tool_input: object) -> None:
    arguments = decoded(tool_input)
    take_mcp(event, native_name, arguments if isinstance(arguments, dict) else {"input": arguments}, Mcp(server, tool))


def _take_implied_tool(event: Event, tool: str, payload: dict[str, Any]) -> None:
    if tool == "MCP":
        event.tool_response = decoded(payload.get("result_json"))
        name = payload.get("tool_name")
        if not isinstance(name, str) or not name:
            raise PayloadError(f"{event.native_event} without a tool name")
        _take_mcp(event, name, _text(payload, "mcp_server_name"), name.removeprefix("MCP:"), payload.get("tool_input"))
        return
    if tool == "Bash":
        event.tool_response = payload.get("output")
        given: dict[str, Any] = {key: payload[key] for key in ("command", "cwd") if key in payload}
        if not isinstance(given.get("command"), str):
            raise PayloadError(f"{event.native_event} without a command")
        take_tool(event, TOOLS, "Shell", given)
        return
    given = {key: payload[key] for key in ("file_path", "edits", "content") if key in payload}
    if not isinstance(given.get("file_path"), str):
        raise PayloadError(f"{event.native_event} without a file_path")
    if tool == "Read":
        take_tool(event, TOOLS, "Read", given)
    else:
        event.take_tool(("Edit", "Write"), "Write", given, _edit_facts)


def _edit_facts(event: Event) -> Facts:
    path = absolute(event.tool_input["file_path"], event.cwd)
    return Facts(paths=[path], changes=listed_edits(event.tool_input, path) or [Change(path, "edit", "", "")])


def _documented() -> dict[str, Caps]:
    """Built only for events of an old Cursor, so that others do not pay for it."""
    context_only = Caps(
        dict.fromkeys(("allow", "deny", "ask", "note", "user_message", "modified_input"), _CONTEXT_EVENT), additional_context=HONOURED
    )
    old = {
        "allow": HONOURED, "deny": HONOURED, "ask": HONOURED, "reason": HONOURED, "note": HONOURED, "allow_reason": HONOURED,
        "user_message": HONOURED, "modified_input": _ONLY_PRE, "additional_context": _OLD_CONTEXT,
    }  # fmt: skip
    return {
        "tool": Caps(old, ask_passes=True, modified_input=HONOURED),
        "action": Caps(old, ask_passes=True),
        "read": Caps(old, ask=_READ_ASK),
        "prompt": Caps(
            old, ask=_PROMPT_ASK, reason=_NOT_ON_PROMPT, note=_NOT_ON_PROMPT, allow_reason=_NOT_ON_PROMPT, additional_context=_NOT_ON_PROMPT
        ),
        "session": context_only,
        "context": context_only,
        "stop": Caps(
            {
                "allow": _STOP_DECISION, "deny": _STOP_DECISION, "ask": _STOP_DECISION, "note": HONOURED, "user_message": _STOP_ONLY,
                "modified_input": _STOP_ONLY, "additional_context": _STOP_ONLY,
            }
        ),
        "response": Caps(
            {"allow": HONOURED, "deny": HONOURED, "ask": dropped("an answer cannot ask"), "reason": _TO_USER, "user_message": HONOURED}
        ),
    }  # fmt: skip


def caps(event: Event) -> Caps:
    shape = EVENTS[event.native_event].shape
    current = era(event)
    if current == "sdk" and shape in _SDK:
        return _SDK[shape]
    honoured = (_documented().get(shape) if current == "documented" else None) or _CURRENT[shape]
    if honoured.ask_passes and (current != "documented" or version_of(event.host_version) >= ASK_BROKEN_SINCE):
        honoured = honoured.but(_ASK_WARNING.replace("{version}", event.host_version or "of unknown version"), ask=_NEVER_ASKS)
    if event.native_event == "postToolUse" and event.mcp is not None and current != "documented":
        honoured = honoured.but(modified_output=HONOURED)
    if shape == "tool" and event.native_tool in REWRITES:
        honoured = honoured.but(rewrites=REWRITES[event.native_tool])
    return honoured


def render(event: Event, response: Response, chatter: bool) -> Output:
    shape = EVENTS[event.native_event].shape
    denied = response.decision == "deny"
    documented = era(event) == "documented"
    body: dict[str, Any] = {}
    if shape in ("prompt", "session"):
        if shape == "prompt" or denied:
            body["continue"] = not denied
    elif shape == "stop":
        if response.reason is not None and response.decision != "allow":
            body["followup_message"] = response.reason
    elif shape == "response":
        if response.decision:
            body["permission"] = response.decision
        if response.user_message is not None:
            body["userMessage"] = response.user_message
        return Output(dumps(body), 2 if denied else 0)
    else:
        body = _permission(shape, response, documented)
    if response.user_message is not None:
        body.setdefault("user_message", response.user_message)
    if response.modified_output is not None:
        body["updated_mcp_tool_output"] = response.modified_output
    if response.additional_context is not None:
        body["additional_context"] = response.additional_context
    # Always an object, {} at least: with failClosed an empty stdout blocks.
    return Output(dumps(body), 2 if denied and documented and shape != "stop" else 0)


def _permission(shape: str, response: Response, documented: bool) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if response.decision and shape in ("tool", "action", "read", "subagent"):
        body["permission"] = response.decision
    if response.reason is not None and shape != "subagent":
        body["agent_message"] = response.reason
        if not documented:
            # Local tools pass only user_message on to the model, so it has to contain the reason.
            body["user_message"] = response.reason if response.user_message is None else f"{response.user_message}\n\n{response.reason}"
    if response.modified_input is not None:
        body["updated_input"] = response.modified_input
    return body
