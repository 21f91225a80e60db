"""OpenCode the other way round: what our plugin would send for an event, and how it reads an answer."""

from __future__ import annotations

from onehook.core import Event, HandlerError, Response
from onehook.hosts import reversing
from onehook.hosts.opencode.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.hosts.reversing import Spec

LABEL = "OpenCode"
_NAMES = {
    "Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "Grep": "grep", "Glob": "glob", "List": "list",
    "WebFetch": "webfetch", "WebSearch": "websearch", "Agent": "task",
}  # fmt: skip
FIELDS: dict[str, dict[str, Any]] = {
    "chat.message": {"prompt": "", "model": ""},
    "message.part.updated": {"error": ""},
    "session.idle": {"stop_hook_active": False, "last_assistant_message": ""},
    "session.idle.child": {"stop_hook_active": False, "last_assistant_message": ""},
    "session.created": {"source": "startup"},
    "experimental.session.compacting": {"trigger": "auto"},
    "experimental.text.complete": {"last_assistant_message": ""},
    "session.deleted": {"reason": "deleted"},
    "dispose": {"reason": "exit"},
}


def parts(event: Event) -> list[Event]:
    """One event per changed file, since OpenCode's tools change one file each."""
    return reversing.parts(event, ID)


def payload(event: Event, native_event: str = "", host: str = ID) -> dict[str, Any]:
    """What the plugin would send for this event."""
    name = reversing.native_name(host, LABEL, EVENTS, event, native_event)
    if event.host == host and event.native and name == event.native_event:
        body = dict(event.native)
        if event.tool:
            body["tool_input"] = reversing.sent_again(body.get("tool_input"), event.tool_input)
        return body
    reversing.require_tool(LABEL, event)
    body = {host: 1, "hook_event_name": name, "cwd": event.cwd, "session_id": event.session_id}
    if event.agent_id or name.endswith(".child"):
        body.update(agent_id=event.agent_id or event.session_id, parent_session_id=event.session_id)
    if event.event in reversing.TOOL_EVENTS:
        body.update(_tool(event))
    if name == "tool.execute.after":
        body["tool_response"] = reversing.output_text(event.tool_response) if event.tool == "Bash" else event.tool_response
    body.update(reversing.filled(event, FIELDS.get(name, {})))
    if name == "session.idle":
        body["loop_count"] = event.loop_count or int(event.stop_hook_active)
    return body


def _tool(event: Event) -> dict[str, Any]:
    tool, given = reversing.call_of(event)
    if event.mcp is not None:
        about = {"server": event.mcp.server, "tool": event.mcp.tool}
        return {"tool_name": "_".join(name for name in about.values() if name) or "MCP", "tool_input": given, "mcp": about}
    native = _NAMES.get(tool, tool)
    return {"tool_name": native, "tool_input": reversing.spelled(TOOLS.get(native), given)}


_FIELDS: Spec = {"decision": ("allow", "deny", "ask"), "reason": str, "args": dict, "context": str, "message": str}


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "", host: str = ID) -> Response:
    """What the plugin makes of an answer. HandlerError for what it calls an error."""
    name = reversing.native_name(host, LABEL, EVENTS, event, native_event)
    if exit_code == 2:
        return Response("deny", stderr.strip() or "denied by policy")
    if exit_code != 0:
        raise reversing.exit_problem(LABEL, exit_code, stderr)
    body = reversing.json_object(stdout) if stdout.strip() else {}
    problem = "the answer is not JSON" if body is None else reversing.problem_in(body, _FIELDS)
    if problem or body is None:
        raise HandlerError(f"OpenCode's hook: {problem}")
    heard = Response(body.get("decision"), body.get("reason"), body.get("message"), None, body.get("context"))
    updated = body.get("args")
    if isinstance(updated, dict) and heard.decision != "deny":
        sent = {} if event.host == host else payload(event, name, host)
        tool = TOOLS.get(sent.get("tool_name", ""))
        heard.modified_input = updated if event.host == host else reversing.rewrite_for(event, tool, sent["tool_input"], updated)
    return heard
