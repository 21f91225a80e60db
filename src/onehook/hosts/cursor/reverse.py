"""Cursor in reverse: the payload that it would send for an event, and how it reads a hook's answer.

Answers are read as the hook runtime of @cursor/sdk 1.0.32 reads them. For events of Cursor up to 3.2.16, whose runtime was not
available, they are read as the public documents specify (JSON counts beside exit 2, and afterAgentResponse can be denied).
"""

from __future__ import annotations

from onehook.codec import compact
from onehook.core import STOPS, Event, HandlerError, Response, UsageError
from onehook.hostkit import reverse
from onehook.hostkit.tools import decoded
from onehook.hosts.cursor.wire import EVENTS, ID, RESULTS, TOOLS, era

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.hostkit.reverse import Spec

LABEL = "Cursor"
ENV_FILE = ""
ANSWERS = (
    "permission", "continue", "user_message", "agent_message", "additional_context", "additionalContext", "updated_input",
    "updated_mcp_tool_output", "followup_message", "decision", "reason", "env", "pluginPaths", "userMessage",
)  # fmt: skip
VERSION = "3.3.0"  # for another host's event: newer than the documents, so that answers have the current form
_NAMES = {"Bash": "Shell", "Edit": "Write", "WebFetch": "Fetch", "Agent": "Task"}
_SUBAGENT = {"parent_conversation_id": "", "task": ""}
_USAGE = {"context_usage_percent": 0, "context_tokens": 0, "context_window_size": 0, "message_count": 0, "messages_to_compact": 0}
FIELDS: dict[str, dict[str, Any]] = {
    "sessionStart": {"is_background_agent": False},
    "sessionEnd": {"reason": "completed", "duration_ms": 0, "is_background_agent": False, "final_status": "completed"},
    "beforeSubmitPrompt": {"prompt": "", "attachments": []},
    "stop": {"status": "completed"},
    "subagentStart": {**_SUBAGENT, "tool_call_id": "", "subagent_model": "", "is_parallel_worker": False},
    "subagentStop": {
        **_SUBAGENT, "status": "completed", "duration_ms": 0, "summary": "", "message_count": 0, "tool_call_count": 0,
        "modified_files": [], "description": "", "agent_transcript_path": None,
    },
    "preCompact": {"trigger": "auto", **_USAGE, "is_first_compaction": True},
    "postToolUse": {"duration": 0},
    "postToolUseFailure": {"failure_type": "error", "duration": 0, "is_interrupt": False},
    "afterShellExecution": {"duration": 0, "sandbox": False},
    "beforeShellExecution": {"sandbox": False},
    "afterMCPExecution": {"duration": 0},
    "afterAgentThought": {"duration_ms": 0},
}  # fmt: skip

