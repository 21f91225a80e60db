"""Copilot CLI the other way round: the payload it would send for an event, and its reading of a hook's answer (1.0.102)."""

from __future__ import annotations

from onehook.core import Event, HandlerError, Response
from onehook.hosts import reversing
from onehook.hosts.copilot.wire import CHILD, EVENTS, ID, PASCAL, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.hosts.reversing import Spec

LABEL = "Copilot CLI"
_NAMES = {
    "Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "Grep": "grep", "Glob": "glob", "WebFetch": "web_fetch",
    "WebSearch": "web_search", "Agent": "task",
}  # fmt: skip
# By the unified event, in the words of the PascalCase dialect; the other one is spelled from these.
FIELDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "new"},
    "SessionEnd": {"reason": "complete"},
    "UserPromptSubmit": {"prompt": ""},
    "UserPromptTransformed": {"prompt": "", "transformed_prompt": ""},
    "PostToolUseFailure": {"error": ""},
    "Stop": {"transcript_path": "", "stop_reason": "end_turn", "stop_hook_active": False},
    "TeammateIdle": {"transcript_path": "", "stop_reason": "end_turn", "stop_hook_active": False},
    "SubagentStop": {
        "transcript_path": "", "agent_name": "general-purpose", "last_assistant_message": "", "stop_reason": "end_turn",
        "stop_hook_active": False,
    },
    "SubagentStart": {"transcript_path": "", "agent_name": "general-purpose"},
    "PreCompact": {"transcript_path": "", "trigger": "auto"},
    "Notification": {"message": "", "notification_type": "agent_idle"},
}  # fmt: skip
_CAMEL = {
    "session_id": "sessionId", "tool_name": "toolName", "tool_input": "toolArgs", "tool_result": "toolResult", "result_type": "resultType",
    "text_result_for_llm": "textResultForLlm", "initial_prompt": "initialPrompt", "transformed_prompt": "transformedPrompt",
    "transcript_path": "transcriptPath", "stop_reason": "stopReason", "agent_id": "agentId", "agent_type": "agentType",
    "agent_name": "agentName", "parent_agent_id": "parentAgentId", "last_assistant_message": "response",
}  # fmt: skip


def parts(event: Event) -> list[Event]:
    """One event per changed file, since Copilot's tools change one file each."""
    return reversing.parts(event, ID)


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    """What Copilot would send for this event."""
    name = reversing.native_name(ID, LABEL, EVENTS, event, native_event)
    if event.host == ID and event.native and name == event.native_event:
        return _again(event)
    reversing.require_tool(LABEL, event)
    pascal = name in PASCAL or name == "Stop.child"
    body: dict[str, Any] = {"session_id": event.session_id, "timestamp": "1970-01-01T00:00:00.000Z" if pascal else 0, "cwd": event.cwd}
    if pascal or name == "notification":
        body["hook_event_name"] = "Stop" if name in CHILD else EVENTS[name].event
    if name == "permissionRequest":
        body.update(hookName=name, permissionSuggestions=[])
    if event.event == "SessionStart":
        body["initial_prompt"] = event.prompt
    body.update(reversing.filled(event, FIELDS.get(event.event, {})))
    if event.agent_id or event.event in ("SubagentStart", "SubagentStop", "TeammateIdle"):
        agent = event.agent_id or "subagent"
        body.update(
            agent_id=agent, agent_type=reversing.sent_text(event, "agent_type", "general-purpose"), parent_agent_id=event.session_id
        )
    if event.event in reversing.TOOL_EVENTS:
        body.update(_tool(event, name, pascal))
    return body if pascal else _camel(body)


def _camel(body: dict[str, Any]) -> dict[str, Any]:
    return {_CAMEL.get(key, key): value for key, value in body.items()}


def _again(event: Event) -> dict[str, Any]:
    """The payload as it came, with the input as it is now."""
    body = dict(event.native)
    for key in ("toolArgs", "tool_input", "toolInput"):
        if key in body and event.tool:
            body[key] = reversing.sent_again(body[key], event.tool_input)
    return body


