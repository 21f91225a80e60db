"""Gemini CLI: what it sends and what it obeys (0.61.0; see docs/hosts/gemini.md).

It reads one JSON object on stdout whatever the exit code, reads stderr if stdout is empty, and shows exit 2 as a failed hook in addition
to the denial. So every answer is exit 0 with an object, at least {}: a handler's own output can then never be mistaken for an answer.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Facts, Mcp, Output, PayloadError
from onehook.hostkit.effects import CERTAIN, HONOURED, NO_CHANNEL, SILENT, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped
from onehook.hostkit.tools import Tool, absolute, begun, take_mcp, take_tool, tool_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response

ID = "gemini"
TRAITS = Traits(
    skills={"activate_skill": "name"},
    variables=("GEMINI_CLI", "GEMINI_CWD", "GEMINI_PLANS_DIR", "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID", "CLAUDE_PROJECT_DIR"),
    # A subagent is nothing but a tool here; after a compression no session starts.
    stand_ins={
        "BeforeTool": StandIn("SubagentStart", tool="Agent"),
        "AfterTool": StandIn("SubagentStop", tool="Agent"),
        "PreCompress": StandIn("SessionStart", source="compact"),
    },
)

EVENTS = {
    "BeforeTool": Row("PreToolUse", "permission", gates=True),
    "AfterTool": Row("PostToolUse", "result"),
    "BeforeAgent": Row("UserPromptSubmit", "prompt", gates=True),
    "AfterAgent": Row("Stop", "continue"),
    "SessionStart": Row("SessionStart", "context"),
    "BeforeModel": Row("BeforeModel", "model", gates=True),
    "AfterModel": Row("AfterModel", "model"),
    "PreCompress": Row("PreCompact", "message", confirmed=True),  # comes before every request to the model, rarely before a compression
    "Notification": Row("Notification", "message"),
    "SessionEnd": Row("SessionEnd", "nothing"),
    "BeforeToolSelection": Row("BeforeToolSelection", "nothing"),
}

# Nothing in the payload or the environment shows whether a person is there: `gemini -p` in a terminal looks like the TUI to a hook.
_ASK = dropped("Gemini CLI waits forever if nobody is there to answer, and a hook cannot tell")
_NO_ASK = dropped("only BeforeTool can ask")
_ONLY_BEFORE = dropped("Gemini CLI takes a rewrite only on BeforeTool")
_NO_NOTE = dropped("Gemini CLI takes a reason only with a denial")
_CONTEXT_PLACES = dropped("Gemini CLI takes context on SessionStart, BeforeAgent and AfterTool only")
_NOT_BLOCKABLE = dropped("Gemini CLI cannot stop this event; the reason is shown to the user")
_TO_USER = Cap("moved", becomes="user_message")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": HONOURED, "modified_input": _ONLY_BEFORE, "additional_context": _CONTEXT_PLACES,
}  # fmt: skip
_PLAIN, _WITH_CONTEXT = Caps(_BASE), Caps(_BASE, additional_context=HONOURED)
_MESSAGE = Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL, note=_TO_USER, allow_reason=_TO_USER)
CAPS = {
    "permission": Caps(_BASE, ask=_ASK, ask_passes=True, ask_reason=_TO_USER, modified_input=HONOURED),
    "result": _WITH_CONTEXT.but(modified_output=HONOURED),
    "prompt": _WITH_CONTEXT,
    "continue": _PLAIN,
    "context": _MESSAGE.but(additional_context=HONOURED),
    "model": _PLAIN,
    "message": _MESSAGE,
    "nothing": SILENT,
}

TOOLS = {
    "run_shell_command": Tool("Bash", shell="system"),
    "read_file": Tool("Read"),
    "read_many_files": Tool("Read", unless="include"),
    "write_file": Tool("Write"),
    "replace": Tool("Edit"),
    "grep_search": Tool("Grep", path="dir_path", glob="include_pattern"),
    "search_file_content": Tool("Grep", path="dir_path"),  # the former name of grep_search
    "glob": Tool("Glob", path="dir_path"),
    "list_directory": Tool("List", path="dir_path"),
    "web_fetch": Tool("WebFetch", unless="prompt"),
    "google_web_search": Tool("WebSearch"),
    "invoke_agent": Tool("Agent", subagent_type="agent_name"),
}
RESULTS = Results(
    {"*": "llmContent"}, heads=("<untrusted_context>\nOutput: ", "<untrusted_context>\n"), empty="(empty)", framed=("Bash", "MCP"),
    tails=("</untrusted_context>", "Process Group PGID: #", "Background PIDs: #", "Signal: #", "Exit Code: #"),
    marker="Exit Code: ", code_if_none=0,
)  # fmt: skip
# What a rewrite can change for tools whose input does not name a single file or URL. Other keys would be accepted without effect.
REWRITES = {
    "read_many_files": frozenset({"include", "exclude", "recursive", "useDefaultExcludes", "file_filtering_options"}),
    "web_fetch": frozenset({"prompt"}),
}
_OWN_NAMES = frozenset(EVENTS) - {"SessionStart", "SessionEnd", "Notification"}  # names that Gemini CLI made up
_ANY = {"hook_event_name": EVENTS, "session_id": str, "timestamp": str}
MARKS = (
    Mark(CERTAIN, {**_ANY, "hook_event_name": _OWN_NAMES}),
    Mark(9, _ANY, folder="/.gemini/"),
    Mark(9, _ANY, file="session-"),
    Mark(9, {**_ANY, "transcript_path": ("",)}),  # until the chat has a file
)
SENDS = ("timestamp",)


def parse(payload: dict[str, Any], event_name: str) -> Event:
    event, row = begun(ID, "Gemini CLI", EVENTS, payload, event_name)
    if isinstance(payload.get("prompt_response"), str):
        event.last_assistant_message = payload["prompt_response"]
    if row.event == "Stop":
        # After a tool call stop_hook_active is false again, so an agent that is sent back to work and does work could never stop.
        event.stop_chain = f"prompt: {event.prompt}"
    request = payload.get("llm_request")
    if isinstance(request, dict) and isinstance(request.get("model"), str):
        event.model = request["model"]
    if "tool_name" in payload or row.shape == "permission":
        _take_tool(event, payload)
    return event


def _take_tool(event: Event, payload: dict[str, Any]) -> None:
    name, given = payload.get("tool_name"), payload.get("tool_input")
    event.tool_response = payload.get("tool_response")
    event.error = _failure(event.tool_response)
    if not isinstance(name, str) or not isinstance(given, dict):
        take_tool(event, TOOLS, name, given)  # raises an error that names the problem
        return
    mcp = _mcp_of(name, payload.get("mcp_context"))
    if mcp is not None:
        take_mcp(event, name, given, mcp)
    elif name == "web_fetch":
        take_tool(event, TOOLS, name, given, _fetch_facts)
    elif name == "read_many_files":
        take_tool(event, TOOLS, name, given, _many_facts)
    else:
        take_tool(event, TOOLS, name, given)


def _failure(response: object) -> str:
    """A failed tool has its error inside the response; there is no separate event for it."""
    error = response.get("error") if isinstance(response, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else ""


def _mcp_of(name: str, context: object) -> Mcp | None:
    """mcp_<server>_<tool>. Both names may contain "_", so the context shows which is which; it is omitted if the server is gone."""
    if isinstance(context, dict) and isinstance(context.get("server_name"), str) and isinstance(context.get("tool_name"), str):
        return Mcp(context["server_name"], context["tool_name"])
    return Mcp.joined(name[len("mcp_") :], "_") if name.startswith("mcp_") else None


def _fetch_facts(event: Event) -> Facts:
    """The URLs are in the prompt, as words with "://"; if there are several, `url` holds them all, so that none is hidden."""
    url = tool_text(event, "url")
    return Facts(url=url or " ".join(word for word in tool_text(event, "prompt").split() if "://" in word))


def _many_facts(event: Event) -> Facts:
    patterns = event.tool_input.get("include", [])
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
        raise PayloadError(f"{event.native_tool}: tool_input.include is not a list of strings")
    return Facts(paths=[absolute(pattern, event.cwd) for pattern in patterns])


def caps(event: Event) -> Caps:
    honoured = CAPS[EVENTS[event.native_event].shape]
    rewritable = REWRITES.get(event.native_tool)
    return honoured if rewritable is None or "url" in event.tool_input else honoured.but(rewrites=rewritable)


def render(event: Event, response: Response, chatter: bool) -> Output:
    name = event.native_event
    shape = EVENTS[name].shape
    reason, context = response.reason, response.additional_context
    replaced = response.modified_output is not None
    body: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if replaced:
        from onehook.hostkit.results import framed

        reason = "\n\n".join(filter(None, (framed(event, RESULTS, response.modified_output), reason)))
    if response.decision == "deny" or replaced:
        if shape == "result" and context is not None:
            reason, context = f"{reason}\n\n{context}", None  # if a result is denied, the model gets only the reason
        body["decision"] = "deny"
        body["reason"] = reason
    elif response.decision == "ask":
        body["decision"] = "ask"
    if response.user_message is not None:
        body["systemMessage"] = response.user_message
    if response.modified_input is not None:
        specific["tool_input"] = response.modified_input
    if context is not None:
        specific["additionalContext"] = context
    if specific:
        body["hookSpecificOutput"] = {"hookEventName": name, **specific}
    if shape == "nothing" and not chatter:
        return Output("")  # on BeforeToolSelection even {} resets the choice of tools
    return Output(dumps(body))