_CALLED = ("tool_name", "tool_input")
_ORDER = {
    "postToolUse": (*_CALLED, "tool_output", "duration", "tool_use_id"),
    "postToolUseFailure": (*_CALLED, "error_message", "failure_type", "duration", "tool_use_id", "is_interrupt"),
    "stop": ("status", "loop_count"),
}


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Cursor would send for this event: the generic tool events, unless a specific one is named."""
    row = EVENTS[name]
    body: dict[str, Any] = {}
    if row.tool:
        body.update(_implied(event, name, row.tool))
    elif row.event in reverse.TOOL_EVENTS:
        body.update(_named(event, name))
    elif row.event in ("AgentResponse", "AgentThought"):
        body["text"] = event.last_assistant_message
    elif row.event in ("SubagentStart", "SubagentStop"):
        body["subagent_id"], body["subagent_type"] = event.agent_id, event.agent_type
    if row.event in STOPS:
        body["loop_count"] = int(event.stop_hook_active) if event.loop_count is None else event.loop_count
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    whole = {**reverse.ordered(body, _ORDER.get(name, ())), **_common(event, name)}
    return reverse.ordered(whole, ("conversation_id", "generation_id", "model"))


def variables(event: Event, project: str) -> dict[str, str]:
    """What Cursor sets for its hooks (1.0.32)."""
    version = event.host_version if event.host in ("", ID) and event.host_version else VERSION
    return {"CURSOR_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project, "CURSOR_VERSION": version}


def _common(event: Event, name: str) -> dict[str, Any]:
    ours = event.host in ("", ID)
    body: dict[str, Any] = {"hook_event_name": name}
    if name != "workspaceOpen":
        session = event.session_id
        generation = reverse.sent_text(event, "generation_id", session)
        body = {"conversation_id": session, "generation_id": generation, "model": event.model or "unknown", "session_id": session, **body}
    body["cursor_version"] = event.host_version if ours and event.host_version else VERSION
    body["workspace_roots"] = [event.cwd] if event.cwd else []
    body["user_email"] = None
    if name != "workspaceOpen":
        # Another host's transcript has another format; Cursor sends null until its own exists.
        body["transcript_path"] = event.transcript_path or None if ours else None
    return body


def _again(event: Event) -> dict[str, Any]:
    """The original payload with the current input."""
    body, implied = dict(event.native), EVENTS[event.native_event].tool
    if implied in ("Bash", "Read", "Edit"):
        body.update(event.tool_input)
    elif event.tool:
        came = body.get("tool_input")
        read = decoded(came)
        now = reverse.sent_again(read, event.tool_input)
        if now != read:
            body["tool_input"] = compact(now) if isinstance(came, str) else now
    return body


def _named(event: Event, name: str) -> dict[str, Any]:
    native, given = _call(event)
    body: dict[str, Any] = {"tool_name": native, "tool_input": given}
    if name == "postToolUse":
        body["tool_output"] = reverse.json_text(_tool_output(event, native, given))
    if name == "postToolUseFailure":
        body["error_message"] = event.error
    body["tool_use_id"] = reverse.sent_text(event, "tool_use_id", "call-onehook")
    if native == "Shell":
        body["cwd"] = event.cwd
    return body


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return f"MCP:{event.mcp.tool}", given
    if tool == "Edit":  # every edit is a Write here, with the new text as its content
        content = given.get("content", given.get("new_string", ""))
        given = {"file_path": given["file_path"], "content": content} if "file_path" in given else {}
    native = _NAMES.get(tool, tool)
    spelled = reverse.spelled(TOOLS.get(native), given, ("command", "timeout") if tool == "Bash" else None)
    return native, reverse.ordered({**spelled, "cwd": event.cwd}, ("command", "cwd")) if tool == "Bash" else spelled


def _tool_output(event: Event, native: str, given: dict[str, Any]) -> Any:
    path = given.get("file_path")
    if native == "Shell":
        return {"output": event.result.text, "exitCode": 0}
    if native in ("Write", "Delete"):
        return {"file_path": path, "success" if native == "Write" else "deleted": True}
    return {} if event.tool_response is None else event.tool_response


def _implied(event: Event, name: str, tool: str) -> dict[str, Any]:
    """The fields of the events that are about one kind of tool."""
    fits = {
        "Bash": event.tool == "Bash",
        "MCP": event.mcp is not None,
        "Read": event.tool == "Read" and bool(event.paths),
        "Edit": bool(event.changes) and all(c.kind in ("write", "edit") and c.path == event.changes[0].path for c in event.changes),
    }
    if not fits[tool]:
        raise UsageError(f"Cursor's {name} is about {tool}, not about {event.native_tool or event.tool}")
    if tool == "Bash":
        body: dict[str, Any] = {"command": event.command, "cwd": event.cwd}
        return {**body, "output": event.result.text} if name == "afterShellExecution" else body
    if tool == "MCP" and event.mcp is not None:
        called = {"tool_name": event.mcp.tool, "tool_input": reverse.json_text(event.tool_input), "mcp_server_name": event.mcp.server}
        if name == "afterMCPExecution":
            return {**called, "result_json": reverse.json_text({} if event.tool_response is None else event.tool_response)}
        return {**called, "command": event.mcp.server}
    if tool == "Read":
        content = event.tool_input.get("content")
        return {
            "content": content if isinstance(content, str) else reverse.text_of_file(event.paths[0], event.cwd),
            "file_path": event.paths[0],
            "attachments": [],
        }
    edits = [{"old_string": change.old or "", "new_string": change.new or ""} for change in event.changes]
    return {"file_path": event.changes[0].path, "edits": edits}


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload, _again)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

_ASKING = ("allow", "deny", "ask")
_ACTION: Spec = {"permission": _ASKING, "user_message": str, "agent_message": str}
_CHECKED: dict[str, Spec] = {
    "tool": {**_ACTION, "updated_input": dict, "additional_context": str},
    "action": _ACTION,
    "read": {"permission": ("allow", "deny"), "user_message": str},
    "subagent": {"permission": _ASKING, "user_message": str, "additional_context": str},
    "prompt": {"continue": bool, "user_message": str, "additional_context": str},
    "session": {"continue": bool, "user_message": str, "additional_context": str, "env": dict},
    "context": {"additional_context": str},
    "stop": {"followup_message": str},
    "compact": {"user_message": str},
}
_LOST = {"sessionStart": ("env",), "workspaceOpen": ("pluginPaths",)}  # what Cursor takes and a Response cannot express
# The event on which Cursor asks. (The SDK approves what it is told to ask about.) Which versions of the editor ask is not known, so a
# policy's ask does not rely on it; a hook that was written for Cursor gets the same treatment as without onehook.
_ASKS = "beforeShellExecution"
_DENYING = ("tool", "action", "read", "subagent")
_HALTING = ("prompt", "session")
_ALIASED = ("tool", "context", "prompt", "session")
_SAFETY = "the hook's answer is invalid ({why}); Cursor blocks that for safety"


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Cursor reads a hook's answer. Raises HandlerError for what it treats as a failed hook."""
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    documented = event.host == ID and era(event) == "documented"
    if shape == "observe" or (shape == "response" and not documented):
        return Response()
    text = stdout.strip()
    body = _last_object(text)
    if exit_code == 2:
        return _exit_2(event, name, body if documented else None, text, stderr.strip())
    if exit_code != 0:
        raise reverse.exit_problem(LABEL, exit_code, stderr)
    if not text:
        return Response()
    problem = "not a JSON object" if body is None else reverse.problem_in(_unaliased(shape, body), _CHECKED.get(shape, {}))
    if body is None or problem:
        if shape in _DENYING:
            return Response("deny", _SAFETY.replace("{why}", problem))
        raise HandlerError(f"Cursor hook: {problem} on {name}, so the answer is not used")
    # Cursor replaces only the results of MCP tools.
    results = ("updated_mcp_tool_output",) if name == "postToolUse" and event.mcp is not None else ()
    heard = _heard(event, name, body, documented)
    heard.modified_output = reverse.new_output(event, ID, RESULTS, "", body.get("updated_mcp_tool_output") if results else None)
    heard.native = reverse.kept_for(ID, event, reverse.part_of(body, [*results, *_LOST.get(name, ())]))
    if heard.decision == "ask" and event.host == ID and name == _ASKS and era(event) != "sdk":
        heard.native = {**(heard.native or {}), "ask": {ID: True}}
    return heard


