"""Cline (CLI 3.0.65): what onehook's plugin sends from there, and what it does with the answer (see plugin.js).

Cline has hooks that are files named after an event, and plugins. A denial by a hook file ends the whole run, and neither the model nor
the user learns why; a denial by a plugin is reported to the model, and the run continues. So onehook is a plugin, and uses the format of
hook files: the same keys in the payload and in the answer. What only a plugin can do has keys that onehook adds: `decision` (ask, allow)
and `output`.
"""

from __future__ import annotations

from onehook.codec import dumps
from onehook.core import Event, Facts, Mcp, Output, PayloadError, Response
from onehook.hostkit.effects import CERTAIN, HONOURED, NO_CHANNEL, SILENT, Caps, Mark, Results, Row, StandIn, Traits, dropped, given
from onehook.hostkit.tools import GATED, Tool, absolute, decoded, native_keys, take_mcp, take_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

ID = "cline"
TRAITS = Traits(
    skills={"skills": "skill"}, variables=("CLINE_BUILD_ENV",), stand_ins={"PostToolUse": StandIn("SubagentStop", tool="Agent")}
)

EVENTS = {
    "PreToolUse": Row("PreToolUse", "tool", gates=True),
    "PostToolUse": Row("PostToolUse", "result"),
    "UserPromptSubmit": Row("UserPromptSubmit", "prompt", gates=True),
    "TaskStart": Row("SessionStart", "context"),
    "TaskResume": Row("SessionStart", "context"),
    "TaskComplete": Row("Stop", "nothing"),
    "TaskError": Row("StopFailure", "nothing"),
    "TaskCancel": Row("Interrupt", "nothing"),
    "SessionShutdown": Row("SessionEnd", "nothing"),
    "PreCompact": Row("PreCompact", "nothing"),
}
# The events that are not reported to plugins.
FILES_ONLY = ("SessionShutdown", "PreCompact")
# The names of events in the CLI's payloads. Those of VS Code have the name of the file.
HOOK_NAMES = {
    "tool_call": "PreToolUse", "tool_result": "PostToolUse", "prompt_submit": "UserPromptSubmit", "agent_start": "TaskStart",
    "agent_resume": "TaskResume", "agent_end": "TaskComplete", "agent_error": "TaskError", "agent_abort": "TaskCancel",
    "session_shutdown": "SessionShutdown", "pre_compact": "PreCompact",
}  # fmt: skip
_SOURCES = {"TaskStart": "startup", "TaskResume": "resume"}

_NO_ASK = dropped("only a tool call can be asked about")
_NO_NOTE = dropped("a reason is told only with a denial")
_NOT_SHOWN = dropped("Cline shows nothing that a plugin says")
_ONLY_BEFORE = dropped("Cline takes a rewrite only before a tool runs")
_NOT_BLOCKABLE = dropped("Cline cannot stop this event")
_BASE = {
    "allow": HONOURED, "deny": HONOURED, "ask": _NO_ASK, "reason": HONOURED, "note": _NO_NOTE, "allow_reason": _NO_NOTE,
    "user_message": _NOT_SHOWN, "modified_input": _ONLY_BEFORE, "additional_context": HONOURED,
}  # fmt: skip
CAPS = {
    "tool": Caps(_BASE, approve=HONOURED, ask=HONOURED, modified_input=HONOURED),
    "prompt": Caps(_BASE),
    "result": Caps(_BASE, modified_output=HONOURED),
    "context": Caps(_BASE, deny=_NOT_BLOCKABLE, reason=NO_CHANNEL),
    "nothing": SILENT,
}
caps = Caps.by_shape(EVENTS, CAPS)

TOOLS = {
    "run_commands": Tool("Bash", command="commands"),
    "read_files": Tool("Read", file_path="files"),
    "editor": Tool("Edit|Write", file_path="path", old_string="old_text", new_string="new_text", content="new_text"),
    "apply_patch": Tool("Edit|Write", patch="input"),
    "search_codebase": Tool("Grep", pattern="queries"),
    "fetch_web_content": Tool("WebFetch", url="requests"),
    "spawn_agent": Tool("Agent|Task", prompt="task"),
}
OTHERS = (
    "skills", "ask_question", "submit_and_exit", "switch_to_act_mode", "team_spawn_teammate", "team_shutdown_teammate", "team_status",
    "team_task", "team_run_task", "team_cancel_run", "team_list_runs", "team_await_runs", "team_send_message", "team_broadcast",
    "team_read_mailbox", "team_mission_log", "team_cleanup", "team_create_outcome", "team_attach_outcome_fragment",
    "team_review_outcome_fragment", "team_finalize_outcome", "team_list_outcomes",
)  # fmt: skip
# The plugin reports a result as one string, and the exit code of a command.
RESULTS = Results(texts={name: "output" for name in TOOLS})
MARKS = (
    Mark(CERTAIN, {"clineVersion": str, "hookName": str, "taskId": str}),
    Mark(CERTAIN, {"clineVersion": str, "hookName": tuple(EVENTS), "workspaceRoots": list}),
)
SENDS = ("clineVersion", "taskId", "workspaceRoots")


