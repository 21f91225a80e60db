"""Codex in reverse: the payload that it would send for an event, and how it reads a hook's answer (0.166.0)."""

from __future__ import annotations

from onehook.core import Event, HandlerError, Response
from onehook.hostkit import reverse
from onehook.hosts.codex.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.hostkit.reverse import Spec

LABEL = "Codex"
ENV_FILE = ""
ANSWERS = reverse.ANSWER
losses = reverse.no_losses
variables = reverse.no_variables
_MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
_SOURCES = ("startup", "resume", "clear", "compact", "fork")
_NAMES = {"Write": "apply_patch", "Edit": "apply_patch", "Delete": "apply_patch", "Agent": "spawn_agent"}
_IN_SUBAGENT = (*reverse.TOOL_EVENTS, "UserPromptSubmit", "PreCompact", "PostCompact")
FIELDS: dict[str, dict[str, Any]] = {
    "UserPromptSubmit": {"prompt": ""},
    "Stop": {"stop_hook_active": False, "last_assistant_message": None},
    "SubagentStart": {"agent_id": "", "agent_type": ""},
    "SubagentStop": {
        "stop_hook_active": False, "last_assistant_message": None, "agent_id": "", "agent_type": "", "agent_transcript_path": None,
    },
}  # fmt: skip


def parts(event: Event) -> list[Event]:
    """A patch changes any number of files, so an event with several changes is one call here; one that reads several paths is split."""
    return reverse.path_parts(event, ID)


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Codex would send for this event: exactly the keys of its schema."""
    # Codex's transcripts are rollout files; any other transcript is sent as null, as in an ephemeral session.
    transcript = reverse.own_transcript(event, ID, ("/rollout-",)) or None
    common = {"session_id": event.session_id, "transcript_path": transcript, "cwd": event.cwd}
    body: dict[str, Any] = {**common, "hook_event_name": name}
    if name == "SessionEnd":
        return {**body, "reason": "other"}
    body["model"] = event.model or "unknown"
    if name not in ("PreCompact", "PostCompact"):
        body["permission_mode"] = reverse.sent_mode(event, _MODES, "default")
    if name == "SessionStart":
        body["source"] = event.source if event.source in _SOURCES else "startup"
        return body
    body["turn_id"] = reverse.sent_text(event, "turn_id", "turn-onehook")
    if name in ("PreCompact", "PostCompact"):
        body["trigger"] = "manual" if event.native.get("trigger") == "manual" else "auto"
    if event.agent_id and name in _IN_SUBAGENT:
        body.update(agent_id=event.agent_id, agent_type=event.agent_type or "default")
    if name in reverse.TOOL_EVENTS:
        body.update(_tool(event, name))
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    return reverse.ordered(body, ("session_id", "turn_id", "agent_id", "agent_type"))


def _tool(event: Event, name: str) -> dict[str, Any]:
    native, given = _call(event)
    body: dict[str, Any] = {"tool_name": native, "tool_input": given}
    if name == "PostToolUse":
        response = event.tool_response
        as_text = native in ("Bash", "apply_patch") or response is None
        body["tool_response"] = event.result.text if as_text else response
    if name != "PermissionRequest":
        body["tool_use_id"] = reverse.sent_text(event, "tool_use_id", "call_onehook")
    return body


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    if event.changes or event.tool in ("Write", "Edit", "Delete"):
        return "apply_patch", {"command": reverse.patch_of(event.changes, event.cwd)}
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return event.mcp.name, given
    native = _NAMES.get(tool, tool)
    return native, reverse.spelled(TOOLS.get(native), given, ("command",) if tool == "Bash" else None)


_HOST = reverse.Host(ID, LABEL, EVENTS, TOOLS, _payload)
payload = _HOST.payload


# ---- answers ----

_UNIVERSAL: Spec = {"continue": bool, "stopReason": str, "suppressOutput": bool, "systemMessage": str}
_PERMISSION: Spec = {"permissionDecision": ("allow", "deny", "ask"), "permissionDecisionReason": str, "updatedInput": object}
_DIALOG: Spec = {
    "behavior": ("allow", "deny"), "message": str, "interrupt": bool, "updatedInput": object, "updatedPermissions": object,
}  # fmt: skip
_BLOCK: Spec = {**_UNIVERSAL, "decision": ("block",), "reason": str}
_TOP: dict[str, Spec] = {
    "permission": {**_UNIVERSAL, "decision": ("approve", "block"), "reason": str, "hookSpecificOutput": dict},
    "request": {**_UNIVERSAL, "hookSpecificOutput": dict},
    "block": {**_BLOCK, "hookSpecificOutput": dict},
    "feedback": {**_BLOCK, "hookSpecificOutput": dict},
    "continue": _BLOCK,
    "halt_context": {**_UNIVERSAL, "hookSpecificOutput": dict},
    "context": {**_UNIVERSAL, "hookSpecificOutput": dict},
    "halt": _UNIVERSAL,
    "message": {"systemMessage": str},
}
_CONTEXT: Spec = {"hookEventName": str, "additionalContext": str}
_SPECIFIC: dict[str, Spec] = {"permission": {**_CONTEXT, **_PERMISSION}, "request": {"hookEventName": str, "decision": dict}}
_EXIT_2_BLOCKS = ("permission", "request", "block", "feedback", "continue")
_PLAIN_IS_CONTEXT = ("SessionStart", "SubagentStart", "UserPromptSubmit")
_PLAIN_FAILS = ("continue", "message")


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Codex reads a hook's answer. Raises HandlerError for what it treats as a failed hook: the action proceeds there."""
    name = _HOST.name(event, native_event)
    shape = EVENTS[name].shape
    said = stderr.strip()
    if exit_code == 2 and shape in _EXIT_2_BLOCKS:
        if not said:
            raise _failed(name, "exit code 2 with nothing on stderr")
        return Response("deny", said)
    if exit_code != 0:
        raise reverse.exit_problem(LABEL, exit_code, stderr)
    text = stdout.strip()
    if not text or shape == "nothing":
        return Response()
    if not text.startswith(("{", "[")):
        if shape in _PLAIN_FAILS:
            raise _failed(name, "plain text where JSON is wanted")
        return Response(additional_context=text) if name in _PLAIN_IS_CONTEXT else Response()
    body = reverse.json_object(text)
    if body is None:
        raise _failed(name, "the answer is not a JSON object")
    specific = _checked(name, shape, body)
    heard = Response(user_message=body.get("systemMessage"), additional_context=specific.get("additionalContext"))
    if shape == "permission":
        _take_permission(event, name, heard, body, specific)
    elif shape == "request":
        _take_dialog(name, heard, specific.get("decision") or {})
    elif shape in ("block", "feedback", "continue"):
        _take_block(name, heard, body)
    if shape not in ("permission", "request", "context") and body.get("continue") is False:
        _take_halt(shape, heard, body)
    return heard