def _tool(event: Event, name: str, pascal: bool) -> dict[str, Any]:
    tool, given = reversing.call_of(event)
    native = tool if pascal and tool in TOOLS else _NAMES.get(tool, tool)
    joint = "/" if name == "permissionRequest" else "-"
    if event.mcp is not None:
        native = f"{event.mcp.server or 'mcp'}{joint}{event.mcp.tool}"  # some hosts do not say which server it is
    if name == "permissionRequest":
        if tool in ("Write", "Edit"):
            return _change_asked_for(given)
        return {"tool_name": native, "toolInput": reversing.spelled(TOOLS.get(native), given)}
    body: dict[str, Any] = {"tool_name": native, "tool_input": reversing.spelled(TOOLS.get(native), given)}
    if event.event == "PostToolUse":
        result = {"result_type": "success", "text_result_for_llm": reversing.output_text(event.tool_response)}
        body["tool_result"] = result if pascal else _camel(result)
    return body


def _change_asked_for(given: dict[str, Any]) -> dict[str, Any]:
    """Both are asked for as an edit, with a diff; of that there is the new text."""
    asked = {"file_path": given.get("file_path", ""), "diff": given.get("content", given.get("new_string", ""))}
    return {"tool_name": "edit", "toolInput": asked}


# ---- answers ----

_FLAT: dict[str, Spec] = {
    "permission": {
        "permissionDecision": ("allow", "deny", "ask"), "permissionDecisionReason": str, "modifiedArgs": dict, "additionalContext": str,
    },
    "request": {"behavior": ("allow", "deny"), "message": str},
    "block": {"decision": ("block",), "reason": str, "additionalContext": str},
    "feedback": {"decision": ("block",), "reason": str, "additionalContext": str},
    "failure": {"additionalContext": str},
    "continue": {"decision": ("block",), "reason": str},
    "context": {"additionalContext": str},
    "message": {},
}  # fmt: skip
_STRICT = ("permission", "request")  # every exit code but 0 denies there


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """What Copilot makes of a hook's answer. HandlerError for what it calls a failed hook and goes on after."""
    name = reversing.native_name(ID, LABEL, EVENTS, event, native_event)
    shape = EVENTS[name].shape
    told, body = _read(stdout)
    nested = body.pop("hookSpecificOutput", None)
    if name == "PreToolUse" and isinstance(nested, dict):  # read there alone, and the flat keys win
        body = {**{"modifiedArgs" if key == "updatedInput" else key: value for key, value in nested.items()}, **body}
    known = {key: value for key, value in body.items() if key in _FLAT[shape]}
    if exit_code != 0 and shape not in _STRICT:
        raise reversing.exit_problem(LABEL, exit_code, stderr)
    problem = reversing.problem_in(known, _FLAT[shape])
    if problem:
        raise HandlerError(f"Copilot hook: {problem} on {name}, so the answer is not used")
    heard = _heard(event, name, shape, known)
    heard.user_message = told
    if exit_code != 0 and heard.decision != "deny":
        heard.decision, heard.modified_input = "deny", None
        heard.reason = f"hook exited with code {exit_code}"
    return heard


def _read(stdout: str) -> tuple[str | None, dict[str, Any]]:
    """What the progress lines tell the user, and the one other object; anything else is no answer."""
    told: list[str] = []
    rest: list[str] = []
    for line in stdout.splitlines():
        progress = reversing.json_object(line)
        if progress is not None and progress.get("type") == "progress" and isinstance(progress.get("message"), str):
            told.append(progress["message"])
        else:
            rest.append(line)
    return "\n\n".join(told) or None, reversing.json_object("\n".join(rest)) or {}


def _heard(event: Event, name: str, shape: str, body: dict[str, Any]) -> Response:
    heard = Response(additional_context=body.get("additionalContext"))
    if shape == "permission":
        heard.decision, heard.reason = body.get("permissionDecision"), body.get("permissionDecisionReason")
        if "modifiedArgs" in body and heard.decision != "deny":
            heard.modified_input = _rewrite(event, name, body["modifiedArgs"])
    elif shape == "request":
        heard.decision, heard.reason = body.get("behavior"), body.get("message")
    elif body.get("decision") == "block":
        heard.decision, heard.reason = "deny", body.get("reason")
        if shape == "feedback":
            heard.additional_context = None
    if heard.decision == "deny" and not heard.reason:
        heard.reason = "blocked by a hook"
    return heard


def _rewrite(event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
    if event.host == ID:
        return updated
    sent = payload(event, name)
    tool, given = (sent["tool_name"], sent["tool_input"]) if name in PASCAL else (sent["toolName"], sent["toolArgs"])
    return reversing.rewrite_for(event, TOOLS.get(tool), given, updated)
