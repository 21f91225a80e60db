"""Factory Droid's sessions, as 0.225.2 leaves them: ~/.factory/sessions/<project>/<session>.jsonl, one line a message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.transcripts import Entry, Messages, Moment, chained, joined_texts, rows, table, text
from onehook.hostkit.usage import Usage

FOLDER = ".factory/sessions"
FILES = ("*/*.jsonl",)
TOKENS: Usage | None = None
NAME = "{session}.jsonl"  # for a file that onehook writes
CALLS_FIRST = False
_SILENT = ("agent_turn_outcome", "compaction_state", "todo_state")


class Transcript(Messages):
    """The first line names the session and its folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.session: dict[str, Any] = {}

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind = text(line.get("type"))
        if kind == "session_start":
            self.session = {"sessionId": line.get("id"), "cwd": line.get("cwd")}
        if kind in ("session_start", *_SILENT):
            return iter(())
        if kind != "message":
            return None
        message = table(line.get("message"))
        if "hookEventName" in message or message.get("visibility") in ("user_only", "llm_only"):
            return iter(())  # a record of a hook's run, or text for only the user or only the model
        take = {"user": self._user, "assistant": self._assistant}.get(text(message.get("role")))
        return self.from_start(line, take(line, message.get("content"))) if take else iter(())

    def moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        return super().moment({**line, **self.session}, event, permission_mode="off", **more)

    def call(self, line: dict[str, Any], call_id: object, name: object, given: object) -> Moment:
        self.calls[text(call_id)] = (text(name), given)
        return self.moment(line, "PreToolUse", tool_name=name, tool_input=given)

    def _assistant(self, line: dict[str, Any], content: object) -> Iterator[Moment]:
        calls = [block for block in rows(content) if block.get("type") == "tool_use"]
        for block in calls:
            yield self.call(line, block.get("id"), block.get("name"), block.get("input"))
        if not calls and joined_texts(content):
            # (Droid itself does not report the messages to its hooks.)
            yield self.moment(line, "Stop", stop_hook_active=False, last_assistant_message=joined_texts(content))

    def _user(self, line: dict[str, Any], content: object) -> Iterator[Moment]:
        results = [block for block in rows(content) if block.get("type") == "tool_result"]
        for block in results:
            name, given = self.calls.pop(text(block.get("tool_use_id")), ("", None))
            if name and not block.get("is_error"):  # after a tool that failed, Droid runs no hook
                response = joined_texts(block.get("content"))
                yield self.moment(line, "PostToolUse", tool_name=name, tool_input=given, tool_response=response)
        prompt = joined_texts(content)
        if prompt and not results and not text(line.get("id")).startswith("context-"):
            yield self.moment(line, "UserPromptSubmit", prompt=prompt)


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    yield {"type": "session_start", "id": session, "title": "", "owner": "unknown", "version": 2, "cwd": cwd}
    for step, line in chained(steps):
        blocks: dict[str, dict[str, Any]] = {
            "call": {"type": "tool_use", "id": step.id, "name": step.tool, "input": step.input},
            "result": {"type": "tool_result", "tool_use_id": step.id, "is_error": step.failed, "content": step.text},
        }
        role = "user" if step.kind in ("prompt", "result") else "assistant"
        content = [blocks.get(step.kind, {"type": "text", "text": step.text})]
        around = {"type": "message", "id": line["uuid"], "parentId": line["parentUuid"], "timestamp": line["timestamp"]}
        yield {**around, "message": {"role": role, "content": content}}
