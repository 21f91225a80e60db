"""Copilot CLI's event logs, as 1.0.102 leaves them: ~/.copilot/session-state/<session>/events.jsonl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.reverse import TIME
from onehook.hostkit.transcripts import Entry, Moment, Reader, chained, milliseconds, table, text, uuid_of
from onehook.hostkit.usage import Usage

FOLDER = ".copilot/session-state"
FILES = ("*/events.jsonl",)
TOKENS: Usage | None = Usage("usage", "inputTokens", "outputTokens")
NAME = "{session}/events.jsonl"  # for a file that onehook writes
CALLS_FIRST = True  # 1.0.102 writes a call down before it runs the hooks, but the file follows some 50 ms later
# Every kind has a dotted name; those below these heads are about the program, not about what the agent did.
_SILENT = ("abort", "assistant.", "external_tool.", "hook.", "model.", "permission.", "session.", "skill.", "subagent.", "system.", "tool.")


class Transcript(Reader):
    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.session = path.parent.name
        self.cwd = ""
        self.calls: dict[str, tuple[str, Any]] = {}

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind, data = text(line.get("type")), table(line.get("data"))
        take = {
            "session.start": self._start,
            "session.resume": self._start,
            "session.shutdown": self._shutdown,
            "user.message": self._prompt,
            "tool.execution_start": self._call,
            "tool.execution_complete": self._result,
            "assistant.message": self._said,
        }.get(kind)
        if take is not None:
            return take(line, data)
        return iter(()) if kind.startswith(_SILENT) else None

    def _moment(self, line: dict[str, Any], **more: Any) -> Moment:
        time = text(line.get("timestamp"))
        agent = text(line.get("agentId"))
        payload = {"sessionId": self.session, "timestamp": milliseconds(time), "cwd": self.cwd, **({"agentId": agent} if agent else {})}
        return Moment(time, {**payload, **more})

    def _start(self, line: dict[str, Any], data: dict[str, Any]) -> Iterator[Moment]:
        self.session = text(data.get("sessionId")) or self.session
        self.cwd = text(table(data.get("context")).get("cwd")) or self.cwd
        yield self._moment(line, source="new" if line["type"] == "session.start" else "resume")

    def _shutdown(self, line: dict[str, Any], data: dict[str, Any]) -> Iterator[Moment]:
        yield self._moment(line, reason="complete")

    def _prompt(self, line: dict[str, Any], data: dict[str, Any]) -> Iterator[Moment]:
        if not line.get("agentId"):
            yield self._moment(line, prompt=text(data.get("content")))

    def _call(self, line: dict[str, Any], data: dict[str, Any]) -> Iterator[Moment]:
        self.calls[text(data.get("toolCallId"))] = (text(data.get("toolName")), data.get("arguments"))
        yield self._moment(line, toolName=data.get("toolName"), toolArgs=data.get("arguments"))

    def _result(self, line: dict[str, Any], data: dict[str, Any]) -> Iterator[Moment]:
        name, given = self.calls.pop(text(data.get("toolCallId")), ("", None))
        if not name:
            return
        if data.get("success") is True:
            result = {"resultType": "success", "textResultForLlm": text(table(data.get("result")).get("content"))}
            yield self._moment(line, toolName=name, toolArgs=given, toolResult=result)
        else:
            error = data.get("error")
            yield self._moment(
                line, toolName=name, toolArgs=given, error=error if isinstance(error, str) else text(table(error).get("message"))
            )

    def _said(self, line: dict[str, Any], data: dict[str, Any]) -> Iterator[Moment]:
        if not data.get("toolRequests") and data.get("content") and not line.get("agentId"):
            yield self._moment(line, stopReason="end_turn", transcriptPath=self.path, response=data["content"])


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    start = {"sessionId": session, "version": 1, "producer": "copilot-agent", "startTime": TIME, "context": {"cwd": cwd}}
    yield {"type": "session.start", "data": start, "id": uuid_of(0), "timestamp": TIME, "parentId": None}
    for step, line in chained(steps):
        about = {"id": line["uuid"], "timestamp": line["timestamp"], "parentId": line["parentUuid"] or uuid_of(0)}
        if step.kind == "prompt":
            yield {"type": "user.message", "data": {"content": step.text}, **about}
        elif step.kind == "say":
            yield {"type": "assistant.message", "data": {"content": step.text, "toolRequests": []}, **about}
        elif step.kind == "call":
            data = {"toolCallId": step.id, "toolName": step.tool, "arguments": step.input}
            yield {"type": "tool.execution_start", "data": data, **about}
        else:
            end: dict[str, Any] = {"error": {"message": step.text}} if step.failed else {"result": {"content": step.text}}
            yield {"type": "tool.execution_complete", "data": {"toolCallId": step.id, "success": not step.failed, **end}, **about}