def losses(event: Event, stdout: str, exit_code: int, native_event: str = "") -> list[str]:
    """The fields of an accepted answer that Cursor acts on but a Response cannot carry."""
    name = _HOST.name(event, native_event)
    body = _last_object(stdout.strip()) if exit_code == 0 else None
    return reverse.set_in(body or {}, _LOST.get(name, ()))


def _last_object(text: str) -> dict[str, Any] | None:
    """The object that stdout consists of or ends with: log lines before it are tolerated, text after it is not."""
    whole = reverse.json_object(text)
    at = len(text)
    while whole is None and text.endswith("}") and at > 0:
        at = text.rfind("{", 0, at)
        if at < 0:
            break
        whole = reverse.json_object(text[at:])
    return whole


def _unaliased(shape: str, body: dict[str, Any]) -> dict[str, Any]:
    if shape in _ALIASED and "additionalContext" in body and "additional_context" not in body:
        return {**body, "additional_context": body["additionalContext"]}
    reason = body.get("reason")
    if shape == "stop" and "followup_message" not in body and body.get("decision") == "block" and isinstance(reason, str) and reason:
        return {**body, "followup_message": reason}
    return body


def _exit_2(event: Event, name: str, body: dict[str, Any] | None, text: str, said: str) -> Response:
    """Exit 2 denies where something can be denied; the raw output is then the message."""
    shape = EVENTS[name].shape
    if shape not in (*_DENYING, *_HALTING, "response"):
        return Response()
    heard = Response()
    if body is not None and not reverse.problem_in(_unaliased(shape, body), _CHECKED.get(shape, {})):
        heard = _heard(event, name, body, True)
    elif text or said:
        heard.reason = text or said
    reason = heard.reason or heard.user_message or "blocked by a hook"
    message = None if heard.user_message == reason else heard.user_message
    return Response("deny", reason, message, None, heard.additional_context)


def _heard(event: Event, name: str, given: dict[str, Any], documented: bool) -> Response:
    """The answer that a valid object expresses."""
    shape = EVENTS[name].shape
    body = _unaliased(shape, given)
    if shape == "stop":
        followup = (body.get("followup_message") or "").strip()
        return Response("deny", followup) if followup else Response()
    heard = Response()
    checked = _CHECKED.get(shape, {})
    if "additional_context" in checked:
        heard.additional_context = body.get("additional_context")
    if "user_message" in checked:
        heard.user_message = body.get("user_message")
    if shape in _DENYING:
        heard.decision = body.get("permission")
        agent_message = body.get("agent_message")
        if shape != "subagent" and isinstance(agent_message, str) and (heard.decision in ("deny", "ask") or documented):
            heard.reason = agent_message
        if shape == "tool" and heard.decision != "deny" and body.get("updated_input") is not None:
            heard.modified_input = _HOST.rewrite(event, name, body["updated_input"])
    elif shape in _HALTING:
        heard.decision = "deny" if body.get("continue") is False else None
    elif shape == "response":
        heard.decision = body["permission"] if body.get("permission") in ("allow", "deny") else None
        heard.user_message = body["userMessage"] if isinstance(body.get("userMessage"), str) else None
    if heard.decision == "deny":
        heard.reason = heard.reason or heard.user_message or "blocked by a hook"
    if heard.user_message and heard.reason:
        heard.user_message = heard.user_message.removesuffix(f"\n\n{heard.reason}")  # render sends both to the model
    if heard.decision in ("deny", "ask") and heard.user_message == heard.reason:
        heard.user_message = None  # the user and the model get the same text
    return heard