def _failed(name: str, why: str) -> HandlerError:
    return HandlerError(f"Codex hook: {why}; Codex marks a {name} hook as failed for that")


def _checked(name: str, shape: str, body: dict[str, Any]) -> dict[str, Any]:
    """The hookSpecificOutput of an answer that conforms to the schema and uses only what Codex supports."""
    problem = reverse.problem_in(body, _TOP[shape], strict=True, nullable=True)
    specific: dict[str, Any] = body.get("hookSpecificOutput") or {}
    if not problem and body.get("hookSpecificOutput") is not None:
        spec = _SPECIFIC.get(shape, {**_CONTEXT, "updatedMCPToolOutput": object} if name == "PostToolUse" else _CONTEXT)
        problem = reverse.problem_in(specific, spec, strict=True, nullable=True)
        if not problem and specific.get("hookEventName") != name:
            problem = f"hookEventName is {specific.get('hookEventName')!r}"
    gated = shape in ("permission", "request")
    if not problem and gated and (body.get("continue") is False or body.get("stopReason") is not None):
        problem = "continue and stopReason are not supported"
    if not problem and (gated or name == "PostToolUse") and body.get("suppressOutput") is True:
        problem = "suppressOutput is not supported"
    if not problem and specific.get("updatedMCPToolOutput") is not None:
        problem = "updatedMCPToolOutput is not supported"
    if problem:
        raise _failed(name, problem)
    return specific


def _take_permission(event: Event, name: str, heard: Response, body: dict[str, Any], specific: dict[str, Any]) -> None:
    wanted, why, updated = (specific.get(key) for key in ("permissionDecision", "permissionDecisionReason", "updatedInput"))
    if wanted == "ask" or (wanted == "allow" and updated is None):
        raise _failed(name, f"permissionDecision {wanted!r} is not supported")
    if wanted is None and (why is not None or updated is not None):
        raise _failed(name, "a reason or a rewrite without its decision is not supported")
    if wanted == "deny":
        if updated is not None or not (why or "").strip():
            raise _failed(name, "a deny needs a reason and takes no rewrite")
        heard.decision, heard.reason = "deny", why
    elif wanted == "allow":
        if not isinstance(updated, dict):
            raise _failed(name, "updatedInput is not an object")
        heard.decision, heard.modified_input = "allow", _HOST.rewrite(event, name, updated)
    else:
        if body.get("decision") == "approve":
            raise _failed(name, "decision 'approve' is not supported")
        _take_block(name, heard, body)


def _take_dialog(name: str, heard: Response, dialog: dict[str, Any]) -> None:
    if not dialog:
        return
    problem = reverse.problem_in(dialog, _DIALOG, strict=True, nullable=True)
    if not problem and dialog.get("behavior") is None:
        problem = "decision without a behavior"
    reserved = dialog.get("updatedInput") is not None or dialog.get("updatedPermissions") is not None or dialog.get("interrupt")
    if problem or reserved:
        raise _failed(name, problem or "updatedInput, updatedPermissions and interrupt are not supported")
    heard.decision = dialog["behavior"]
    if heard.decision == "deny":
        heard.reason = dialog.get("message") or "denied by a hook"


def _take_block(name: str, heard: Response, body: dict[str, Any]) -> None:
    reason = body.get("reason")
    if body.get("decision") == "block":
        if not (reason or "").strip():
            raise _failed(name, "decision 'block' needs a reason")
        heard.decision, heard.reason = "deny", reason
    elif reason is not None and name in ("PreToolUse", "PostToolUse"):
        raise _failed(name, "a reason without a decision is not supported")


def _take_halt(shape: str, heard: Response, body: dict[str, Any]) -> None:
    """continue: false ends the turn; on a stop event it is not a denial but overrides one."""
    why = body.get("stopReason")
    if shape == "continue":
        heard.decision, heard.reason = None, None
        heard.user_message = heard.user_message or why
    elif heard.decision != "deny":
        heard.decision, heard.reason = "deny", why or body.get("reason") or "stopped by a hook"
