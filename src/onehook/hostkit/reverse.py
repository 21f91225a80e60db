"""What the hosts' reverse modules share: build an agent's payload from a unified event, and read a hook's answer as that agent does.

Rules for this file and for hosts/<id>/reverse.py: import nothing that costs start-up time (they run inside events), and stay pure, except
that text_of_file reads what another agent does not send.
"""

from __future__ import annotations

from onehook.codec import compact, loads
from onehook.core import EVENTS, EXTENDED_EVENTS, STOPS, Change, Event, HandlerError, PayloadError, UsageError
from onehook.hostkit.patch import changes_of_patch
from onehook.hostkit.tools import GATED, Tool, absolute, decoded, take_tool
from onehook.system import is_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from onehook.hostkit.effects import Results, Row, StandIn

    Spec = Mapping[str, "type | tuple[str, ...]"]

TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
# The input keys of each unified tool that mean the same on every host that has them.
TOOL_KEYS = {
    "Bash": ("command", "timeout", "description", "run_in_background"),
    "Read": ("file_path", "offset", "limit"),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string", "replace_all"),
    "Delete": ("file_path",),
    "Grep": ("pattern", "path", "glob", "output_mode"),
    "Glob": ("pattern", "path"),
    "List": ("path", "ignore"),
    "WebFetch": ("url", "prompt"),
    "WebSearch": ("query",),
    "Agent": ("prompt", "description", "subagent_type"),
}
TIME = "2026-01-01T00:00:00.000Z"  # in a payload for an event of another host, which did not report the time
# If a result has one text for the user and one for the model: what a command printed is in the first, the other has notes around it.
_MAX_FILE = 4 * 1024 * 1024
# The fields of an answer in the form that Claude Code introduced.
ANSWER = ("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput")
_FILE_TOOLS = ("Read", "Write", "Edit", "Delete")
_TEXTS = (
    "session_id",
    "cwd",
    "transcript_path",
    "model",
    "source",
    "last_assistant_message",
    "error",
    "agent_id",
    "agent_type",
    "host_version",
)

SAMPLE_FIELDS = (*_TEXTS, "stop_hook_active", "tool_response")  # what sample() takes for the event itself, beside the tool's input


class Host:
    """The part of a reverse module that is the same for every host.

    `tools`: how the tools' inputs are spelled in payloads. `body`: what the agent would send for another host's event, under the given
    native name. `again`: the same for the host's own events, if that is not just the payload with another tool_input.
    """

    __slots__ = ("_again", "_body", "events", "id", "label", "tools")

    def __init__(
        self,
        id: str,
        label: str,
        events: Mapping[str, Row],
        tools: Mapping[str, Tool],
        body: Callable[[Event, str], dict[str, Any]],
        again: Callable[[Event], dict[str, Any]] | None = None,
    ) -> None:
        self.id, self.label, self.events, self.tools = id, label, events, tools
        self._body, self._again = body, again or _sent_again

    def name(self, event: Event, wanted: str) -> str:
        """The host's own name for an event: the wanted one, the event's native one, or the first that means the same."""
        if wanted:
            row = self.events.get(wanted)
            if row is None:
                raise UsageError(f"{self.label} has no event {wanted!r}; its events are {', '.join(self.events)}")
            if row.event != event.event:
                raise UsageError(f"{self.label}'s {wanted} is a {row.event}, not a {event.event}")
            return wanted
        if event.host == self.id and event.native_event in self.events:
            return event.native_event
        for name, row in self.events.items():
            if row.event == event.event:
                return name
        raise UsageError(f"{self.label} has no event for {event.event}; it has {', '.join(unified_events(self.events))}")

    def payload(self, event: Event, native_event: str = "") -> dict[str, Any]:
        """What the agent would send for this event; for its own event, what it sent, with the tool's current input."""
        name = self.name(event, native_event)
        if event.host == self.id and event.native and name == event.native_event:
            return self._again(event)
        if event.event in TOOL_EVENTS and not event.tool:
            raise UsageError(f"{self.label}'s {event.event} is about a tool, but this event does not name one")
        return self._body(event, name)

    def parts(self, event: Event) -> list[Event]:
        """One event per changed file: the tools of most hosts change one file, and scripts written for them look for its path.

        A script that guards files must see each of them: run it once for each part, and merge the answers.
        """
        if event.host == self.id:
            return [event]
        changes = _single_steps(event.changes)
        if not changes:
            return path_parts(event, self.id)
        if len(changes) < 2 and changes == event.changes:
            return [event]
        return [_narrowed(event, change) for change in changes]

    def rewrite(self, event: Event, name: str, updated: dict[str, Any]) -> dict[str, Any] | None:
        """What a script's rewrite of its input means for the event's own host."""
        if event.host == self.id:
            return updated
        sent = self.payload(event, name)
        return rewrite_for(event, self.tools.get(sent["tool_name"]), sent["tool_input"], updated)


