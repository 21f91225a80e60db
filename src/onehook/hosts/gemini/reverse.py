"""Gemini CLI in reverse: the payload that it would send for an event, and how it reads a hook's answer (0.61.0)."""

from __future__ import annotations

from onehook.core import Event, HandlerError, Response
from onehook.hostkit import reverse
from onehook.hostkit.tools import Tool
from onehook.hosts.gemini.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Gemini CLI"
ENV_FILE = ""
ANSWERS = reverse.ANSWER
_NAMES = reverse.native_names(TOOLS)
_SPELLING = {
    **TOOLS,
    "run_shell_command": Tool("Bash", run_in_background="is_background"),
    "replace": Tool("Edit", replace_all="allow_multiple"),
    "grep_search": Tool("Grep", path="dir_path", glob="include_pattern"),
}
_LACKS = {"Bash": ("timeout",), "Read": ("offset", "limit"), "Grep": ("output_mode",), "Agent": ("description",)}
FIELDS: dict[str, dict[str, Any]] = {
    "BeforeAgent": {"prompt": ""},
    "AfterAgent": {"prompt": "", "stop_hook_active": False},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "exit"},
    "PreCompress": {"trigger": "auto"},
    "Notification": {"notification_type": "ToolPermission", "message": "", "details": {}},
}
_REQUEST = ("BeforeModel", "AfterModel", "BeforeToolSelection")


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Gemini CLI would send for this event."""
    body: dict[str, Any] = {
        "session_id": event.session_id,
        "transcript_path": reverse.own_transcript(event, ID, ("/.gemini/", "/session-")),
        "cwd": event.cwd,
        "hook_event_name": name,
        "timestamp": reverse.sent_text(event, "timestamp", reverse.TIME),
    }
    if name in ("BeforeTool", "AfterTool"):
        body.update(_tool(event, name))
    if name in _REQUEST:
        body["llm_request"] = {"model": event.model, "messages": []}
    if name == "AfterModel":
        body["llm_response"] = {"candidates": []}
    if name == "AfterAgent":
        body.update(prompt=event.prompt, prompt_response=event.last_assistant_message)
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    return body


def variables(event: Event, project: str) -> dict[str, str]:
    """What Gemini CLI sets for its hooks, without GEMINI_PLANS_DIR: other hosts have no such folder."""
    where = {"GEMINI_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project, "GEMINI_CWD": event.cwd or project}
    return {**where, "GEMINI_SESSION_ID": event.session_id}


def _tool(event: Event, name: str) -> dict[str, Any]:
    native, given = _call(event)
    body: dict[str, Any] = {"tool_name": native, "tool_input": given}
    if name == "AfterTool":
        body["tool_response"] = _tool_response(event)
    if event.mcp is not None:
        body["mcp_context"] = {"server_name": event.mcp.server, "tool_name": event.mcp.tool}
    return body


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return "_".join(word for word in ("mcp", event.mcp.server, event.mcp.tool) if word), given
    native = _NAMES.get(tool, tool)
    if native == "web_fetch":
        return native, _fetch(given)
    return native, reverse.spelled(_SPELLING.get(native), given, lacks=_LACKS.get(tool, ()))


def _fetch(given: dict[str, Any]) -> dict[str, Any]:
    """Gemini CLI takes the URL from the prompt; a string that it would not recognise as a URL goes under a separate key."""
    url, prompt = given.get("url", ""), given.get("prompt", "")
    if not isinstance(prompt, str):
        return given
    said = prompt if url and url in prompt.split() else f"{url} {prompt}".strip()
    found = " ".join(word for word in said.split() if "://" in word)
    body = {key: value for key, value in given.items() if key != "url"}
    return {**body, "prompt": said} if found == url else {**body, "url": url, "prompt": prompt}


def _tool_response(event: Event) -> dict[str, Any]:
    response = event.tool_response
    if isinstance(response, dict) and "llmContent" in response:
        return response
    text = event.result.text
    body: dict[str, Any] = {"llmContent": text, "returnDisplay": text}
    return {**body, "error": {"message": event.error}} if event.error else body


_HOST = reverse.Host(ID, LABEL, EVENTS, _SPELLING, _payload)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

# What Gemini CLI accepts besides a decision but a Response cannot express.
_UNSAID = {
    "result": ("tailToolCallRequest",), "continue": ("clearContext",), "model": ("llm_request", "llm_response"), "nothing": ("toolConfig",),
}  # fmt: skip
_TAKES_CONTEXT = ("result", "prompt", "context")
_STOPPABLE = ("permission", "result", "prompt", "continue", "model")
_NO_REASON = "No reason provided"


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Gemini CLI reads a hook's answer. Raises HandlerError for what it treats as a failed hook.

    JSON counts whatever the exit code is; for plain text the code decides, and every code except 0 and 1 denies. A hook ended by a signal
    has code 0.
    """
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    text = stdout.strip() or stderr.strip()
    is_json, value = reverse.printed_json(text) if text else (False, None)
    body: dict[str, Any] = value if isinstance(value, dict) else {}
    if not is_json and exit_code > 0:
        if exit_code == 1 or not text:
            raise reverse.exit_problem(LABEL, exit_code, text)
        body = {"decision": "deny", "reason": text}
    elif reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    elif not is_json and text:
        body = {"systemMessage": text}
    heard = _heard(event, name, shape, body)
    own = reverse.part_of(reverse.object_in(body, "hookSpecificOutput"), _UNSAID.get(shape, ()))
    heard.native = reverse.kept_for(ID, event, {"hookSpecificOutput": {"hookEventName": name, **own}} if own else {})
    return heard


