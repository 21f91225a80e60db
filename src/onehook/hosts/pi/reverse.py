"""Pi in reverse: what our extension in there would send for an event, and what it does with an answer (see plugin.js)."""

from __future__ import annotations

from onehook.core import Event, Response
from onehook.hostkit import bridge, effects, reverse
from onehook.hosts.pi.wire import EVENTS, ID, SOURCES, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LABEL = "Pi"
ENV_FILE = ""
ANSWERS = bridge.ANSWERS
losses = reverse.no_losses
variables = reverse.no_variables
_NAMES = reverse.native_names(TOOLS)
# (The timeout of a command is in seconds.)
_LACKS = {"Bash": ("description", "run_in_background", "timeout"), "Grep": ("output_mode",), "Edit": ("replace_all",), "List": ("ignore",)}
FIELDS: dict[str, dict[str, Any]] = {
    "input": {"prompt": ""},
    "tool_result.error": {"error": ""},
    "agent_end": {"stop_hook_active": False, "last_assistant_message": ""},
    "session_before_compact": {"trigger": "auto"},
    "session_compact": {"trigger": "auto"},
    "message_end": {"last_assistant_message": ""},
    "session_shutdown": {"reason": "quit"},
}

_SAID = {"new": SOURCES["new"]}  # a reloaded session is not what others call resumed


def _payload(event: Event, name: str) -> dict[str, Any]:
    body: dict[str, Any] = {ID: 1, "hook_event_name": name, "session_id": event.session_id}
    body["transcript_path"] = reverse.own_transcript(event, ID)
    body.update(cwd=event.cwd, model=event.model, has_ui=False)
    if EVENTS[name].event in reverse.TOOL_EVENTS:
        body.update(_tool(event, name))
    if name == "session_start":
        body["source"] = reverse.said_source(event, ID, _SAID, "startup")
    if name == "agent_end":
        body["loop_count"] = int(event.stop_hook_active) if event.loop_count is None else event.loop_count
    return {**body, **reverse.filled(event, FIELDS.get(name, {}))}


def _tool(event: Event, name: str) -> dict[str, Any]:
    native, given = _call(event)
    body: dict[str, Any] = {"tool_name": native, "tool_input": given, "call_id": reverse.sent_text(event, "call_id", "call_onehook")}
    if name == "tool_call":
        return body
    result = event.result
    text = result.text or (event.error if name == "tool_result.error" else "")
    milliseconds = None if result.duration is None else round(result.duration * 1000)
    body["tool_response"] = text
    return {**body, **effects.given(exit_code=result.exit_code, duration_ms=milliseconds)}


def _call(event: Event) -> tuple[str, dict[str, Any]]:
    tool, given = reverse.call_of(event)
    if event.mcp is not None:  # Pi itself has no MCP tools; extensions that provide them choose the names
        return f"mcp__{event.mcp.server}__{event.mcp.tool}", given
    native = _NAMES.get(tool, tool)
    spelled = reverse.spelled(TOOLS.get(native), given, lacks=_LACKS.get(tool, ()))
    if native == "edit":
        texts = {key: spelled.pop(key) for key in ("oldText", "newText") if key in spelled}
        spelled["edits"] = [texts]
    return native, spelled


_DECISIONS = {
    "tool": ("allow", "deny", "ask"), "prompt": ("deny",), "result": ("deny",), "stop": ("deny",), "compaction": ("deny",),
}  # fmt: skip
_TAKES_CONTEXT = ("tool", "prompt", "result", "failure", "context")


class Extension(reverse.Host):
    """Our extension's side of the wire."""

    __slots__ = ()

    def answer(self, event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = "") -> Response:
        name = self.name(event, native_event)
        return bridge.heard(self, event, (stdout, stderr, exit_code), name, _DECISIONS, _TAKES_CONTEXT)

    def rewrite(self, event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
        """The list of edits counts as one edit for other agents, so it does for a rewrite too."""
        return updated if event.host == ID else reverse.rewrite_for(event, *self._plain(self.payload(event, name), updated))

    def _plain(self, sent: dict[str, Any], updated: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        return self.tools.get(sent["tool_name"]), _flat(sent["tool_input"]), _flat(updated)


def _flat(given: dict[str, Any]) -> dict[str, Any]:
    edits = given.get("edits")
    first = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], dict) else None
    return given if first is None else {**{key: value for key, value in given.items() if key != "edits"}, **first}


_EXTENSION = Extension(ID, LABEL, EVENTS, TOOLS, _payload)
payload, parts, answer = _EXTENSION.payload, _EXTENSION.parts, _EXTENSION.answer
