"""Gemini CLI's chats, as 0.61.0 leaves them: ~/.gemini/tmp/<project>/chats/session-*.jsonl; older: one JSON document a chat.

A line with the id of an earlier one replaces it: a message is written when it is sent, and again with the results of its tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.reverse import TIME
from onehook.hostkit.transcripts import Entry, Moment, chained, joined_texts, rows, table, text
from onehook.hostkit.usage import Usage

FOLDER = ".gemini/tmp"
FILES = ("*/chats/*.jsonl", "*/chats/*.json")
TOKENS: Usage | None = Usage("tokens", "total")
NAME = "session-{session}.jsonl"  # for a file that onehook writes
CALLS_FIRST = False
_SILENT = frozenset(["info", "error", "warning"])


class Transcript:
    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.cwd = _project(path)
        self.session = ""
        self.seen: set[str] = set()
        self.last: tuple[str, str, str] = ("", "", "")  # id, time and text of the model's last message, if the turn may end with it

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        if "sessionId" in line:
            return self._head(line)
        if "$set" in line or "$rewindTo" in line or text(line.get("type")) in _SILENT:
            return iter(())
        take = {"user": self._user, "gemini": self._model}.get(text(line.get("type")))
        return None if take is None else take(line)

    def end(self) -> Iterator[Moment]:
        _, time, said = self.last
        self.last = ("", "", "")
        if said:
            yield self._moment(time, "AfterAgent", prompt="", prompt_response=said, stop_hook_active=False)

    def _moment(self, time: str, event: str, **more: Any) -> Moment:
        common = {"session_id": self.session, "transcript_path": self.path, "cwd": self.cwd, "hook_event_name": event, "timestamp": time}
        return Moment(time, {**common, **more})

    def _head(self, line: dict[str, Any]) -> Iterator[Moment]:
        if not self.session:
            self.session = text(line.get("sessionId"))
            yield self._moment(text(line.get("startTime")), "SessionStart", source="startup")
        for message in rows(line.get("messages")):
            yield from self.take(message) or ()

    def _user(self, line: dict[str, Any]) -> Iterator[Moment]:
        prompt = joined_texts(line.get("content"))
        if prompt and not prompt.startswith("<session_context>"):
            yield from self.end()
            yield self._moment(text(line.get("timestamp")), "BeforeAgent", prompt=prompt)

    def _model(self, line: dict[str, Any]) -> Iterator[Moment]:
        calls = rows(line.get("toolCalls"))
        said = "" if calls else joined_texts(line.get("content"))
        self.last = (text(line.get("id")), text(line.get("timestamp")), said)
        for call in calls:
            name = text(call.get("id"))
            if name and name not in self.seen:
                self.seen.add(name)
                yield from self._call(call, text(call.get("timestamp")) or text(line.get("timestamp")))

    def _call(self, call: dict[str, Any], time: str) -> Iterator[Moment]:
        given = {"tool_name": call.get("name"), "tool_input": call.get("args")}
        yield self._moment(time, "BeforeTool", **given)
        if "result" in call:
            outputs = [table(table(part.get("functionResponse")).get("response")) for part in rows(call["result"])]
            response = {
                "llmContent": "\n".join(text(output.get("output")) for output in outputs),
                "returnDisplay": call.get("resultDisplay"),
            }
            yield self._moment(time, "AfterTool", **given, tool_response=response)


def _project(path: Path) -> str:
    """The chat does not name its folder; a file next to the chats does."""
    try:
        return (path.parent.parent / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    yield {"sessionId": session, "projectHash": "", "startTime": TIME, "lastUpdated": TIME, "kind": "main"}
    told = list(steps)
    answered = {step.id for step in told if step.kind == "result"}  # a message with calls is written when they have results
    for step, line in chained(step for step in told if step.kind != "call" or step.id not in answered):
        about = {"id": line["uuid"], "timestamp": line["timestamp"]}
        if step.kind == "prompt":
            yield {**about, "type": "user", "content": [{"text": step.text}]}
            continue
        call: dict[str, Any] = {"id": step.id, "name": step.tool, "args": step.input}
        if step.kind == "result":
            response = {"functionResponse": {"id": step.id, "name": step.tool, "response": {"output": step.text}}}
            call.update(result=[response], status="error" if step.failed else "success", resultDisplay=step.text)
        said = step.kind == "say"
        message = {"type": "gemini", "content": step.text if said else "", "thoughts": []}
        yield {**about, **message} if said else {**about, "id": f"message-{step.id}", **message, "toolCalls": [call]}
