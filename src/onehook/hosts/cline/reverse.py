"""Cline in reverse: the payload that its CLI (3.0.65) would send to a hook file for an event, and how an answer is read.

Our plugin uses the same format (see wire.py), and also reads `decision` (ask, allow), a key that Cline's hook files do not have.
"""

from __future__ import annotations

from onehook.codec import compact
from onehook.core import Event, Response
from onehook.hostkit import effects, reverse
from onehook.hosts.cline.wire import EVENTS, HOOK_NAMES, ID, TOOLS, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Cline"
ENV_FILE = ""
ANSWERS = ("cancel", "review", "context", "contextModification", "errorMessage", "overrideInput", "decision", "output")
losses = reverse.no_losses
_CONTROL = "HOOK_CONTROL\t"
_WIRE_NAMES = {name: said for said, name in HOOK_NAMES.items()}


def _payload(event: Event, name: str) -> dict[str, Any]:
    wire_name, about = _WIRE_NAMES[name], name[0].lower() + name[1:]
    agent = event.agent_id or "agent_onehook"
    body: dict[str, Any] = {
        "clineVersion": "", "timestamp": reverse.sent_text(event, "timestamp", reverse.TIME), "taskId": event.session_id,
        "sessionContext": {"rootSessionId": event.session_id}, "workspaceRoots": [event.cwd],
        "workspaceInfo": {"rootPath": event.cwd, "hint": event.cwd.rstrip("/").rpartition("/")[2]}, "userId": "unknown", "agent_id": agent,
        "parent_agent_id": "agent_main" if event.agent_id else None, "hookName": wire_name,
    }  # fmt: skip
    if name in ("PreToolUse", "PostToolUse"):
        return {**body, "iteration": 1, **_tool(event, name)}
    if name == "UserPromptSubmit":
        return {**body, about: {"prompt": event.prompt, "attachments": []}}
    if name == "TaskComplete":
        body.update(iteration=1, turn={"outputText": event.last_assistant_message, "status": "completed"})
    if name == "TaskError":
        body["error"] = {"name": "Error", "message": event.error, "stack": ""}
        body["turn"] = {"outputText": event.last_assistant_message, "status": "failed"}
    return {**body, about: {"taskMetadata": {}}}


def _tool(event: Event, name: str) -> dict[str, Any]:
    native, given = _call(event)
    said = {"toolName": native, "parameters": {key: value if isinstance(value, str) else compact(value) for key, value in given.items()}}
    call: dict[str, Any] = {"id": "call_onehook", "name": native, "input": given}
    if name == "PreToolUse":
        return {"tool_call": call, "preToolUse": said}
    output = _output(event, native, given)
    times = {"durationMs": 0, "startedAt": reverse.TIME, "endedAt": reverse.TIME}
    result = {"result": output if isinstance(output, str) else compact(output), "success": not event.result.failed, "executionTimeMs": 0}
    return {"tool_result": {**call, "output": output, **times}, "postToolUse": {**said, **result}}


def _output(event: Event, native: str, given: dict[str, Any]) -> Any:
    """The output of a command is an entry in a list."""
    if native != "run_commands":
        return event.result.text
    result = event.result
    code = f"Command exited with code {result.exit_code}" if result.exit_code else ""
    entry = {"query": given["commands"][0], "result": f"[{code}]\n\n{result.text}" if code else result.text}
    return [{**entry, **({"error": code} if code else {}), "success": not result.failed}]


def _again(event: Event) -> dict[str, Any]:
    """The payload that Cline sent, with the input as handlers have rewritten it since."""
    body = dict(event.native)
    key = "tool_call" if "tool_call" in body else "tool_result"
    if event.tool and isinstance(body.get(key), dict) and event.tool_input != parse(body, event.native_event).tool_input:
        body[key] = {**body[key], "input": event.tool_input}
    return body


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    """A call in Cline's format. Cline's tools take lists; an event becomes a list with one element."""
    if event.mcp is not None:
        return f"{event.mcp.server}__{event.mcp.tool}", dict(event.tool_input)
    tool, given = reverse.call_of(event)
    if tool == "Bash":
        return "run_commands", {"commands": [given["command"]]}
    if tool == "Read":
        return "read_files", {"files": [{"path": given.get("file_path", "")}]}
    if tool in ("Write", "Edit"):
        return "editor", reverse.spelled(TOOLS["editor"], given, ("file_path", "old_string", "new_string", "content"))
    if tool == "Delete":
        return "apply_patch", {"input": reverse.patch_of(event.changes, event.cwd)}
    if tool == "Grep":
        return "search_codebase", {"queries": [given.get("pattern", "")], **effects.given(path=given.get("path"))}
    if tool == "Agent":
        return "spawn_agent", {"systemPrompt": "", "task": given.get("prompt", "")}
    if tool == "WebFetch":
        return "fetch_web_content", {"requests": [{"url": given.get("url", ""), "prompt": given.get("prompt", "")}]}
    return tool, given


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload, _again)
payload, parts = _HOST.payload, _HOST.parts


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """JSON counts whatever the exit code is: the last line that begins with HOOK_CONTROL, else all of stdout. `review` has no effect."""
    name = _HOST.name(event, native_event)
    marked = [line[len(_CONTROL) :] for line in stdout.splitlines() if line.startswith(_CONTROL)]
    text = marked[-1] if marked else stdout.strip()
    body = reverse.json_object(text)
    if body is None and reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    if body is None and exit_code:
        raise reverse.exit_problem(LABEL, exit_code, stderr)
    if body is None or EVENTS[name].shape == "nothing":
        return Response()
    said = reverse.text_in(body, "errorMessage")
    context = reverse.text_in(body, "context", "contextModification")
    if body.get("cancel") is True and EVENTS[name].shape != "context":
        return Response("deny", said or "cancelled by a hook", additional_context=context)
    override = reverse.object_in(body, "overrideInput") if name == "PreToolUse" else {}
    decision = body.get("decision") if name == "PreToolUse" and body.get("decision") in ("allow", "ask") else None
    heard = Response(decision, additional_context=context or said, modified_input=_rewrite(event, override) or None)
    if decision == "ask":
        heard.reason, heard.additional_context = said, context
    return heard


def _rewrite(event: Event, override: dict[str, Any]) -> dict[str, Any]:
    """A rewritten input in unified keys, for another agent."""
    if event.host == ID:
        return override
    commands = override.get("commands")
    if event.tool == "Bash":
        texts = [command for command in commands if isinstance(command, str)] if isinstance(commands, list) else []
        return {"command": "\n".join(texts)} if texts else {}
    written = "content" if event.tool == "Write" else "new_string"
    unified = {"path": "file_path", "old_text": "old_string", "new_text": written}
    return {unified.get(key, key): value for key, value in override.items()}


def variables(event: Event, project: str) -> dict[str, str]:
    return {}