def _sent_again(event: Event) -> dict[str, Any]:
    body = dict(event.native)
    if event.tool:
        body["tool_input"] = sent_again(body.get("tool_input"), event.tool_input)
    return body


# ---- from a unified event to a native payload ----


def native_names(tools: Mapping[str, Tool]) -> dict[str, str]:
    """The host's own name for each unified tool that it has: the first of its table."""
    names: dict[str, str] = {}
    for native, tool in tools.items():
        names.setdefault(tool.names[0], native)
    return names


def unified_events(events: Mapping[str, Row]) -> list[str]:
    return list(dict.fromkeys(row.event for row in events.values()))


def filled(event: Event, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The named fields: from the event, or else as its own host sent them under the same name, or else the default."""
    body: dict[str, Any] = {}
    for name, default in defaults.items():
        known = getattr(event, name, None) if name in _TEXTS or name in ("prompt", "stop_hook_active") else None
        value = known or event.native.get(name)
        fits = isinstance(value, str) if default is None else type(value) is type(default)
        body[name] = value if fits else default
    return body


def ordered(body: Mapping[str, Any], first: Iterable[str]) -> dict[str, Any]:
    """A payload with these keys first, in this order, since some programs read it with sed."""
    return {**{key: body[key] for key in first if key in body}, **body}


def said_source(event: Event, host: str, words: Mapping[str, str], default: str) -> str:
    """Why a session starts, in the host's own word. `words`: those that differ from the unified ones, as in its wire."""
    sent = event.native.get("source")
    if event.host == host and isinstance(sent, str) and sent:
        return sent
    return next((word for word, unified in words.items() if unified == event.source), event.source or default)


def text_of_file(path: str, cwd: str) -> str:
    """The content of the file that an event is about; "" if there is none, or if it is too large to be sent."""
    try:
        place = absolute(path, cwd)
        if not is_file(place):  # a pipe, for example, would never end
            return ""
        with open(place, "rb") as file:
            data = file.read(_MAX_FILE + 1)
    except (OSError, ValueError):
        return ""
    return data.decode("utf-8", "replace") if len(data) <= _MAX_FILE else ""


def sent_text(event: Event, name: str, default: str) -> str:
    """A string that the event's own host sent under this name."""
    value = event.native.get(name)
    return value if isinstance(value, str) and value else default


def sent_mode(event: Event, modes: Collection[str], default: str) -> str:
    """The permission mode that came with the event, if this host has it too."""
    mode = sent_text(event, "permission_mode", default)
    return mode if mode in modes else default


def own_transcript(event: Event, host: str, marks: tuple[str, ...] = ()) -> str:
    """The transcript if it has this host's format or was made for it; otherwise "", which hosts send if they have none."""
    if event._transcript:
        return event._transcript
    where = event.transcript_path.replace("\\", "/")
    return event.transcript_path if event.host in ("", host) and (not marks or any(mark in where for mark in marks)) else ""


def sent_again(native_input: object, tool_input: dict[str, Any]) -> Any:
    """The tool's input for the same host: the original, unless a handler has rewritten it since."""
    return native_input if tool_input in (native_input, {"input": native_input}, decoded(native_input)) else tool_input


def unified_input(event: Event) -> dict[str, Any]:
    """The tool's input with its keys spelled as policies spell them."""
    tool: Tool | None = event._tool
    return dict(event.tool_input) if tool is None else unified_keys(tool, event.tool_input)


def unified_keys(tool: Tool, native_input: Mapping[str, Any]) -> dict[str, Any]:
    spelled = {native: unified for unified, native in tool.keys.items()}
    return {spelled.get(key, key): value for key, value in native_input.items()}


def call_of(event: Event) -> tuple[str, dict[str, Any]]:
    """The unified tool and its unified input, made from what the event is about. For an event with at most one change."""
    if event.mcp is not None:
        return "MCP", dict(event.tool_input)
    if len(event.changes) > 1 or any(change.kind == "move" for change in event.changes):
        raise HandlerError(f"{event.native_tool} changes several files; a call on this agent changes one (see parts)")
    given = unified_input(event)
    tool = event.tool
    facts: dict[str, Any] = {}
    if event.changes:
        tool, facts = _said_as(event.changes[0])
    elif tool == "Bash":
        facts = {"command": event.command}
    elif event.paths:
        facts = {"file_path" if tool == "Read" else "path": event.paths[0]}
    elif event.url:
        facts = {"url": event.url}
    keys = TOOL_KEYS.get(tool)
    # Keys that only one host uses would be misleading on another.
    kept = given if keys is None or not event.host else {key: given[key] for key in keys if key in given}
    return tool, {**kept, **facts}


def _said_as(change: Change) -> tuple[str, dict[str, Any]]:
    if change.kind == "write":
        return "Write", {"file_path": change.path, "content": change.new or ""}
    if change.kind == "delete":
        return "Delete", {"file_path": change.path}
    return "Edit", {"file_path": change.path, "old_string": change.old or "", "new_string": change.new or ""}


def said_tools(event: Event) -> list[str]:
    """What other agents would call a tool that changes files: one word for each change."""
    if _is_whole(event) and event.event not in GATED:
        return ["Write", "Edit"]  # the file is already written, so which of the two it was is not known
    return [_said_as(change)[0] for change in event.changes]


def _is_whole(event: Event) -> bool:
    """Whether this tool reports a change to a file as the complete new text."""
    tool: Tool | None = event._tool
    return tool is not None and not tool.patch and "Write" in tool.names and "Edit" in tool.names


def told(event: Event) -> Event:
    """An event whose tool reports every edit as the complete new text, reduced to what changes in the file on disk."""
    if not _is_whole(event) or event.event not in GATED:
        return event
    copy = event.copy()
    copy.changes = [_compared(change, event.cwd) if change.kind == "write" else change for change in event.changes]
    return copy


def _compared(change: Change, cwd: str) -> Change:
    before, after = text_of_file(change.path, cwd), change.new or ""
    if not before or before == after:
        return change
    old, new = before.splitlines(True), after.splitlines(True)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if len(old) - end == start:  # nothing is removed, so an adjacent line shows where
        start, end = (start - 1, end) if start else (start, end - 1)
    return Change(change.path, "edit", "".join(old[start : len(old) - end]), "".join(new[start : len(new) - end]))


def spelled(
    tool: Tool | None, unified: Mapping[str, Any], keys: Iterable[str] | None = None, lacks: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Unified keys in the host's spelling, all or only the named ones, without those that the host's tool lacks."""
    chosen = unified if keys is None else {key: unified[key] for key in keys if key in unified}
    return {key if tool is None else tool.key(key): value for key, value in chosen.items() if key not in lacks}


def path_parts(event: Event, host: str) -> list[Event]:
    """A call that reads several paths as one event per path, for a host whose tools read one."""
    if event.host == host or event.changes or len(event.paths) < 2:
        return [event]
    found = [event.copy() for _ in event.paths]
    for part, path in zip(found, event.paths):
        part.paths, part._fold = [path], None
    return found


def _single_steps(changes: list[Change]) -> list[Change]:
    """The same changes without moves, which no other tool has: the old file is deleted, the new one changed."""
    steps: list[Change] = []
    for at, change in enumerate(changes):
        if change.kind != "move":
            steps.append(change)
            continue
        steps.append(Change(change.path, "delete"))
        followed = at + 1 < len(changes) and changes[at + 1].path == change.to
        if change.to and not followed:
            steps.append(Change(change.to, "edit", "", ""))
    return steps


def _narrowed(event: Event, change: Change) -> Event:
    part = event.copy()
    part.tool = _said_as(change)[0]
    part.changes, part.paths, part._fold = [change], [change.path], None
    return part


def stood_for(event: Event, row: StandIn) -> Event:
    """The moment that an event of this host replaces. The host has no name and no payload for it."""
    moment = Event(row.event, event.host)
    moment.native_event = ""
    for name in ("session_id", "cwd", "transcript_path", "model", "host_version", "agent_id"):
        setattr(moment, name, getattr(event, name))
    kind = unified_input(event).get("subagent_type")
    moment.agent_type = kind if isinstance(kind, str) else ""
    moment.source = row.source
    if row.event in STOPS:
        moment.last_assistant_message = event.result.text
    return moment


def new_output(event: Event, host: str, form: Results, tool: str, value: object) -> str | None:
    """The new text of a result that a program for `host` replaces, on another agent's event. (On its own host the value is kept.)"""
    if value is None or event.host == host:
        return None
    from onehook.hostkit.results import text_in

    return text_in(form, tool, value)


def json_text(value: object) -> str:
    try:
        return compact(value)
    except (TypeError, ValueError):
        raise HandlerError("the tool's result cannot be written as JSON") from None


# ---- patches ----


def patch_of(changes: list[Change], cwd: str) -> str:
    """An apply_patch text that makes these changes. A patch consists of lines, so every text in it ends with a newline."""
    lines = ["*** Begin Patch"]
    opened = ""  # the file whose section is open for more hunks
    for change in changes:
        path = _patch_path(change.path, cwd)
        hunk = ["-" + line for line in _lines(change.old)] + ["+" + line for line in _lines(change.new)]
        if change.kind == "write":
            lines += [f"*** Add File: {path}", *hunk]
        elif change.kind == "delete":
            lines.append(f"*** Delete File: {path}")
        elif change.kind == "move":
            lines += [f"*** Update File: {path}", f"*** Move to: {_patch_path(change.to or '', cwd)}"]
        else:
            if opened != change.path or not hunk:
                lines.append(f"*** Update File: {path}")
            lines += ["@@", *hunk]
        opened = {"edit": change.path if hunk else "", "move": change.to or ""}.get(change.kind, "")
    return "\n".join([*lines, "*** End Patch", ""]) if changes else ""


def _lines(text: str | None) -> list[str]:
    lines = (text or "").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _patch_path(path: str, cwd: str) -> str:
    inside = path[len(cwd) + 1 :] if cwd and path.startswith(cwd + "/") else ""
    name = inside if inside and inside == inside.strip() and not inside.startswith("/") else path
    # A patch is made of lines, which are trimmed, so such a name would be read as another file's or as more of the patch.
    if "\n" in name or "\r" in name or name != name.strip() or not name:
        raise HandlerError(f"the path {path!r} cannot be written in a patch")
    return name


# ---- from a native answer to a Response ----


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a string holds, or None."""
    try:
        value = loads(text.lstrip("\ufeff"))
    except PayloadError:
        return None
    return value if isinstance(value, dict) else None


def printed_json(text: str) -> tuple[bool, Any]:
    """Whether a string is JSON, and its value; for JSON inside a JSON string the inner value, as Gemini CLI and Qwen Code read it."""
    try:
        value = loads(text.lstrip("\ufeff"))
        return True, loads(value) if isinstance(value, str) else value
    except PayloadError:
        return False, None


def broken_json(text: str) -> bool:
    """Whether an output begins like JSON but is not. Several agents read it as plain text, which allows; it may be a cut-off deny."""
    return text.lstrip("\ufeff").startswith(("{", '"{')) and not printed_json(text)[0]


def invalid_json(label: str, name: str) -> HandlerError:
    return HandlerError(f"{label} hook: invalid JSON on {name}, so the answer is not used")


def text_in(body: Mapping[str, Any], *keys: str) -> str | None:
    """The first of the named fields that is a non-empty string; hosts ignore other types."""
    for key in keys:
        value = body.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def object_in(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def set_in(body: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """The named fields that an answer sets. An empty string counts: replacing a result with nothing is a redaction too."""
    return [key for key in keys if body.get(key) is not None and body[key] is not False]


def part_of(body: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """The fields with these names that an answer sets."""
    return {key: body[key] for key in set_in(body, keys)}


def no_losses(event: Event, stdout: str, exit_code: int, native_event: str = "") -> list[str]:
    """`losses` of a host whose answers contain nothing that a Response cannot express."""
    return []


def no_variables(event: Event, project: str) -> dict[str, str]:
    """`variables` of a host that sets none for its hooks."""
    return {}


def kept_for(host: str, event: Event, beyond: dict[str, Any]) -> dict[str, Any] | None:
    """The part of an answer that only its own host can act on, as a Response's `native`; None on another host, or if there is none."""
    return {host: beyond} if beyond and event.host == host else None


def refuse_unsaid(label: str, body: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Raise an error for what the host would do but a Response cannot express: a result without its redaction would be worse.

    A field whose loss neither reveals nor allows anything is reported by the reverse module's `losses` instead, and the rest counts.
    """
    for key in set_in(body, keys):
        raise HandlerError(f"{label} hook: its answer sets {key}, which onehook cannot carry over; only {label} itself can act on it")


def problem_in(body: Mapping[str, Any], spec: Spec, strict: bool = False, nullable: bool = False) -> str:
    """What is wrong with an answer's fields, or "". A spec names a type, or the allowed strings."""
    for key, value in body.items():
        wanted = spec.get(key)
        if wanted is None:
            if strict:
                return f"unknown key {key!r}"
        elif value is None and nullable and wanted is not bool:
            continue
        elif isinstance(wanted, tuple):
            if value not in wanted:
                return f"{key} is {value!r}, not one of {', '.join(wanted)}"
        elif not isinstance(value, wanted):
            return f"{key} is not a {wanted.__name__}"
    return ""


def exit_problem(label: str, exit_code: int, stderr: str) -> HandlerError:
    said = stderr.strip()
    return HandlerError(f"{label} hook: exit code {exit_code} means that the hook failed" + (f": {said[:2000]}" if said else ""))


def rewrite_for(event: Event, tool: Tool | None, sent: Mapping[str, Any], updated: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a script's rewrite means for the event's own host: the unified keys that it changed. `tool`: the entry of the script's host."""
    changed = {key: value for key, value in updated.items() if key not in sent or sent[key] != value}
    if not changed or event.mcp is not None:
        return changed or None
    unified = (
        _from_patch(event, changed[tool.patch]) if tool is not None and tool.patch in changed else _plain_rewrite(event, tool, changed)
    )
    own: Tool | None = event._tool
    return unified if own is None or not own.patch else {own.patch: _patched(event, own, unified)}


def _plain_rewrite(event: Event, tool: Tool | None, changed: Mapping[str, Any]) -> dict[str, Any]:
    unified = dict(changed) if tool is None else unified_keys(tool, changed)
    if event.changes and event.changes[0].kind == "edit" and "content" in unified:
        unified["new_string"] = unified.pop("content")  # an edit was shown as a Write of its new text
    keys = TOOL_KEYS.get(_said_as(event.changes[0])[0] if event.changes else event.tool)
    foreign = [key for key in unified if event.host and keys is not None and key not in keys]
    if foreign:
        raise HandlerError(f"the hook rewrites {foreign[0]!r}, which {event.native_tool} of {event.host} does not have")
    return unified


def _from_patch(event: Event, text: object) -> dict[str, Any]:
    """The unified keys that a rewritten patch changes, for an event with one change."""
    try:
        changes = changes_of_patch(text) if isinstance(text, str) else []
    except PayloadError:
        changes = []
    if len(changes) != 1 or len(event.changes) != 1 or changes[0].kind != event.changes[0].kind or changes[0].kind == "move":
        raise HandlerError(f"the hook rewrites the patch in a way that {event.native_tool} of {event.host or 'this event'} cannot express")
    said = _said_as(changes[0])[1]
    before = _said_as(event.changes[0])[1]
    if said["file_path"] == _patch_path(before["file_path"], event.cwd):
        said["file_path"] = before["file_path"]
    return {key: value for key, value in said.items() if value not in (before[key], before[key] + "\n")}


def _patched(event: Event, own: Tool, unified: Mapping[str, Any]) -> str:
    """The event's own patch with one file's change rewritten."""
    if len(event.changes) != 1 or len(changes_of_patch(event.tool_input[own.patch])) != 1:
        raise HandlerError(f"the hook rewrites one of the files that {event.native_tool} changes; a patch can only be rewritten as a whole")
    kind = event.changes[0].kind
    said = {**_said_as(event.changes[0])[1], **unified}
    new = said.get("content" if kind == "write" else "new_string")
    return patch_of([Change(said["file_path"], kind, said.get("old_string"), new)], event.cwd)


# ---- an event that no host sent ----


def sample(unified_event: str, tool: str = "", /, **fields: Any) -> Event:
    """A host-neutral event: sample("PreToolUse", "Bash", command="ls"), sample("PreToolUse", "MCP", server="db", tool="query", sql="...").

    Fields of the event are taken as such; all others are the tool's input, in unified keys.
    """
    if unified_event not in EVENTS and unified_event not in EXTENDED_EVENTS:
        raise UsageError(f"unknown event {unified_event!r}; the events are {', '.join(EVENTS)}")
    event = Event(unified_event, "")
    for name in _TEXTS if tool else (*_TEXTS, "prompt"):
        if name in fields:
            setattr(event, name, _a_text(name, fields.pop(name)))
    event.stop_hook_active = fields.pop("stop_hook_active", False) in (True, "true", "1")
    event.tool_response = fields.pop("tool_response", None)
    if tool:
        _take_sample_tool(event, tool, fields)
    elif unified_event in TOOL_EVENTS:
        raise UsageError(f"{unified_event} is about a tool: name one, for example Bash")
    elif fields:
        raise UsageError(f"{unified_event} has no {next(iter(fields))!r}; it is not about a tool")
    return event


def _a_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a string, not {type(value).__name__}")
    return value


_UNIFIED = {**{name: Tool(name) for name in TOOL_KEYS}, "Agent": Tool("Agent|Task"), "Task": Tool("Agent")}


def _take_sample_tool(event: Event, tool: str, fields: dict[str, Any]) -> None:
    if event.event not in TOOL_EVENTS:
        raise UsageError(f"{event.event} is not about a tool, so it cannot name {tool!r}")
    if tool == "MCP":
        tool = f"mcp__{_a_text('server', fields.pop('server', ''))}__{_a_text('tool', fields.pop('tool', ''))}"
    if tool in _FILE_TOOLS and "file_path" not in fields and "path" in fields:
        fields["file_path"] = fields.pop("path")
    if tool in _UNIFIED and _UNIFIED[tool].main:
        fields.setdefault(_UNIFIED[tool].main, "")  # an agent would not leave it out
    try:
        take_tool(event, _UNIFIED, tool, fields)
    except PayloadError as error:
        raise UsageError(str(error)) from None
