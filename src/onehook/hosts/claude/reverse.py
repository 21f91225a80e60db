"""Claude Code in reverse: the payload that it would send for an event, and how it reads a hook's answer (2.1.325)."""

from __future__ import annotations

from onehook.core import STOPS, Event, HandlerError, Response
from onehook.hostkit import reverse
from onehook.hosts.claude.wire import EVENTS, ID, RESULTS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.hostkit.reverse import Spec

LABEL = "Claude Code"
ENV_FILE = "CLAUDE_ENV_FILE"
ANSWERS = (*reverse.ANSWER, "async", "asyncTimeout", "terminalSequence")
_MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
_WITH_MODE = (
    *reverse.TOOL_EVENTS, "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "SubagentStart",
)  # fmt: skip
# Claude Code names the prompt on every event of a turn; no other host does, so it also identifies the payload.
_PROMPT_ID = "00000000-0000-4000-8000-000000000000"
_MODEL_SWITCH = {
    "from_model": "", "to_model": "", "requested_model": None, "source": "command", "context_tokens": 0, "prompt_cache_warm": False,
}  # fmt: skip
FIELDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "Setup": {"trigger": "init"},
    "InstructionsLoaded": {"file_path": "", "memory_type": "Project", "load_reason": "session_start"},
    "UserPromptSubmit": {"prompt": ""},
    "UserPromptExpansion": {"expansion_type": "slash_command", "command_name": "", "command_args": "", "prompt": ""},
    "PostToolUse": {"duration_ms": 0},
    "PostToolUseFailure": {"error": "", "is_interrupt": False, "duration_ms": 0},
    "PermissionDenied": {"reason": ""},
    "PostToolBatch": {"tool_calls": []},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "", "background_tasks": [], "session_crons": []},
    "StopFailure": {"error": "unknown", "last_assistant_message": ""},
    "SubagentStart": {"agent_id": "", "agent_type": ""},
    "SubagentStop": {
        "stop_hook_active": False, "agent_id": "", "agent_transcript_path": "", "agent_type": "", "last_assistant_message": "",
    },
    "TaskCreated": {"task_id": "", "task_subject": ""},
    "TaskCompleted": {"task_id": "", "task_subject": ""},
    "TeammateIdle": {"teammate_name": "", "team_name": ""},
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "PostCompact": {"trigger": "auto", "compact_summary": ""},
    "PreModelSwitch": _MODEL_SWITCH,
    "PostModelSwitch": _MODEL_SWITCH,
    "Notification": {"message": "", "notification_type": "idle_prompt"},
    "Elicitation": {"mcp_server_name": "", "message": ""},
    "ElicitationResult": {"mcp_server_name": "", "action": "accept"},
    "ConfigChange": {"source": "project_settings"},
    "CwdChanged": {"old_cwd": "", "new_cwd": ""},
    "FileChanged": {"file_path": "", "event": "change"},
    "DirectoryAdded": {"directory": "", "source": "slash_command"},
    "WorktreeCreate": {"name": ""},
    "WorktreeRemove": {"worktree_path": ""},
    "MessageDisplay": {"turn_id": "", "message_id": "", "index": 0, "final": True, "delta": ""},
    "SessionEnd": {"reason": "other"},
}  # fmt: skip


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Claude Code would send for this event."""
    body: dict[str, Any] = {"session_id": event.session_id, "transcript_path": reverse.own_transcript(event, ID), "cwd": event.cwd}
    if name not in ("SessionStart", "Setup"):
        body["prompt_id"] = _PROMPT_ID
    if name in _WITH_MODE:
        body["permission_mode"] = reverse.sent_mode(event, _MODES, "default")
    if event.agent_id:
        body["agent_id"] = event.agent_id
    if event.agent_id or event.agent_type:  # the main agent has a type if it was started as one
        body["agent_type"] = event.agent_type or "general-purpose"
    body["hook_event_name"] = name
    if name == "SessionStart" and event.model:
        body["model"] = event.model
    if name in reverse.TOOL_EVENTS:
        body.update(_tool(event, name))
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    return body


def variables(event: Event, project: str) -> dict[str, str]:
    """What Claude Code sets for its hooks."""
    return {"CLAUDE_PROJECT_DIR": project, "CLAUDE_CODE_SESSION_ID": event.session_id}


def _tool(event: Event, name: str) -> dict[str, Any]:
    tool, given = reverse.call_of(event)
    native = event.mcp.name if event.mcp is not None else tool
    body: dict[str, Any] = {"tool_name": native, "tool_input": reverse.spelled(TOOLS.get(native), given)}
    if name == "PostToolUse":
        body["tool_response"] = _tool_response(event, tool, given)
    if name != "PermissionRequest":
        body["tool_use_id"] = reverse.sent_text(event, "tool_use_id", "toolu_onehook")
    return body


def _tool_response(event: Event, tool: str, given: dict[str, Any]) -> Any:
    response = event.tool_response
    if tool == "Bash":
        return {"stdout": event.result.text, "stderr": "", "interrupted": False, "isImage": False}
    path = given.get("file_path")
    if tool == "Write":
        return {"type": "create", "filePath": path, "content": given["content"], "structuredPatch": [], "originalFile": None}
    if tool == "Edit" and "old_string" in given:
        changed = {"filePath": path, "oldString": given["old_string"], "newString": given["new_string"]}
        return {**changed, "originalFile": None, "structuredPatch": [], "userModified": False, "replaceAll": False}
    return {} if response is None else response


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

_TOP: Spec = {
    "continue": bool, "stopReason": str, "suppressOutput": bool, "systemMessage": str, "decision": ("approve", "block"), "reason": str,
    "hookSpecificOutput": dict,
}  # fmt: skip
_SPECIFIC: dict[str, Spec] = {
    "permission": {
        "permissionDecision": ("allow", "deny", "ask", "defer"), "permissionDecisionReason": str, "updatedInput": dict,
        "additionalContext": str,
    },
    "switch": {"permissionDecision": ("allow", "deny", "ask"), "permissionDecisionReason": str},
    "request": {"decision": dict},
}  # fmt: skip
_CONTEXT: Spec = {"additionalContext": str}
_TAKES_CONTEXT = ("permission", "block", "feedback", "failure", "continue", "context")
_PLAIN_IS_CONTEXT = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch", "PreCompact")
# What Claude Code accepts besides a decision but a Response cannot express. If one of these is lost, the model sees what the hook hides
# from it, or a form gets a different answer from the hook's.
_UNSAID = {
    "PostToolUse": ("updatedToolOutput", "updatedMCPToolOutput"), "UserPromptSubmit": ("suppressOriginalPrompt",),
    "UserPromptExpansion": ("suppressOriginalPrompt",), "Elicitation": ("action", "content"), "ElicitationResult": ("action", "content"),
}  # fmt: skip
# If these are lost, nothing more is seen or allowed. (suppressOutput is in neither table: nobody is shown a program's raw output.)
_LOST = {
    "SessionStart": ("initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"), "UserPromptSubmit": ("sessionTitle",),
    "PostToolUse": ("classifierContext",), "PermissionDenied": ("retry",), "CwdChanged": ("watchPaths",), "FileChanged": ("watchPaths",),
    "MessageDisplay": ("displayContent",),
}  # fmt: skip
_WIDENING = (("addRules", "allow"), ("addDirectories", None))
# Denying one of these means that the agent continues, so `continue: false`, which ends the turn, is not a denial here.
_GOES_ON = (*STOPS, "TaskCompleted", "TeammateIdle")
_DECISIONS = {"approve": "allow", "block": "deny", "allow": "allow", "deny": "deny", "ask": "ask", "defer": "ask"}


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Claude Code reads a hook's answer. Raises HandlerError for what it treats as a failed hook."""
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    text = stdout.strip()
    if name == "WorktreeCreate" and text:
        raise HandlerError(
            f"{LABEL} hook: it prints the path of a worktree, which onehook cannot carry over; configure it in {LABEL} itself"
        )
    if shape == "nothing":
        return Response()
    body = reverse.json_object(text) if text.startswith("{") else None
    if body is not None and body.get("async") is True:
        body = {}
    problem = "invalid JSON" if body is None and reverse.broken_json(text) and not _is_plain(text) else _problem(name, shape, body or {})
    if exit_code == 2:
        if problem or body is None:
            return _blocked(name, shape, Response(), text, stderr.strip())
        heard = _heard(event, name, shape, body)
        said_it_all = heard.decision == "deny" or body.get("decision") == "block"
        return heard if said_it_all else _blocked(name, shape, heard, text, stderr.strip())
    if problem:
        raise HandlerError(f"Claude Code hook: {problem} on {name}, so the answer is not used")
    if body is not None:  # whatever the exit code: JSON is read first
        heard = _heard(event, name, shape, body)
        if heard.decision != "deny" and event.host != ID:
            reverse.refuse_unsaid(LABEL, body.get("hookSpecificOutput") or {}, _unsaid(event, name))
        return heard
    if exit_code != 0:
        raise reverse.exit_problem(LABEL, exit_code, stderr)
    return Response(additional_context=text) if text and name in _PLAIN_IS_CONTEXT else Response()