def losses(event: Event, stdout: str, exit_code: int, native_event: str = "") -> list[str]:
    """The fields of an accepted answer that Gemini CLI acts on but a Response cannot carry: even with a denial, or at the end of
    the turn, it clears the context and makes another call. Without a denial answer() refuses them."""
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    value = reverse.printed_json(stdout.strip())[1]
    specific = reverse.object_in(value, "hookSpecificOutput") if isinstance(value, dict) else {}
    return reverse.set_in(specific, _UNSAID[shape]) if shape in ("result", "continue") else []


def _heard(event: Event, name: str, shape: str, body: dict[str, Any]) -> Response:
    specific = reverse.object_in(body, "hookSpecificOutput")
    heard = Response() if shape == "nothing" else Response(user_message=reverse.text_in(body, "systemMessage"))
    if shape in _TAKES_CONTEXT:
        heard.additional_context = reverse.text_in(specific, "additionalContext")
    halted = body.get("continue") is False
    if halted and shape == "continue":  # the turn ends, so the stop was not denied
        said = (heard.user_message, reverse.text_in(body, "stopReason"))
        return Response(user_message="\n\n".join(text for text in said if text) or None)
    if shape in _STOPPABLE and (halted or body.get("decision") in ("deny", "block")):
        heard.decision = "deny"
        heard.reason = reverse.text_in(body, "stopReason", "reason") or _NO_REASON
        if shape == "result":
            heard.additional_context = None  # if a result is denied, the model gets only the reason
        return heard
    if event.host != ID:
        reverse.refuse_unsaid(LABEL, specific, _UNSAID.get(shape, ()))
    if shape == "permission":  # an allow does not skip a dialog there, so it equals no answer
        heard.decision = "ask" if body.get("decision") == "ask" else None
        if isinstance(specific.get("tool_input"), dict):
            heard.modified_input = _rewrite(event, name, specific["tool_input"])
    return heard


def _rewrite(event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
    sent = payload(event, name)
    if event.host != ID and sent["tool_name"] == "web_fetch" and updated.get("prompt") != sent["tool_input"].get("prompt"):
        raise HandlerError("the hook rewrites the prompt of web_fetch, which contains the URL; other agents have separate fields for them")
    return _HOST.rewrite(event, name, updated)
