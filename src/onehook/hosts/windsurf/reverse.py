"""Windsurf in reverse: the payload that it would send for an event, and how it reads a hook's answer: only by its exit code."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import reverse
from onehook.hosts.windsurf.wire import EVENTS, ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Windsurf"
ENV_FILE = ""
ANSWERS = ()
losses = reverse.no_losses


def _payload(event: Event, name: str) -> dict[str, Any]:
    return {
        "agent_action_name": name, "trajectory_id": event.session_id, "execution_id": reverse.sent_text(event, "prompt_id", "turn-onehook"),
        "timestamp": reverse.sent_text(event, "timestamp", reverse.TIME), "tool_info": _info(event, name),
    }  # fmt: skip


def _info(event: Event, name: str) -> dict[str, Any]:
    about = EVENTS[name].tool
    if about == "Bash":
        return {"command_line": event.command, "cwd": event.cwd}
    if about == "MCP":
        server, tool = (event.mcp.server, event.mcp.tool) if event.mcp else ("", event.native_tool)
        called = {"mcp_server_name": server, "mcp_tool_name": tool, "mcp_tool_arguments": event.tool_input}
        return {**called, "mcp_result": event.result.text} if EVENTS[name].event == "PostToolUse" else called
    if about:
        path = {"file_path": event.paths[0] if event.paths else ""}
        edits = [{"old_string": change.old or "", "new_string": change.new or ""} for change in event.changes]
        return {**path, "edits": edits} if about == "Edit" else path
    return {"user_prompt": event.prompt} if event.event == "UserPromptSubmit" else {"response": event.last_assistant_message}


_HOST = reverse.Host(ID, LABEL, EVENTS, {}, _payload)
parts = _HOST.parts


def payload(event: Event, native_event: str = "") -> dict[str, Any]:
    return _HOST.payload(event, native_event or _about(event))


def _about(event: Event) -> str:
    """Of the native events for a unified one, the one for this tool: there is none for tools in general."""
    tool = "Edit" if event.changes else event.tool
    return next((name for name, row in EVENTS.items() if row.event == event.event and row.tool == tool), "")


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """Exit code 2 blocks, with stderr for the model; any other except 0 is an error, and the action proceeds. stdout is only shown."""
    row = EVENTS[_HOST.name(event, native_event or _about(event))]
    if exit_code not in (0, 2):
        raise reverse.exit_problem(LABEL, exit_code, stderr)
    return Response("deny", stderr.strip() or "blocked by a hook") if exit_code == 2 and row.gates else Response()


def variables(event: Event, project: str) -> dict[str, str]:
    return {}