def parse(payload: dict[str, Any], event_name: str) -> Event:
    named = payload.get("hookName", event_name)
    name = HOOK_NAMES.get(named, named) if isinstance(named, str) else ""
    row = EVENTS.get(name)
    if row is None:
        raise PayloadError(f"Cline has no event {named!r}")
    event = Event(row.event, ID, payload)
    event.native_event = name
    event.source = _SOURCES.get(name, "")
    _take_common(event, payload)
    about = _table(payload, "tool_call") or _table(payload, "tool_result")
    if row.shape in ("tool", "result"):
        _take_call(event, about or _told_by_vs_code(payload))
    if row.shape == "result":
        output = about["output"] if "output" in about else decoded(_table(payload, "postToolUse").get("result"))
        event.tool_response = _response(output, event.tool == "Bash")
        event.error = _text(about.get("error"))
    return event


def _table(payload: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _take_common(event: Event, payload: Mapping[str, Any]) -> None:
    roots = payload.get("workspaceRoots")
    event.cwd = _text(payload.get("cwd")) or (_text(roots[0]) if isinstance(roots, list) and roots else "")
    told = (payload.get("session_id"), _table(payload, "sessionContext").get("rootSessionId"), payload.get("taskId"))
    event.session_id = next((name for name in map(_text, told) if name), "")
    event.host_version = _text(payload.get("clineVersion"))
    event.transcript_path = _text(payload.get("transcript_path"))
    event.model = _text(_table(payload, "model").get("slug"))
    event.agent_id = _text(payload.get("agent_id")) if payload.get("parent_agent_id") else ""
    event.prompt = _text(_table(payload, "userPromptSubmit").get("prompt"))
    event.last_assistant_message = _text(_table(payload, "turn").get("outputText"))
    event.error = _text(_table(payload, "error").get("message"))


def _told_by_vs_code(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The tool input from VS Code, whose parameters are strings, or JSON for values of other types."""
    said = _table(payload, "preToolUse") or _table(payload, "postToolUse")
    parameters = said.get("parameters")
    given = {key: decoded(value) for key, value in parameters.items()} if isinstance(parameters, dict) else None
    return {"name": said.get("toolName"), "input": given}


def _response(output: Any, shell: bool) -> Any:
    """What a tool returned, a list with one entry for each command or file, combined into one: the joined texts, and the exit code."""
    entries = output if isinstance(output, list) else [output]
    if not entries or not all(isinstance(entry, dict) and "query" in entry and "success" in entry for entry in entries):
        return output
    failed = next((entry for entry in entries if entry["success"] is not True), None)
    texts = [_printed(_text(entry.get("result")), _text(entry.get("error"))) for entry in entries]
    body: dict[str, Any] = {"output": "\n".join(texts), "success": failed is None}
    if shell:
        body["exit_code"] = 0 if failed is None else _exit_code(_text(failed.get("error")))
    return body


_EXITED = "Command exited with code "


def _printed(text: str, error: str) -> str:
    """What a command printed, without the line on how it ended that Cline puts first if it failed. Other problems are only in `error`."""
    head, found, rest = text.partition("]")
    if found and head.startswith("[" + _EXITED):
        return rest.lstrip("\n")
    return text or error


def _exit_code(error: str) -> int | None:
    number = error[len(_EXITED) :] if error.startswith(_EXITED) else ""
    return int(number) if number.isdigit() else None


def _take_call(event: Event, call: Mapping[str, Any]) -> None:
    name, given = call.get("name"), call.get("input")
    if isinstance(name, str) and name not in TOOLS and "__" in name and isinstance(given, dict):
        server, _, tool = name.partition("__")
        take_mcp(event, name, given, Mcp(server, tool))
        return
    if not isinstance(name, str) or name not in _LISTS:
        whole = {"input": given} if name == "apply_patch" and isinstance(given, str) else given
        take_tool(event, TOOLS, name, whole, read_as=_WRITES if name == "editor" and _writes(given) else None)
        return
    key, one, facts = _LISTS[name]
    listed = [one(value) for value in _listed(given, _SPELLED[key])]
    if key == "requests" and len({request["url"] for request in listed if request}) > 1 and event.event in GATED:
        raise PayloadError(f"{name}: several pages in one call cannot be judged; fetch them one by one")
    whole = {key: listed} if listed and None not in listed else {}
    rest = {other: value for other, value in given.items() if other not in _SPELLED[key]} if isinstance(given, dict) else {}
    take_tool(event, TOOLS, name, {**rest, **whole}, facts=facts, spell=_spelled)


# How models spell the list that a tool takes; Cline accepts each of these keys, and also a bare list or string.
_SPELLED = {
    "commands": ("commands", "command", "cmd", "args"),
    "files": ("files", "file_paths", "paths", "path", "file_path", "filePath", "start_line", "end_line"),
    "queries": ("queries",),
    "requests": ("requests",),
}
_WRITES = Tool("Write|Edit", file_path="path", content="new_text")


def _writes(given: Any) -> bool:
    """Whether the editor is to write a whole file."""
    return isinstance(given, dict) and given.get("old_text") is None and given.get("insert_line") is None


def _listed(value: Any, spelled: tuple[str, ...]) -> list[Any]:
    """The elements that a tool is given. An object without such a list is itself the only element."""
    if isinstance(value, dict):
        held = next((value[key] for key in spelled[:3] if isinstance(value.get(key), (list, dict))), None)
        held = held if held is not None else value.get(spelled[0])
        value = [value] if held is None else held
    return value if isinstance(value, list) else [value]


def _command(value: Any) -> str | None:
    """A command: a string, or a program with arguments that bypass the shell, as one string. None if it is neither."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else None
    words = [value.get("command", value.get("cmd")), *(value["args"] if isinstance(value.get("args"), list) else ())]
    if not all(isinstance(word, str) for word in words):
        return None
    return words[0] if len(words) == 1 else " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    plain = word and all(char.isalnum() or char in "_-./=:,@%+" for char in word)
    return word if plain else "'" + word.replace("'", "'\\''") + "'"


def _file(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return {"path": value} if isinstance(value, str) else None
    path = next((value[key] for key in _SPELLED["files"][:6] if isinstance(value.get(key), str)), None)
    ranges = {key: value[key] for key in ("start_line", "end_line") if key in value}
    return None if path is None else {"path": path, **ranges}


def _query(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _request(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) and isinstance(value.get("url"), str) else None


def _commands(event: Event) -> Facts:
    return Facts(command="\n".join(event.tool_input.get("commands", ())))


def _files(event: Event) -> Facts:
    return Facts(paths=[absolute(file["path"], event.cwd) for file in event.tool_input.get("files", ())])


def _queries(event: Event) -> Facts:
    """Cline searches the whole project; other agents' searches name a folder."""
    path = _text(event.tool_input.get("path"))
    return Facts(paths=[absolute(path, event.cwd)] if path else [])


def _requests(event: Event) -> Facts:
    return Facts(url=next((request["url"] for request in event.tool_input.get("requests", ())), ""))


# Tools that take a list: its key, how to read one element, and what the call is about.
_LISTS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Event], Facts]]] = {
    "run_commands": ("commands", _command, _commands),
    "read_files": ("files", _file, _files),
    "search_codebase": ("queries", _query, _queries),
    "fetch_web_content": ("requests", _request, _requests),
}


def _spelled(event: Event, keys: Mapping[str, Any]) -> dict[str, Any]:
    """A rewrite in Cline's keys: a single string becomes a list of one."""
    spelled = native_keys(event, TOOLS[event.native_tool], keys)
    wrap: dict[str, Callable[[Any], Any]] = {
        "commands": lambda text: [text],
        "files": lambda text: [{"path": text}],
        "queries": lambda text: [text],
        "requests": lambda text: [{**event.tool_input["requests"][0], "url": text}],
    }
    return {key: wrap[key](value) if key in wrap and isinstance(value, str) else value for key, value in spelled.items()}


def render(event: Event, response: Response, chatter: bool) -> Output:
    if response.decision == "deny":
        said: dict[str, Any] = {"cancel": True, "errorMessage": response.reason}
    else:
        said = given(decision=response.decision, errorMessage=response.reason, overrideInput=response.modified_input)
    said.update(given(output=response.modified_output, context=response.additional_context))
    return Output(dumps(said) if said else "")
