"""Mistral Vibe's sessions, as 3.0.2 leaves them: ~/.vibe/logs/session/unified/<session>, a folder with a journal and snapshots.

A snapshot (generations/<number>) holds the session's history up to a record of the journal; it lists the files in chunks/ that make it
up. Vibe keeps the last two, and only the part of the journal after the older one. That snapshot and the journal are the whole session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.transcripts import Counts, Entry, Folder, Moment, joined_texts, json_of, rows, stamp, table, text, uuid_of
from onehook.hostkit.usage import Usage

FOLDER = ".vibe/logs/session/unified"
FILES = ("*-*",)
TOKENS: Usage | None = None  # a hook gets the folder; the sums are in temporary files in it
NAME = "{session}/journal/0000000000000001.jsonl"
CALLS_FIRST = True  # seen with 3.0.2: in the journal before the hook starts
_SILENT = frozenset([
    "action_result", "callback_registered", "callback_resolved", "command_reserved", "core_input", "process_notification_submitted",
    "process_operation_dispatched", "process_state_changed", "projection_advanced", "receipt_failed", "receipt_succeeded",
    "session_relocated",
])  # fmt: skip
_HISTORY = "history"  # an entry of a snapshot; the name is onehook's, not Vibe's
# The names in the journal -> the names that a hook gets.
_TOLD = {
    "file_system.read_file": {"path": "file_path"},
    "file_system.write_file": {"path": "file_path"},
    "file_system.bash": {"timeout_seconds": "timeout"},
    "agents.spawn": {"task": "message"},  # in a snapshot; the journal has the name that hooks get
}
_EDIT = "file_system.search_replace"
_EDITS = {"old_str": "old_string", "new_str": "new_string", "replace_all": "replace_all"}
_ENDED = ("completed", "failed")  # a call that a hook or a person refused is "skipped"


class Transcript(Folder):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.folder = path.parent.parent if path.is_file() else path
        self.snapshot = _snapshot(self.folder)
        state = table(table(json_of(self.snapshot / "projection-state.json")).get("snapshot"))
        self.parent = text(table(state.get("session")).get("parentSessionId"))
        # Only the session that was started first has a meta.json.
        meta = json_of(self.folder / "meta.json") or json_of(self.folder.parent / (self.parent or "-") / "meta.json")
        self.cwd = text(table(table(meta).get("environment")).get("working_directory"))
        self.calls: dict[str, dict[str, Any] | None] = {}  # None: its result was already reported
        self.said: tuple[object, str] | None = None  # what the agent said last, if nothing has happened since
        self.stopped = ""  # the message that the agent wants to stop with
        self.known: set[str] = set()
        self.time: object = None

    def files(self) -> list[Path]:
        manifest = table(json_of(self.snapshot / "manifest.json"))
        chunks = table(manifest.get("projection_state")).get("chunks")
        history = [self.folder / "chunks" / f"{name}.json" for name in chunks if isinstance(name, str)] if isinstance(chunks, list) else []
        begin = Path(text(table(manifest.get("recovery_journal_segment")).get("path"))).name
        journal = sorted(file for file in (self.folder / "journal").glob("*.jsonl") if file.name >= begin)
        return [file for file in history if file.is_file()] + journal

    def read(self, file: Path, counts: Counts, last: int) -> Iterator[dict[str, Any]]:
        if file.parent.name != "chunks":
            yield from super().read(file, counts, last)
            return
        entries = rows(json_of(file))
        counts.lines += len(entries)
        yield from ({"type": _HISTORY, "entry": entry} for entry in entries)

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind, payload = text(line.get("type")), table(line.get("payload"))
        if kind == _HISTORY:
            return self._entry(table(line.get("entry")))
        if kind == "projection_delta":
            return self._delta(payload.get("delta"))
        if kind == "action_intent":
            return self._intent(table(payload.get("request")))
        return iter(()) if kind in _SILENT else None

    def end(self) -> Iterator[Moment]:
        if self.said is not None:
            yield self._stop(*self.said)
            self.said = None

    def _moment(self, time: object, event: str, **more: Any) -> Moment:
        common = {"session_id": self.folder.name, "transcript_path": str(self.folder), "cwd": self.cwd}
        return Moment(stamp(time, 1000), {**common, "parent_session_id": self.parent or None, "hook_event_name": event, **more})

    def _stop(self, time: object, said: str) -> Moment:
        # (Vibe itself does not report the messages to its hooks.)
        return self._moment(time, "post_agent", last_assistant_message=said)

    def _delta(self, delta: object) -> Iterator[Moment]:
        for change in rows(delta):
            if change.get("op") in ("append_entry", "replace_entry"):
                yield from self._entry(table(change.get("entry")))

    def _entry(self, entry: dict[str, Any]) -> Iterator[Moment]:
        self.time = entry.get("updatedAt")
        kind, key = entry.get("type"), text(entry.get("id"))
        if kind == "effect":
            yield from self._effect(entry, key)
        elif kind == "message" and key not in self.known:
            self.known.add(key)
            yield from self._message(entry, joined_texts(entry.get("content")))

    def _message(self, entry: dict[str, Any], said: str) -> Iterator[Moment]:
        if entry.get("role") == "assistant":
            self.said = (entry.get("createdAt"), said) if said != self.stopped else None
        elif entry.get("role") == "user":
            yield from self.end()
            if said and not self.parent:
                yield Moment(stamp(entry.get("createdAt"), 1000), {}, said)
        self.stopped = ""

    def _effect(self, entry: dict[str, Any], key: str) -> Iterator[Moment]:
        detail, state = table(entry.get("detail")), table(entry.get("state"))
        if isinstance(detail.get("input"), dict) and text(detail.get("toolName")):  # a refused call has no input
            yield from self._call(key, entry.get("createdAt"), text(detail.get("toolName")), detail["input"])
        call = self.calls.get(key)
        if call is not None and state.get("status") in _ENDED:
            self.calls[key] = None
            yield self._moment(entry.get("updatedAt"), "post_tool", **call, **_result(state))

    def _call(self, key: str, time: object, name: str, given: dict[str, Any], **more: Any) -> Iterator[Moment]:
        self.said = None
        if key not in self.calls:
            call = self.calls[key] = {"tool_name": name, **more, "tool_input": _told(name, given)}
            yield self._moment(time, "pre_tool", **call)

    def _intent(self, request: dict[str, Any]) -> Iterator[Moment]:
        """What Vibe is about to do: call a tool, or first notify its hooks of a call or a stop."""
        given = table(request.get("input"))
        about = request if "call" in request else table(given.get("tool_call"))
        call = table(about.get("call"))
        if call:
            key, asked = f"effect-{text(about.get('action_id'))}", table(call.get("arguments"))
            yield from self._call(key, self.time, _name(call), asked, tool_call_id=about.get("call_id"))
        elif request.get("hook") == "post_agent_turn":
            self.said = None
            self.stopped = joined_texts(table(table(given.get("candidate")).get("message")).get("content"))
            yield self._stop(self.time, self.stopped)


def _snapshot(folder: Path) -> Path:
    """The folder of the oldest snapshot."""
    found = sorted((folder / "generations").glob("*/manifest.json"))
    return next((path.parent for path in found if isinstance(json_of(path), dict)), folder / "generations")


def _name(call: dict[str, Any]) -> str:
    return text(call.get("name")) or f"{text(call.get('group_name'))}.{text(call.get('tool_name'))}"


def _told(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The input as a hook gets it."""
    if name == _EDIT and len(edits := rows(given.get("content"))) == 1:
        rest = {key: value for key, value in given.items() if key != "content"}
        return {**rest, **{told: edits[0][key] for key, told in _EDITS.items() if key in edits[0]}}
    names = _TOLD.get(name, {})
    return {names.get(key, key): value for key, value in given.items()}


