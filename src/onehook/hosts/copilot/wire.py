"""GitHub Copilot CLI and the cloud agent: what they send and what they obey (1.0.102; see docs/hosts/copilot.md).

The spelling of the event in the config selects the dialect. camelCase (what install writes): sessionId, toolName, toolArgs, and nothing
that names the event. PascalCase (also what it sends to the hooks in Claude Code's files): hook_event_name, session_id, tool_name with
Claude's names for the tools, tool_input with Copilot's own keys. Answers are flat keys in both; the nested form that Claude Code takes is
read only on PascalCase PreToolUse, and ignored elsewhere. Up to 1.0.80 toolArgs is the object as a JSON string.

Every exit code except 0 denies on preToolUse and permissionRequest, so when failing open an error exits with 0.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Facts, Mcp, Output, PayloadError
from onehook.hostkit.effects import ABSENT, CERTAIN, HONOURED, NO_CHANNEL, Cap, Caps, Mark, Results, Row, StandIn, Traits, dropped, given
from onehook.hostkit.tools import Tool, decoded, in_its_shell, take_common, take_mcp, take_tool, tool_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onehook.core import Response

ID = "copilot"
CAMEL = {
    "preToolUse": Row("PreToolUse", "permission", gates=True),
    "permissionRequest": Row("PermissionRequest", "request", gates=True),
    "userPromptSubmitted": Row("UserPromptSubmit", "block", gates=True),
    "postToolUse": Row("PostToolUse", "feedback"),
    "postToolUseFailure": Row("PostToolUseFailure", "failure"),
    "agentStop": Row("Stop", "continue"),
    "subagentStop": Row("SubagentStop", "continue"),
    "sessionStart": Row("SessionStart", "context"),
    "subagentStart": Row("SubagentStart", "context"),
    "notification": Row("Notification", "context"),
    "sessionEnd": Row("SessionEnd", "message"),
    "preCompact": Row("PreCompact", "message"),
    "userPromptTransformed": Row("UserPromptTransformed", "message"),
    "errorOccurred": Row("StopFailure", "message"),
}
# permissionRequest comes in camelCase whatever the config says; userPromptTransformed has no other name.
_CAMEL_ONLY = ("permissionRequest", "userPromptTransformed")
_PASCAL_OF = {"errorOccurred": "ErrorOccurred"}  # the others have their usual names
PASCAL = {_PASCAL_OF.get(name, row.event): Row(row.event, row.shape, row.gates) for name, row in CAMEL.items() if name not in _CAMEL_ONLY}
EVENTS = {**CAMEL, **PASCAL}
TRAITS = Traits(
    unreadable=("", 0),
    error_exit=0,
    reads_config_of=("claude",),  # only the project's files
    skills={"skill": "skill"},
    variables=("COPILOT_CLI", "COPILOT_CLI_BINARY_VERSION", "COPILOT_HOOK_DIR", "COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    # Copilot sends no event after a compaction.
    stand_ins={name: StandIn("SessionStart", source="compact") for name, row in EVENTS.items() if row.event == "PreCompact"},
)
# Why a session starts. A headless run reports "new"; others report "startup", a word that Copilot has too.
SOURCES = {"new": "startup"}
CAMEL_OF = {row.event: name for name, row in CAMEL.items()}

_ONLY_BEFORE = dropped("Copilot takes a rewrite only on preToolUse")
_NO_NOTE = dropped("Copilot shows a reason only with a denial or a question")
_NO_ASK = dropped("only preToolUse can ask")
_NOT_BLOCKABLE = dropped("Copilot cannot stop this event")
_FAILED = dropped("Copilot takes context after a failure, and no decision")
_FAILED_OUTPUT = dropped("Copilot cannot replace the error of a tool")
_STOP_CONTEXT = "Copilot takes context on a stop only with a denial"
_OWN_DIALOG = dropped("Copilot shows its own dialog without it")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": HONOURED, "modified_input": _ONLY_BEFORE, "additional_context": HONOURED,
}  # fmt: skip
_PLAIN = Caps(_BASE)
CAPS = {
    # Copilot removes lines of this kind from stdout before it reads the answer.
    "permission": Caps(_BASE, progress='{"type": "progress", "message": "%s"}', ask=HONOURED, modified_input=HONOURED),
    # ask = no answer: the dialog that was about to appear does appear.
    "request": Caps(_BASE, ask=HONOURED, ask_reason=_OWN_DIALOG, additional_context=NO_CHANNEL),
    "block": _PLAIN,
    "feedback": Caps(_BASE, modified_output=HONOURED),
    "failure": Caps(
        _BASE, modified_output=_FAILED_OUTPUT, deny=_FAILED, ask=_FAILED, reason=NO_CHANNEL,
        note=Cap("moved", becomes="additional_context"),
    ),
    "continue": Caps(_BASE, additional_context=Cap("limited", _STOP_CONTEXT, beside="deny")),
    "context": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL),
    "message": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL, additional_context=NO_CHANNEL),
}  # fmt: skip
# A patch is plain text, not an object; what a rewrite of it would have to look like is not known.
_FREEFORM = CAPS["permission"].but(modified_input=dropped("Copilot takes apply_patch as plain text, which cannot be rewritten"))

_VIEW = {"file_path": "path"}
_CREATE = {"file_path": "path", "content": "file_text"}
_EDIT = {"file_path": "path", "old_string": "old_str", "new_string": "new_str"}
NATIVE_TOOLS = {
    "bash": Tool("Bash"),
    "powershell": Tool("Bash", shell="powershell"),
    "local_shell": Tool("Bash"),
    "write_bash": Tool("Bash", command="input"),  # keys typed into a shell, up to 1.0.61
    "write_powershell": Tool("Bash", command="input", shell="powershell"),
    "view": Tool("Read", **_VIEW),
    "create": Tool("Write", **_CREATE),
    "edit": Tool("Edit", **_EDIT),
    "str_replace_editor": Tool("Edit|Write|Read", **_EDIT),
    "apply_patch": Tool("Edit|Write", patch="input"),
    "grep": Tool("Grep", path="paths"),
    "rg": Tool("Grep", path="paths"),
    "glob": Tool("Glob", path="paths"),
    "web_fetch": Tool("WebFetch"),
    "web_search": Tool("WebSearch"),
    "task": Tool("Agent"),
}
# The names of the PascalCase dialect; the keys of the input stay Copilot's own.
_ALIASES = {
    "Bash": Tool("Bash"),
    "Read": Tool("Read", **_VIEW),
    "Write": Tool("Write", **_CREATE),
    "Edit": Tool("Edit", **_EDIT),
    "Grep": Tool("Grep", path="paths"),
    "Glob": Tool("Glob", path="paths"),
    "WebFetch": Tool("WebFetch"),
    "WebSearch": Tool("WebSearch"),
    "Agent": Tool("Agent"),
}
TOOLS = {**NATIVE_TOOLS, **_ALIASES}
RESULTS = Results(
    {"*": "textResultForLlm|text_result_for_llm"},
    tails=("<shellId: # completed with exit code #>", "<exited with exit code #>"), marker="exit code ",
)  # fmt: skip
# One tool with a command for each of these; its commands that are not listed here change a file.
_EDITOR = {"view": TOOLS["view"], "create": TOOLS["create"]}
_PATCH_TOOLS = ("apply_patch", "Edit")
_TYPED = ("write_bash", "write_powershell")
_KEYS = ("{up}", "{down}", "{left}", "{right}", "{backspace}")


_NO_TRANSCRIPT = ("SessionStart", "SessionEnd", "Notification")
_ANY = {"hook_event_name": PASCAL, "session_id": str, "timestamp": str}
MARKS = (
    Mark(CERTAIN, {"sessionId": str, "timestamp": int}),
    Mark(9, {**_ANY, "transcript_path": ABSENT}),
    Mark(9, _ANY, folder="/session-state/"),
    Mark(7, {**_ANY, "hook_event_name": [name for name in PASCAL if name not in _NO_TRANSCRIPT]}),
    Mark(1, {**_ANY, "transcript_path": ("",)}),
)
SENDS = ("sessionId", "timestamp")


def parse(payload: dict[str, Any], event_name: str) -> Event:
    name = _native_event(payload, event_name)
    row = EVENTS.get(name)
    if row is None:
        raise PayloadError(f"Copilot has no event {name!r}" if name else "cannot tell which event this payload is; name it with --event")
    event = Event(row.event, ID, payload)
    event.native_event = name
    _take_common(event, payload)
    if row.event == "Stop" and event.agent_id:
        # A subagent's turn ends with this event and then with subagentStop. Only the second takes an answer (a block here was
        # ignored), so this one is neither a Stop nor a second SubagentStop.
        event.event = "agentStop"
    if "toolName" in payload or "tool_name" in payload or row.shape in ("permission", "request"):
        _take_tool(event, payload)
    return event


def _native_event(payload: dict[str, Any], event_name: str) -> str:
    named = payload.get("hook_event_name")
    if isinstance(named, str):
        # A notification names its event in a camelCase payload too.
        return CAMEL_OF.get(named, named) if "sessionId" in payload or named not in EVENTS else named
    if payload.get("hookName") == "permissionRequest":
        return "permissionRequest"
    return CAMEL_OF.get(event_name, event_name) or _event_by_shape(payload)


def _event_by_shape(payload: dict[str, Any]) -> str:
    """The event of a payload that does not name it, when --event does not either."""
    if "toolName" in payload:
        return "postToolUse" if "toolResult" in payload else "postToolUseFailure" if "error" in payload else "preToolUse"
    if "stopReason" in payload:
        return "subagentStop" if "agentName" in payload else "agentStop"
    for key, name in (
        ("agentName", "subagentStart"),
        ("errorContext", "errorOccurred"),
        ("transformedPrompt", "userPromptTransformed"),
        ("notification_type", "notification"),
        ("trigger", "preCompact"),
        ("source", "sessionStart"),
        ("prompt", "userPromptSubmitted"),
        ("reason", "sessionEnd"),
    ):
        if key in payload:
            return name
    return ""


def _take_common(event: Event, payload: dict[str, Any]) -> None:
    take_common(event, payload, SOURCES)
    for field, key in (
        ("session_id", "sessionId"),
        ("transcript_path", "transcriptPath"),
        ("agent_id", "agentId"),
        ("agent_type", "agentType"),
        ("agent_type", "agentName"),
        ("last_assistant_message", "response"),
        ("prompt", "initialPrompt"),
        ("prompt", "initial_prompt"),
    ):
        value = payload.get(key)
        if isinstance(value, str) and not getattr(event, field):
            setattr(event, field, value)
    error = payload.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        event.error = error["message"]


def _take_tool(event: Event, payload: dict[str, Any]) -> None:
    name = payload.get("toolName", payload.get("tool_name"))
    given = next((payload[key] for key in ("toolArgs", "tool_input", "toolInput") if key in payload), None)
    if isinstance(given, str):
        args = decoded(given)
        given = args if isinstance(args, dict) else {"input": given}  # plain text: a patch
    result = payload.get("toolResult", payload.get("tool_result", payload.get("tool_response")))
    event.tool_response = result
    if EVENTS[event.native_event].shape == "request":
        _take_request(event, name, given)
    elif isinstance(name, str) and name not in TOOLS and "-" in name and isinstance(given, dict):
        take_mcp(event, name, given, Mcp.joined(name, "-"))  # none of Copilot's own tools has a hyphen
    elif name == "str_replace_editor" and isinstance(given, dict):
        tool = _EDITOR.get(str(given.get("command")), TOOLS[name])
        take_tool(event, TOOLS, name, given, read_as=Tool("|".join((*tool.names, name)), **tool.keys))
    elif name in _PATCH_TOOLS and isinstance(given, dict) and "path" not in given and "input" in given:
        take_tool(event, TOOLS, name, given, read_as=TOOLS["apply_patch"])
    elif name in _TYPED:
        take_tool(event, TOOLS, name, given, _typed_facts, spell=_typed_keys)
    else:
        take_tool(event, TOOLS, name, given)


def _typed_facts(event: Event) -> Facts:
    """What is typed into a shell, as a command: Enter is a newline, and the keys that move the cursor are left out."""
    typed = tool_text(event, "input")
    for key in _KEYS:
        typed = typed.replace(key, "")
    return Facts(command=in_its_shell(TOOLS[event.native_tool], typed.replace("{enter}", "\n")))


def _typed_keys(event: Event, keys: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input" if key == "command" else key: value.replace("\n", "{enter}") if key == "command" and isinstance(value, str) else value
        for key, value in keys.items()
    }


def _take_request(event: Event, name: object, given: object) -> None:
    """A permission request has a summary of the input: the command, or the file and its change as a diff."""
    if isinstance(name, str) and "/" in name and isinstance(given, dict):
        server, _, tool = name.partition("/")
        take_mcp(event, name, given, Mcp(server, tool))
        return
    # Creating a file is requested as an edit too.
    take_tool(event, TOOLS, name, given, read_as=Tool("Edit|Write", new_string="diff") if name == "edit" else None)


def caps(event: Event) -> Caps:
    shape = EVENTS[event.native_event].shape
    args = event.native.get("toolArgs", event.native.get("tool_input"))
    if shape == "permission" and isinstance(args, str) and not isinstance(decoded(args), dict):
        return _FREEFORM
    return CAPS[shape]


def _framed(event: Event, text: object) -> str:
    from onehook.hostkit.results import framed

    return framed(event, RESULTS, text)


def render(event: Event, response: Response, chatter: bool) -> Output:
    shape = EVENTS[event.native_event].shape
    denied = response.decision == "deny"
    body: dict[str, Any] = {}
    reason, context = response.reason, response.additional_context
    if denied and shape in ("feedback", "continue") and context is not None:
        # With a block Copilot reads only the reason.
        reason, context = f"{reason}\n\n{context}", None
    text = None if response.modified_output is None else _framed(event, response.modified_output)
    if denied and text is not None:
        reason, text = f"{text}\n\n{reason}", None  # the reason replaces the result as well
    if shape == "permission":
        body = given(permissionDecision=response.decision, permissionDecisionReason=reason, modifiedArgs=response.modified_input)
    elif shape == "request":
        if response.decision in ("allow", "deny"):
            body["behavior"] = response.decision
        if denied:
            body["message"] = reason
    elif denied:
        body["decision"] = "block"
        body["reason"] = reason
    if text is not None:
        body["modifiedResult"] = {"resultType": "success", "textResultForLlm": text}
    if context is not None:
        body["additionalContext"] = context
    if shape == "permission" and body and event.native_event in PASCAL:
        # The same in Claude Code's form, which VS Code reads in its own hooks; Copilot CLI tolerates it beside the flat keys.
        nested = {"updatedInput" if key == "modifiedArgs" else key: value for key, value in body.items()}
        body["hookSpecificOutput"] = {"hookEventName": event.native_event, **nested}
    lines = [dumps(body)] if body else []
    if response.user_message is not None:
        # The only way to show the user something on every event; Copilot removes these lines before it reads the answer.
        lines.insert(0, dumps({"type": "progress", "message": response.user_message}))
    return Output("\n".join(lines), 2 if denied and shape == "permission" else 0)
