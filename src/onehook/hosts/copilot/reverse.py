"""Copilot in reverse: the payload that it would send for an event, and how it reads a hook's answer (CLI 1.0.102)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import reverse
from onehook.hostkit.tools import Tool
from onehook.hosts.copilot.wire import EVENTS, ID, PASCAL, RESULTS, SOURCES, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Change, Mcp

LABEL = "Copilot"
ENV_FILE = ""
ANSWERS = (
    "permissionDecision", "permissionDecisionReason", "modifiedArgs", "additionalContext", "decision", "reason", "behavior", "message",
    "interrupt", "modifiedPrompt", "handled", "modifiedTransformedPrompt", "modifiedResult", "modifiedResponse", "hookSpecificOutput",
    "suppressOutput", "type",
)  # fmt: skip
losses = reverse.no_losses
_MILLISECONDS = 1767225600000  # reverse.TIME in the camelCase dialect
_NAMES = reverse.native_names(TOOLS)
_TASK = Tool("Agent", subagent_type="agent_type")
_SPELLING = {**TOOLS, "task": _TASK, "Agent": _TASK}
_LACKS = {"Bash": ("timeout", "run_in_background"), "Read": ("offset", "limit"), "Edit": ("replace_all",)}
_STOP = {"stop_reason": "end_turn", "stop_hook_active": False}
# By unified event, with the keys of the PascalCase dialect.
FIELDS: dict[str, dict[str, Any]] = {
    "SessionEnd": {"reason": "complete"},
    "UserPromptSubmit": {"prompt": ""},
    "UserPromptTransformed": {"prompt": "", "transformed_prompt": ""},
    "PostToolUseFailure": {"error": ""},
    "Stop": _STOP,
    "SubagentStart": {"agent_name": ""},
    "SubagentStop": {"agent_name": "", "last_assistant_message": "", **_STOP},
    "PreCompact": {"trigger": "auto", "custom_instructions": ""},  # seen so with 1.0.102, in camelCase
    "Notification": {"message": "", "notification_type": "agent_idle"},
}
_WITH_TRANSCRIPT = ("Stop", "SubagentStart", "SubagentStop", "PreCompact")
_SUBAGENT = ("SubagentStart", "SubagentStop")
# The keys that both dialects spell the same, or that differ in more than their spelling.
_CAMEL = {
    "stop_hook_active": "stop_hook_active", "notification_type": "notification_type", "last_assistant_message": "response",
    "tool_input": "toolArgs",
}  # fmt: skip


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What Copilot would send for this event: camelCase, unless the PascalCase name of the event is requested."""
    unified = EVENTS[name].event
    if unified == "PermissionRequest":
        return {"hookName": name, **_common(event, False), **_request(event)}
    pascal = name in PASCAL
    body: dict[str, Any] = {}
    if unified in _WITH_TRANSCRIPT:
        body["transcript_path"] = reverse.own_transcript(event, ID, ("/session-state/",))
    if unified in reverse.TOOL_EVENTS:
        body.update(_tool(event, unified, pascal))
    if unified == "SessionStart":
        body["source"] = reverse.said_source(event, ID, SOURCES, "new")
        body["initial_prompt"] = event.prompt
    if unified == "StopFailure":
        sent = reverse.object_in(event.native, "error")
        failed: dict[str, Any] = {"error": sent or {"message": event.error, "name": "Error", "stack": ""}, "error_context": "model_call"}
        failed["recoverable"] = event.native.get("recoverable") is True
        body.update(failed if pascal else reverse.ordered(failed, ("error_context", "recoverable")))
    body.update(reverse.filled(event, FIELDS.get(unified, {})))
    if unified in _SUBAGENT or (event.agent_id and unified != "Stop"):
        body.update(_subagent(event))
    if unified == "SubagentStop":
        body = reverse.ordered(body, ("transcript_path", "agent_id", "agent_type"))
    said = body if pascal else {_CAMEL.get(key) or _camel(key): value for key, value in body.items()}
    # A notification names its event in both dialects.
    named = {"hook_event_name": name if pascal else unified} if pascal or unified == "Notification" else {}
    return {**named, **_common(event, pascal), **said}


