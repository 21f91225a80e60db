"""Hermes Agent's sessions, as 0.18.0 and 0.19.0 leave them: all in one SQLite database, ~/.hermes/state.db, or in that of a profile.

A message is written before the hooks of its calls run. When a session is compacted, its rows are marked, and those that are kept are
written again after them. A session that onehook writes has the form of `hermes sessions export`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.reverse import TIME, json_text
from onehook.hostkit.tools import decoded
from onehook.hostkit.transcripts import Database, Entry, Moment, joined_texts, milliseconds, rows, stamp, table, text
from onehook.hostkit.usage import Usage
from onehook.hosts.hermes.reverse import SCHEMA
from onehook.hosts.hermes.wire import RESULTS, TOOLS

FOLDER = ".hermes"
FILES = ("state.db", "profiles/*/state.db")
TOKENS: Usage | None = None  # no payload names the file, so nothing could count them
NAME = "{session}.jsonl"  # for a file that onehook writes
CALLS_FIRST = True
_STRUCTURED = "\0json:"  # the beginning of content that is not plain text
_SUMMARY = "[CONTEXT COMPACTION"
_CHANGING = tuple(name for name, tool in TOOLS.items() if {"Edit", "Write"} & set(tool.names))
_SILENT = ("system", "session_meta")


class _Session:
    def __init__(self, line: dict[str, Any], parent: _Session | None) -> None:
        self.id = text(line.get("session_id"))
        self.cwd: str = text(line.get("cwd")) or (parent.cwd if parent else "")
        self.model = text(line.get("model"))
        self.parent = parent  # of a subagent
        self.calls: dict[str, tuple[str, Any]] = {}
        self.changed = False  # whether files changed in this turn: only then do hooks get its end
        self.archived: set[int] = set()  # what a compaction has marked
        self.begun = False

    def moment(self, line: dict[str, Any], event: str, tool: str | None = None, given: Any = None, **extra: Any) -> Moment:
        told = {"hook_event_name": event, "tool_name": tool, "tool_input": given, "session_id": self.id, "cwd": self.cwd}
        return Moment(stamp(line.get("timestamp")), {**told, "extra": {**extra, "telemetry_schema_version": SCHEMA}})

    def repeats(self, line: dict[str, Any]) -> bool:
        """Whether a compaction kept this row, so that it was already reported."""
        key = hash(repr([line.get(name) for name in ("role", "content", "tool_calls", "tool_call_id")]))
        known = key in self.archived
        if line.get("compacted"):
            self.archived.add(key)
        return known


class Transcript(Database):
    ROWS = (
        "SELECT m.session_id, m.role, m.content, m.tool_calls, m.tool_call_id, m.timestamp, m.compacted, "
        "s.source, s.parent_session_id, s.cwd, s.model FROM messages m LEFT JOIN sessions s ON s.id = m.session_id"
    )
    OF_SESSION = "WHERE m.session_id = ?"
    ORDER = "ORDER BY m.id"

    def __init__(self, path: Path) -> None:
        self.sessions: dict[str, _Session] = {}

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        if isinstance(line.get("messages"), list):
            return self._exported(line)
        role = text(line.get("role"))
        if role in _SILENT:
            return iter(())
        take = {"user": self._user, "assistant": self._assistant, "tool": self._result}.get(role)
        return None if take is None else self._row(take, line)

    def _exported(self, line: dict[str, Any]) -> Iterator[Moment]:
        about = {"session_id": line.get("id"), **{name: line.get(name) for name in ("source", "parent_session_id", "cwd", "model")}}
        for message in rows(line["messages"]):
            yield from self.take({**message, **about, "messages": None}) or ()

    def _row(self, take: Callable[[_Session, dict[str, Any]], Iterator[Moment]], line: dict[str, Any]) -> Iterator[Moment]:
        session = self._session(line)
        if session.repeats(line):
            return
        if not session.begun:
            session.begun = True
            if session.parent:
                yield session.parent.moment(line, "subagent_start", child_session_id=session.id, child_role="leaf")
            yield session.moment(line, "on_session_start", model=session.model)
        yield from take(session, line)

    def _session(self, line: dict[str, Any]) -> _Session:
        name = text(line.get("session_id"))
        if name not in self.sessions:
            parent = self.sessions.get(text(line.get("parent_session_id"))) if line.get("source") == "subagent" else None
            self.sessions[name] = _Session(line, parent)
        return self.sessions[name]

    def _user(self, session: _Session, line: dict[str, Any]) -> Iterator[Moment]:
        prompt = _content(line)
        if prompt and not prompt.startswith(_SUMMARY):
            session.changed = False
            yield session.moment(line, "pre_llm_call", user_message=prompt, conversation_history=[], model=session.model)

    def _assistant(self, session: _Session, line: dict[str, Any]) -> Iterator[Moment]:
        calls = rows(decoded(line.get("tool_calls")))
        for call in calls:
            function = table(call.get("function"))
            name, given = text(function.get("name")), decoded(function.get("arguments"))
            session.calls[text(call.get("id"))] = (name, given)
            yield session.moment(line, "pre_tool_call", name, given, tool_call_id=call.get("id"))
        said = _content(line)
        if not calls and said and not said.startswith(_SUMMARY):
            yield from self._said(session, line, said)

    def _said(self, session: _Session, line: dict[str, Any], said: str) -> Iterator[Moment]:
        if session.changed:
            yield session.moment(line, "pre_verify", model=session.model, attempt=0, final_response=said, changed_paths=[])
        yield session.moment(line, "post_llm_call", assistant_response=said, model=session.model)
        yield session.moment(line, "on_session_end", model=session.model, completed=True, interrupted=False)
        if session.parent:
            child = {"child_session_id": session.id, "child_role": "leaf", "child_summary": said}
            yield session.parent.moment(line, "subagent_stop", **child)

    def _result(self, session: _Session, line: dict[str, Any]) -> Iterator[Moment]:
        name, given = session.calls.pop(text(line.get("tool_call_id")), ("", None))
        if not name:
            return
        result = _content(line)
        error = text(table(decoded(result)).get("error"))
        session.changed = session.changed or (name in _CHANGING and not error)
        told = {"result": result, "status": "error" if error else "ok", "error_message": error or None}
        yield session.moment(line, "post_tool_call", name, given, tool_call_id=line.get("tool_call_id"), **told)


def _content(line: dict[str, Any]) -> str:
    content = line.get("content")
    if isinstance(content, str) and content.startswith(_STRUCTURED):
        content = decoded(content[len(_STRUCTURED) :])
    return joined_texts(content)


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    """One line, as in an export."""
    now = milliseconds(TIME) / 1000
    messages = [{"id": number, "session_id": session, "timestamp": now, **_message(step)} for number, step in enumerate(steps, 1)]
    yield {"id": session, "source": "cli", "started_at": now, "cwd": cwd, "messages": messages}


def _message(step: Entry) -> dict[str, Any]:
    if step.kind == "call":
        function = {"name": step.tool, "arguments": json_text(step.input)}
        return {"role": "assistant", "content": "", "tool_calls": [{"id": step.id, "type": "function", "function": function}]}
    if step.kind == "result":
        return {"role": "tool", "content": _printed(step), "tool_call_id": step.id, "tool_name": step.tool}
    said = {"finish_reason": "stop"} if step.kind == "say" else {}
    return {"role": "user" if step.kind == "prompt" else "assistant", "content": step.text, **said}


def _printed(step: Entry) -> str:
    error = {"error": step.text} if step.failed else {}
    return json_text({RESULTS.texts.get(step.tool, "output"): step.text, **error})
