"""Qwen Code's chats, as 0.24.4 leaves them: ~/.qwen/projects/<project>/chats/<session>.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hosts.transcribing import Moment, joined_texts, rows, table, text

FOLDER = ".qwen/projects"
FILES = ("*/chats/*.jsonl",)


class Transcript:
    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.calls: dict[str, tuple[str, Any]] = {}
        self.begun = False

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        take = {"user": self._user, "assistant": self._assistant, "tool_result": self._result, "system": lambda *_: iter(())}.get(
            text(line.get("type"))
        )
        return None if take is None else self._taken(take, line)

    def end(self) -> Iterator[Moment]:
        return iter(())

    def _taken(self, take: Any, line: dict[str, Any]) -> Iterator[Moment]:
        if not self.begun:
            self.begun = True
            yield self._moment(line, "SessionStart", source="startup")
        yield from take(line, rows(table(line.get("message")).get("parts")))

    def _moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        payload = {
            "session_id": text(line.get("sessionId")),
            "transcript_path": self.path,
            "cwd": text(line.get("cwd")),
            "hook_event_name": event,
            "timestamp": text(line.get("timestamp")),
            **more,
        }
        return Moment(payload["timestamp"], payload)

    def _user(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Moment]:
        prompt = joined_texts(parts)
        if prompt and line.get("provenance", "real_user") == "real_user":
            yield self._moment(line, "UserPromptSubmit", prompt=prompt)

    def _assistant(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Moment]:
        calls = [table(part["functionCall"]) for part in parts if "functionCall" in part]
        for call in calls:
            self.calls[text(call.get("id"))] = (text(call.get("name")), call.get("args"))
            yield self._moment(line, "PreToolUse", tool_name=call.get("name"), tool_input=call.get("args"), tool_use_id=call.get("id"))
        if not calls and (said := joined_texts([part for part in parts if not part.get("thought")])):
            yield self._moment(line, "Stop", stop_hook_active=False, last_assistant_message=said)

    def _result(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Moment]:
        failed = table(line.get("toolCallResult")).get("status") == "error"
        for answer in (table(part.get("functionResponse")) for part in parts):
            name, given = self.calls.pop(text(answer.get("id")), ("", None))
            if not name:
                continue
            call = {"tool_name": name, "tool_input": given, "tool_use_id": answer.get("id")}
            response = table(answer.get("response"))
            if failed:
                yield self._moment(line, "PostToolUseFailure", **call, error=text(response.get("error")))
            else:
                yield self._moment(line, "PostToolUse", **call, tool_response=response)