def _unsaid(event: Event, name: str) -> list[str]:
    """updatedMCPToolOutput is read only for MCP tools. For another agent's event, a replaced result is a modified_output."""
    if name == "PostToolUse" and event.host != ID:
        return []
    return [key for key in _UNSAID.get(name, ()) if key != "updatedMCPToolOutput" or event.mcp is not None]


def losses(event: Event, stdout: str, exit_code: int, native_event: str = "") -> list[str]:
    """The fields of an accepted answer that Claude Code acts on but a Response cannot carry."""
    name = _HOST.name(event, native_event)
    body = reverse.json_object(stdout.strip())
    if body is None or body.get("async") is True or _problem(name, EVENTS[name].shape, body):
        return []
    beyond = _beyond(event, name, body)
    specific = beyond.pop("hookSpecificOutput", {})
    return [key for part in (beyond, specific, specific.pop("decision", {})) for key in part if key != "hookEventName"]


def _beyond(event: Event, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """The part of a valid answer that only Claude Code can act on."""
    specific = body.get("hookSpecificOutput") or {}
    dialog = (specific.get("decision") or {}) if name == "PermissionRequest" else {}
    own = reverse.part_of(specific, [*_unsaid(event, name), *_LOST.get(name, ())])
    own |= {"decision": part} if (part := reverse.part_of(dialog, ("updatedPermissions", "interrupt"))) else {}
    top = reverse.part_of(body, ("terminalSequence",))
    return {**top, "hookSpecificOutput": {"hookEventName": name, **own}} if own else top


def _is_plain(text: str) -> bool:
    """Several one-line documents with no known field are plain text."""
    lines = [reverse.json_object(line) for line in text.splitlines() if line.strip()]
    return all(line is not None and not any(key in _TOP for key in line) for line in lines)


def _problem(name: str, shape: str, body: dict[str, Any]) -> str:
    problem = reverse.problem_in(body, _TOP)
    specific = body.get("hookSpecificOutput")
    if problem or specific is None:
        return problem
    if specific.get("hookEventName") != name:
        return f"hookSpecificOutput.hookEventName is {specific.get('hookEventName')!r}, not {name!r}"
    problem = reverse.problem_in(specific, _SPECIFIC.get(shape, _CONTEXT if shape in _TAKES_CONTEXT else {}))
    dialog = specific.get("decision")
    if not problem and shape == "request" and dialog is not None:
        problem = reverse.problem_in(dialog, {"behavior": ("allow", "deny"), "message": str, "updatedInput": dict})
        problem = problem or ("" if "behavior" in dialog else "decision without a behavior")
    return problem


def _heard(event: Event, name: str, shape: str, body: dict[str, Any]) -> Response:
    """The answer of a valid JSON document."""
    specific = body.get("hookSpecificOutput") or {}
    heard = Response(user_message=body.get("systemMessage"))
    if shape in _TAKES_CONTEXT:
        heard.additional_context = specific.get("additionalContext")
    if name == "PostToolUse":
        keys = ("updatedToolOutput", "updatedMCPToolOutput") if event.mcp is not None else ("updatedToolOutput",)
        value = next((specific[key] for key in keys if specific.get(key) is not None), None)
        heard.modified_output = reverse.new_output(event, ID, RESULTS, reverse.call_of(event)[0], value)
    if shape == "request":
        _take_dialog(event, name, heard, specific.get("decision") or {})
    else:
        _take_decision(event, name, shape, heard, body, specific)
    if body.get("continue") is False:
        _take_halt(name, heard, body.get("stopReason"))
    if heard.decision == "deny":
        heard.modified_input = None
        heard.reason = "Blocked by hook" if heard.reason is None else heard.reason
    # Other hosts read the end of the turn as a denial; for Claude Code itself it is kept as it was.
    halt = {"continue": False, **reverse.part_of(body, ("stopReason",))} if body.get("continue") is False else {}
    heard.native = reverse.kept_for(ID, event, {**_beyond(event, name, body), **halt, **reverse.part_of(body, ("suppressOutput",))})
    return heard


def _take_decision(event: Event, name: str, shape: str, heard: Response, body: dict[str, Any], specific: dict[str, Any]) -> None:
    permission = specific.get("permissionDecision") if shape in ("permission", "switch") else None
    heard.decision = _DECISIONS.get(permission or body.get("decision") or "")
    if shape in ("permission", "switch"):
        heard.reason = specific.get("permissionDecisionReason", body.get("reason") if heard.decision else None)
        if shape == "permission" and specific.get("updatedInput") is not None:
            heard.modified_input = _HOST.rewrite(event, name, specific["updatedInput"])
    elif heard.decision == "deny" and shape in ("context", "message"):
        heard.decision = None
        heard.user_message = _both(heard.user_message, body.get("reason"))
    elif heard.decision == "deny":
        heard.reason = body.get("reason")
    elif name in ("Elicitation", "ElicitationResult") and specific.get("action") in ("decline", "cancel"):
        heard.decision, heard.reason = "deny", f"the hook answered {specific['action']}"


def _take_dialog(event: Event, name: str, heard: Response, dialog: dict[str, Any]) -> None:
    heard.decision = dialog.get("behavior")
    if heard.decision == "deny":
        heard.reason = dialog.get("message")
    elif heard.decision == "allow":
        if event.host != ID and dialog.get("updatedPermissions") and not _only_widens(dialog["updatedPermissions"]):
            reverse.refuse_unsaid(LABEL, dialog, ("updatedPermissions",))
        if dialog.get("updatedInput") is not None:
            heard.modified_input = _HOST.rewrite(event, name, dialog["updatedInput"])


def _only_widens(updates: object) -> bool:
    """Whether these permission changes only allow more: if they are lost, the user is merely asked again."""
    return isinstance(updates, list) and all(
        isinstance(update, dict) and (update.get("type"), update.get("behavior")) in _WIDENING for update in updates
    )


def _take_halt(name: str, heard: Response, stop_reason: str | None) -> None:
    """continue: false ends the turn."""
    if name in _GOES_ON:
        heard.decision, heard.reason, heard.additional_context = None, None, None
        heard.user_message = _both(heard.user_message, stop_reason)
    elif heard.decision == "deny":
        heard.user_message = _both(heard.user_message, stop_reason)
    else:
        heard.decision, heard.reason = "deny", stop_reason or "Stopped by hook"


def _blocked(name: str, shape: str, heard: Response, text: str, said: str) -> Response:
    """Exit 2 when the JSON, if there is any, does not block: a block with stderr as its reason."""
    missing = any(words in said.lower() for words in ("no such file", "can't open"))
    if name in _GOES_ON and not text and missing:
        raise HandlerError(f"Claude Code hook: {said} (treated as a missing script, so it does not block)")
    if shape == "request":  # PermissionRequest reads the JSON decision and nothing else
        return heard
    if shape in ("context", "message"):  # cannot be blocked: stderr is shown to the user
        heard.user_message = _both(heard.user_message, said)
        return heard
    return heard.copy(decision="deny", reason=said or "No stderr output", modified_input=None, native=None)


def _both(first: str | None, second: str | None) -> str | None:
    return f"{first}\n\n{second}" if first and second else first or second or None
