"""Qwen Code's chats, as 0.24.4 leaves them: ~/.qwen/projects/<project>/chats/<session>.jsonl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from onehook.hostkit.transcripts import Entry, Messages, Moment, chained, joined_texts, rows, table, text
from onehook.hostkit.usage import Usage

FOLDER = ".qwen/projects"
FILES = ("*/chats/*.jsonl",)
TOKENS: Usage | None = Usage("usageMetadata", "totalTokenCount")
NAME = "{session}.jsonl"  # for a file that onehook writes
CALLS_FIRST = False


class Transcript(Messages):
    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        take = {"user": self._user, "assistant": self._assistant, "tool_result": self._result, "system": lambda *_: iter(())}.get(
            text(line.get("type"))
        )
        if take is None:
            return None
        return self.from_start(line, take(line, rows(table(line.get("message")).get("parts"))))

    def moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        return super().moment(line, event, timestamp=text(line.get("timestamp")), **more)

    def _user(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Moment]:
        prompt = joined_texts(parts)
        if prompt and line.get("provenance", "real_user") == "real_user":
            yield self.moment(line, "UserPromptSubmit", prompt=prompt)

    def _assistant(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Moment]:
        calls = [table(part["functionCall"]) for part in parts if "functionCall" in part]
        for call in calls:
            yield self.call(line, call.get("id"), call.get("name"), call.get("args"))
        if not calls and (said := joined_texts([part for part in parts if not part.get("thought")])):
            yield self.moment(line, "Stop", stop_hook_active=False, last_assistant_message=said)

    def _result(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Moment]:
        failed = table(line.get("toolCallResult")).get("status") == "error"
        for answer in (table(part.get("functionResponse")) for part in parts):
            response = table(answer.get("response"))
            yield from self.result(line, answer.get("id"), text(response.get("error")) if failed else None, response)


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    for step, line in chained(steps, sessionId=session, cwd=cwd, version="0.24.4"):
        if step.kind == "prompt":
            yield {**line, "type": "user", "provenance": "real_user", "message": {"role": "user", "parts": [{"text": step.text}]}}
        elif step.kind == "result":
            response = {"error" if step.failed else "output": step.text}
            part = {"functionResponse": {"id": step.id, "name": step.tool, "response": response}}
            status = {"toolCallResult": {"callId": step.id, "status": "error" if step.failed else "success"}}
            yield {**line, "type": "tool_result", "provenance": "tool_result", "message": {"role": "user", "parts": [part]}, **status}
        else:
            called = {"functionCall": {"id": step.id, "name": step.tool, "args": step.input}}
            parts = [{"text": step.text} if step.kind == "say" else called]
            yield {**line, "type": "assistant", "provenance": "assistant_output", "message": {"role": "model", "parts": parts}}
