"""OpenCode in reverse: what our plugin in there would send for an event, and what it does with an answer (see plugin.js)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import bridge, effects, reverse
from onehook.hostkit.tools import Tool
from onehook.hosts.opencode.wire import EVENTS, ID, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "OpenCode"
ENV_FILE = ""
ANSWERS = bridge.ANSWERS
losses = reverse.no_losses
variables = reverse.no_variables
_NAMES = reverse.native_names(TOOLS)
_SPELLING = {
    **TOOLS,
    "edit": Tool("Edit", file_path="filePath", old_string="oldString", new_string="newString", replace_all="replaceAll"),
    "grep": Tool("Grep", glob="include"),
}
_LACKS = {"Bash": ("description", "run_in_background"), "Grep": ("output_mode",), "WebFetch": ("prompt",)}
FIELDS: dict[str, dict[str, Any]] = {
    "chat.message": {"prompt": "", "model": ""},
    "message.part.updated": {"error": ""},
    "session.idle": {"stop_hook_active": False, "last_assistant_message": ""},
    "session.idle.child": {"last_assistant_message": ""},
    "session.created": {"source": "startup"},
    "session.created.child": {"source": "startup"},
    "experimental.session.compacting": {"trigger": "auto"},
    "experimental.text.complete": {"last_assistant_message": ""},
    "session.deleted": {"reason": "deleted"},
    "dispose": {"reason": "exit"},
}
_CHILD = ("session.created.child", "session.idle.child")


def _payload(event: Event, name: str) -> dict[str, Any]:
    """What the plugin would send for this event, except for the host's own key."""
    body: dict[str, Any] = {"hook_event_name": name, "cwd": event.cwd, "session_id": event.session_id}
    if event.agent_id or name in _CHILD:
        body["agent_id"] = event.agent_id or event.session_id
        body["parent_session_id"] = reverse.sent_text(event, "parent_session_id", event.session_id)
    if EVENTS[name].event in reverse.TOOL_EVENTS:
        body.update(_tool(event, name))
    body.update(reverse.filled(event, FIELDS.get(name, {})))
    if name == "session.idle":
        body["loop_count"] = int(event.stop_hook_active) if event.loop_count is None else event.loop_count
    return body


def _tool(event: Event, name: str) -> dict[str, Any]:
    native, given = _call(event)
    body: dict[str, Any] = {"tool_name": native, "tool_input": given, "call_id": reverse.sent_text(event, "call_id", "call_onehook")}
    if event.mcp is not None:
        body["mcp"] = {"server": event.mcp.server, "tool": event.mcp.tool}
    if name == "tool.execute.after":
        text = event.result.text
        body["tool_response"] = text if event.mcp is None else [{"type": "text", "text": text}]
    result = event.result
    milliseconds = None if result.duration is None else round(result.duration * 1000)
    return {**body, **effects.given(exit_code=result.exit_code, duration_ms=milliseconds)}


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:
        return "_".join(word for word in (event.mcp.server, event.mcp.tool) if word), given
    if tool == "Delete":  # only a patch deletes
        return "apply_patch", {"patchText": reverse.patch_of(event.changes, event.cwd)}
    native = _NAMES.get(tool, tool)
    return native, reverse.spelled(_SPELLING.get(native), given, lacks=_LACKS.get(tool, ()))


# ---- answers ----

_DECISIONS = {
    "tool": ("allow", "deny"), "request": ("allow", "deny", "ask"), "prompt": ("deny",), "result": ("deny",), "stop": ("deny",),
}  # fmt: skip
_TAKES_CONTEXT = ("tool", "prompt", "result", "failure", "context")


class Plugin(reverse.Host):
    """Our plugin's side of the wire, in OpenCode or in an agent that is built on it."""

    __slots__ = ()

    def __init__(self, host: str, label: str) -> None:
        super().__init__(host, label, EVENTS, _SPELLING, lambda event, name: {host: 1, **_payload(event, name)})

    def answer(self, event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
        name = self.name(event, native_event)
        return bridge.heard(self, event, (stdout, stderr, exit_code), name, _DECISIONS, _TAKES_CONTEXT)


_PLUGIN = Plugin(ID, LABEL)
payload, parts, answer = _PLUGIN.payload, _PLUGIN.parts, _PLUGIN.answer