def variables(event: Event, project: str) -> dict[str, str]:
    """What Copilot sets for its hooks, without COPILOT_HOOK_DIR: a manifest has no hook file."""
    return {"COPILOT_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project}


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(word.capitalize() for word in others)


def _again(event: Event) -> dict[str, Any]:
    """The original payload with the current input."""
    body = dict(event.native)
    for key in ("toolArgs", "tool_input", "toolInput"):
        if event.tool and key in body:
            body[key] = reverse.sent_again(body[key], event.tool_input)
            break
    return body


def _common(event: Event, pascal: bool) -> dict[str, Any]:
    time = event.native.get("timestamp")
    if pascal:
        return {"session_id": event.session_id, "timestamp": reverse.sent_text(event, "timestamp", reverse.TIME), "cwd": event.cwd}
    return {"sessionId": event.session_id, "timestamp": time if type(time) is int else _MILLISECONDS, "cwd": event.cwd}


def _subagent(event: Event) -> dict[str, Any]:
    """A subagent's calls have its own id as the session's, so the parent's id is unknown for an event of another host."""
    kind = event.agent_type or "general-purpose"
    parent = reverse.sent_text(event, "parentAgentId", event.session_id)
    named = {"agent_name": reverse.sent_text(event, "agentName", kind)} if event.event in _SUBAGENT else {}
    return {**named, "agent_id": event.agent_id, "agent_type": kind, "parent_agent_id": parent}


def _tool(event: Event, unified: str, pascal: bool) -> dict[str, Any]:
    native, given = _call(event, pascal)
    body: dict[str, Any] = {"tool_name": native, "tool_input": given}
    if unified == "PostToolUse":
        kind, text = ("result_type", "text_result_for_llm") if pascal else ("resultType", "textResultForLlm")
        body["tool_result"] = {kind: "success", text: event.result.text}
    return body


def _call(event: Event, pascal: bool) -> tuple[str, Any]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return _mcp_name(event.mcp), given
    if tool == "Delete":  # only a patch deletes, and a patch is plain text
        return "Edit" if pascal else "apply_patch", reverse.patch_of(event.changes, event.cwd)
    native = tool if pascal else _NAMES.get(tool, tool)
    return native, reverse.spelled(_SPELLING.get(native), given, lacks=_LACKS.get(tool, ()))


def _mcp_name(mcp: Mcp) -> str:
    """Server and tool joined. A hyphen distinguishes an MCP tool from Copilot's own."""
    return mcp.tool if not mcp.server and "-" in mcp.tool else f"{mcp.server}-{mcp.tool}"


def _request(event: Event) -> dict[str, Any]:
    """The summary that a permission request shows: every change is an edit with a diff, every other call has its input."""
    native, given = _call(event, False)
    if event.mcp is not None:
        native = f"{event.mcp.server}/{event.mcp.tool}"
    elif event.changes:
        native, given = "edit", {"file_path": event.changes[0].path, "diff": _diff(event.changes[0])}
    elif event.tool == "Bash":
        given = {"command": event.command}
    return {"toolName": native, "toolInput": given, "permissionSuggestions": []}


def _diff(change: Change) -> str:
    path = change.path.lstrip("/")
    old, new = (change.old or "").splitlines(), (change.new or "").splitlines()
    mode = {"write": "create file mode 100644\n", "delete": "deleted file mode 100644\n"}.get(change.kind, "")
    before = "a/dev/null" if change.kind == "write" else f"a/{path}"
    after = "b/dev/null" if change.kind == "delete" else f"b/{path}"
    lines = [*("-" + line for line in old), *("+" + line for line in new)]
    head = f"\ndiff --git a/{path} b/{path}\n{mode}index 0000000..0000000\n--- {before}\n+++ {after}\n"
    return head + "\n".join([f"@@ -1,{len(old)} +1,{len(new)} @@", *lines, ""])


_HOST = reverse.Host(ID, LABEL, EVENTS, _SPELLING, _payload, _again)
payload, parts = _HOST.payload, _HOST.parts


# ---- answers ----

# What Copilot accepts besides a decision but a Response cannot express.
_UNSAID = {
    "UserPromptSubmit": ("modifiedPrompt", "handled"), "UserPromptTransformed": ("modifiedTransformedPrompt",),
    "PostToolUse": ("modifiedResult",), "SubagentStop": ("modifiedResponse",),
}  # fmt: skip
_TAKES_CONTEXT = ("permission", "block", "feedback", "failure", "context")
_BLOCKABLE = ("block", "feedback", "continue")
_NO_REASON = "blocked by a hook"


def answer(event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
    """How Copilot reads a hook's answer. Raises HandlerError for what it treats as a failed hook where that denies nothing."""
    name = _HOST.name(event, native_event)
    row = EVENTS[name]
    if event.event != row.event:  # a subagent's turn ends with an event that takes no answer
        return Response()
    shown, text = _progress(stdout)
    if exit_code == 0 and reverse.broken_json(text):
        raise reverse.invalid_json(LABEL, name)
    body = reverse.json_object(text) or {}
    if exit_code == 0 or (exit_code == 2 and _denial(row.shape, name, body)):
        heard = _heard(event, name, body)
        heard.user_message = shown
        return heard
    if row.shape in ("permission", "request"):  # fail closed; what is on stderr the model does not get
        return Response("deny", f"hook exited with code {exit_code}", shown or stderr.strip() or None)
    if exit_code != 2:
        raise reverse.exit_problem(LABEL, exit_code, stderr)
    context = text if row.shape == "failure" else None
    return Response(user_message=shown or stderr.strip() or None, additional_context=context or None)


def _progress(stdout: str) -> tuple[str | None, str]:
    """The messages that are shown while the hook runs, and the rest, which is the answer."""
    shown: list[str] = []
    rest: list[str] = []
    for line in stdout.split("\n"):
        said = reverse.json_object(line) if "progress" in line else None
        if said is not None and said.get("type") == "progress" and isinstance(said.get("message"), str):
            shown.append(said["message"])
        else:
            rest.append(line)
    return "\n".join(shown) or None, "\n".join(rest).strip()


def _denial(shape: str, name: str, body: dict[str, Any]) -> bool:
    """Whether an answer with exit 2 contains a denial itself, and why."""
    if shape == "permission":
        said = _flat(name, body)
        return said.get("permissionDecision") == "deny" and reverse.text_in(said, "permissionDecisionReason") is not None
    return shape == "request" and body.get("behavior") == "deny"


def _flat(name: str, body: dict[str, Any]) -> dict[str, Any]:
    """Claude Code's nested form is read on PascalCase PreToolUse, and nowhere else."""
    nested = reverse.object_in(body, "hookSpecificOutput") if name in PASCAL else {}
    return {**{"modifiedArgs" if key == "updatedInput" else key: value for key, value in nested.items()}, **body}


def _heard(event: Event, name: str, given: dict[str, Any]) -> Response:
    shape = EVENTS[name].shape
    body = _flat(name, given) if shape == "permission" else given
    heard = Response()
    if shape in _TAKES_CONTEXT:
        heard.additional_context = reverse.text_in(body, "additionalContext")
    if shape == "permission":
        _take_permission(event, name, heard, body)
    elif shape == "request":
        heard.decision = body["behavior"] if body.get("behavior") in ("allow", "deny") else None
        heard.reason = reverse.text_in(body, "message") if heard.decision == "deny" else None
    elif shape in _BLOCKABLE and body.get("decision") == "block":
        heard.decision, heard.reason = "deny", reverse.text_in(body, "reason")
        if shape == "feedback":
            heard.additional_context = None  # with a block the reason is all that is read
    if heard.decision == "deny":
        heard.reason = heard.reason or _NO_REASON
    unsaid = _UNSAID.get(EVENTS[name].event, ())
    if unsaid == _UNSAID["PostToolUse"] and event.host != ID:
        heard.modified_output, unsaid = reverse.new_output(event, ID, RESULTS, "", body.get("modifiedResult")), ()
    heard.native = reverse.kept_for(ID, event, reverse.part_of(body, unsaid))
    if event.host != ID and heard.decision != "deny":
        reverse.refuse_unsaid(LABEL, body, unsaid)
    return heard


def _take_permission(event: Event, name: str, heard: Response, body: dict[str, Any]) -> None:
    wanted = body.get("permissionDecision")
    heard.decision = wanted if wanted in ("allow", "deny", "ask") else None
    if heard.decision in ("deny", "ask"):
        heard.reason = reverse.text_in(body, "permissionDecisionReason")
    if heard.decision != "deny" and isinstance(body.get("modifiedArgs"), dict):
        heard.modified_input = _rewrite(event, name, body["modifiedArgs"])


def _rewrite(event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
    if event.host == ID:
        return updated
    native, sent = _call(event, name in PASCAL)
    if isinstance(sent, str):
        native, sent = "apply_patch", {"input": sent}
    return reverse.rewrite_for(event, _SPELLING.get(native), sent, updated)
