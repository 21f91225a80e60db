"""Gemini CLI: what it sends and what it obeys (0.61.0; see docs/hosts/gemini.md).

It takes one JSON object on stdout whatever the exit code, reads stderr if stdout is empty, and shows exit 2 as a failed hook beside
the denial. So every answer is exit 0 with an object, {} at least: a handler's own output can then never be taken for an answer.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Facts, Mcp, Output, PayloadError
from onehook.hostkit.effects import Becomes, Row, StandIn
from onehook.hostkit.tools import Tool, absolute, take_common, take_tool, tool_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Response
    from onehook.hostkit.effects import Caps

ID = "gemini"
UNREADABLE = ("", 1)
ERROR_EXIT = 1
BORROWED_BY: tuple[tuple[str, str], ...] = ()

EVENTS = {
    "BeforeTool": Row("PreToolUse", "permission", gates=True),
    "AfterTool": Row("PostToolUse", "result"),
    "BeforeAgent": Row("UserPromptSubmit", "prompt", gates=True),
    "AfterAgent": Row("Stop", "continue"),
    "SessionStart": Row("SessionStart", "context"),
    "BeforeModel": Row("BeforeModel", "model", gates=True),
    "AfterModel": Row("AfterModel", "model"),
    "PreCompress": Row("PreCompact", "message", confirmed=True),  # comes before every request to the model, seldom before a compression
    "Notification": Row("Notification", "message"),
    "SessionEnd": Row("SessionEnd", "nothing"),
    "BeforeToolSelection": Row("BeforeToolSelection", "nothing"),
}

# A subagent is a tool here, and only that; after a compression no session starts.
STAND_INS = {
    "BeforeTool": StandIn("SubagentStart", tool="Agent"),
    "AfterTool": StandIn("SubagentStop", tool="Agent"),
    "PreCompress": StandIn("SessionStart", source="compact"),
}

# Nothing in the payload or the environment says whether a person is there: `gemini -p` in a terminal looks like the TUI to a hook.
_ASK = "Gemini CLI waits forever if nobody is there to answer, and a hook cannot tell"
_NO_ASK = "only BeforeTool can ask"
_ONLY_BEFORE = "Gemini CLI takes a rewrite only on BeforeTool"
_NO_NOTE = "Gemini CLI takes a reason only with a denial"
_CONTEXT_PLACES = "Gemini CLI takes context on SessionStart, BeforeAgent and AfterTool only"
_NOT_BLOCKABLE = "Gemini CLI cannot stop this event; the reason is shown to the user"
CAPS: dict[str, Caps] = {
    "permission": {
        "allow": True, "deny": True, "ask": _ASK, "ask_can_pass": True, "reason": True, "ask_reason": Becomes("user_message"),
        "note": _NO_NOTE, "allow_reason": _NO_NOTE, "user_message": True, "modified_input": True, "additional_context": _CONTEXT_PLACES,
    },
    "result": {
        "allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "note": _NO_NOTE, "allow_reason": _NO_NOTE, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": True,
    },
    "prompt": {
        "allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "note": _NO_NOTE, "allow_reason": _NO_NOTE, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": True,
    },
    "continue": {
        "allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "note": _NO_NOTE, "allow_reason": _NO_NOTE, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": _CONTEXT_PLACES,
    },
    "context": {
        "allow": True, "deny": _NOT_BLOCKABLE, "ask": _NO_ASK, "note": Becomes("user_message"), "allow_reason": Becomes("user_message"),
        "user_message": True, "modified_input": _ONLY_BEFORE, "additional_context": True,
    },
    "model": {
        "allow": True, "deny": True, "ask": _NO_ASK, "reason": True, "note": _NO_NOTE, "allow_reason": _NO_NOTE, "user_message": True,
        "modified_input": _ONLY_BEFORE, "additional_context": _CONTEXT_PLACES,
    },
    "message": {
        "allow": True, "deny": _NOT_BLOCKABLE, "ask": _NO_ASK, "note": Becomes("user_message"), "allow_reason": Becomes("user_message"),
        "user_message": True, "modified_input": _ONLY_BEFORE, "additional_context": _CONTEXT_PLACES,
    },
    "nothing": {"allow": True, "silent": True},
}  # fmt: skip

TOOLS = {
    "run_shell_command": Tool("Bash"),
    "read_file": Tool("Read"),
    "read_many_files": Tool("Read"),
    "write_file": Tool("Write"),
    "replace": Tool("Edit"),
    "grep_search": Tool("Grep", path="dir_path"),
    "search_file_content": Tool("Grep", path="dir_path"),  # what grep_search was called before
    "glob": Tool("Glob", path="dir_path"),
    "list_directory": Tool("List", path="dir_path"),
    "web_fetch": Tool("WebFetch"),
    "google_web_search": Tool("WebSearch"),
    "invoke_agent": Tool("Agent"),
}
# Tools whose input names no single file or URL: what a rewrite can change. Another key would be taken and have no effect.
REWRITES = {
    "read_many_files": frozenset({"include", "exclude", "recursive", "useDefaultExcludes", "file_filtering_options"}),
    "web_fetch": frozenset({"prompt"}),
}
_OWN_NAMES = frozenset(EVENTS) - {"SessionStart", "SessionEnd", "Notification"}


def score(payload: dict[str, Any]) -> int:
    name = payload.get("hook_event_name")
    if not isinstance(name, str) or name not in EVENTS or not isinstance(payload.get("session_id"), str):
        return 0
    if not isinstance(payload.get("timestamp"), str) or "cursor_version" in payload or "conversation_id" in payload:
        return 0
    if name in _OWN_NAMES:
        return 10
    # Three names are Qwen Code's and Copilot's too: the one sends the mode, the other leaves the transcript out of these, and where
    # there is none yet Gemini CLI sends "".
    transcript = payload.get("transcript_path")
    if not isinstance(transcript, str) or "permission_mode" in payload:
        return 0
    where = transcript.replace("\\", "/")
    return 10 if not where or "/.gemini/" in where or where.rpartition("/")[2].startswith("session-") else 0


def parse(payload: dict[str, Any], event_name: str) -> Event:
    name = payload.get("hook_event_name", event_name)
    row = EVENTS.get(name) if isinstance(name, str) else None
    if row is None:
        raise PayloadError(f"Gemini CLI has no event {name!r}")
    event = Event(row.event, ID, payload)
    event.native_event = name
    take_common(event, payload)
    if isinstance(payload.get("prompt_response"), str):
        event.last_assistant_message = payload["prompt_response"]
    if row.event == "Stop":
        # After a tool call stop_hook_active is false again, so an agent that is sent back to work and works would never be let go.
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
        take_tool(event, TOOLS, name, given)  # says what is wrong
        return
    mcp = _mcp_of(name, payload.get("mcp_context"))
    if mcp is not None:
        event.take_tool(("MCP",), name, given, lambda _: Facts(mcp=mcp))
    elif name == "web_fetch":
        take_tool(event, TOOLS, name, given, _fetch_facts)
    elif name == "read_many_files":
        take_tool(event, TOOLS, name, given, _many_facts)
    else:
        take_tool(event, TOOLS, name, given)


def _failure(response: object) -> str:
    """A tool that failed has its error inside the response; there is no event of its own for it."""
    error = response.get("error") if isinstance(response, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else ""


def _mcp_of(name: str, context: object) -> Mcp | None:
    """mcp_<server>_<tool>. Both names may hold "_", so the context says which is which; it is left out if the server is gone."""
    if isinstance(context, dict) and isinstance(context.get("server_name"), str) and isinstance(context.get("tool_name"), str):
        return Mcp(context["server_name"], context["tool_name"])
    return Mcp.joined(name[len("mcp_") :], "_") if name.startswith("mcp_") else None


def _fetch_facts(event: Event) -> Facts:
    """The URLs stand in the prompt, as words with "://"; with more than one, `url` holds them all, so that none is hidden."""
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
    if rewritable is not None and "url" not in event.tool_input:
        honoured = {**honoured, "rewrites": rewritable}
    return honoured


def render(event: Event, response: Response, chatter: bool) -> Output:
    name = event.native_event
    shape = EVENTS[name].shape
    reason, context = response.reason, response.additional_context
    body: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if response.decision == "deny":
        if shape == "result" and context is not None:
            reason, context = f"{reason}\n\n{context}", None  # of a denied result the reason is all that the model gets
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