def _kept(name: str, told: dict[str, Any]) -> dict[str, Any]:
    """The reverse: the input as the journal has it."""
    if name == _EDIT:
        edit = {key: told[one] for key, one in _EDITS.items() if one in told}
        return {**{key: value for key, value in told.items() if key not in _EDITS.values()}, "content": [edit]}
    names = {one: key for key, one in _TOLD.get(name, {}).items()}
    return {names.get(key, key): value for key, value in told.items()}


def _result(state: dict[str, Any]) -> dict[str, Any]:
    output, error = table(state.get("output")), table(state.get("error")).get("message")
    shown = text(state.get("outputText")) or joined_texts(output.get("content"))
    failed = state.get("status") == "failed"
    return {
        "tool_status": "failure" if failed else "success", "tool_output": None if failed else output.get("structured_content"),
        "tool_output_text": text(error) or shown, "tool_error": (text(error) or shown or "failed") if failed else None, "duration_ms": 0,
    }  # fmt: skip


# ---- a journal for programs that read one ----

_MADE = 1767225600000


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(steps, 1):
        stamps = {"createdAt": _MADE, "updatedAt": _MADE, "sessionId": session, "turnId": "turn-1"}
        change = {"op": "replace_entry" if step.kind == "result" else "append_entry", "entry": {**_made(step, number), **stamps}}
        record = {"recovery_journal_record_version": 1, "sequence": number, "type": "projection_delta"}
        yield {"payload": {"delta": [change], "watermark": number}, **record}


def _made(step: Entry, number: int) -> dict[str, Any]:
    if step.kind in ("prompt", "say"):
        role = "user" if step.kind == "prompt" else "assistant"
        return {"type": "message", "id": f"{role}-{uuid_of(number)}", "role": role, "content": [{"type": "text", "text": step.text}]}
    detail = {"kind": "tool", "toolName": step.tool, "input": _kept(step.tool, step.input)}
    state: dict[str, Any] = {"status": "running", "outputText": ""}
    if step.failed:
        state = {"status": "failed", "outputText": "", "error": {"code": "tool_failed", "message": step.text}}
    elif step.kind == "result":
        output = {"type": "success", "content": [{"type": "text", "text": step.text}]}
        structured = {"structured_content": step.response} if isinstance(step.response, dict) else {}
        state = {"status": "completed", "outputText": step.text, "output": {**output, **structured}}
    return {"type": "effect", "id": f"effect-{step.id}", "title": step.tool, "detail": detail, "state": state}
