"""Qwen Code's chats, as 0.24.4 leaves them: ~/.qwen/projects/<project>/chats/<session>.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.hostkit.transcripts import Messages, Moment, joined_texts, rows, table, text

FOLDER = ".qwen/projects"
FILES = ("*/chats/*.jsonl",)


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
