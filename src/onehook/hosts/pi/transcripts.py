"""Pi's sessions, as 0.87.1 leaves them: ~/.pi/agent/sessions/<project>/<time>_<session>.jsonl, one line an entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.transcripts import Entry, Messages, Moment, chained, joined_texts, rows, table, text
from onehook.hostkit.usage import Usage
from onehook.hosts.pi.wire import ID, TOOLS

FOLDER = ".pi/agent/sessions"
FILES = ("*/*.jsonl",)
TOKENS = Usage("usage", "totalTokens")
NAME = "{session}.jsonl"  # for a file that onehook writes
CALLS_FIRST = True
_SHELLS = tuple(name for name, tool in TOOLS.items() if "Bash" in tool.names)
_SILENT = (
    "model_change", "thinking_level_change", "usage", "context_edit", "branch_summary", "custom", "custom_message", "label", "session_info",
)  # fmt: skip


class Transcript(Messages):
    """The first line names the session and its folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.session: dict[str, Any] = {}

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind = text(line.get("type"))
        if kind == "session":
            self.session = {"session_id": text(line.get("id")), "cwd": text(line.get("cwd"))}
        if kind in ("session", *_SILENT):
            return iter(())
        if kind == "compaction":
            return self.from_start(line, [self.moment(line, "session_compact", trigger="auto")])
        if kind != "message":
            return None
        message = table(line.get("message"))
        take = {"user": self._user, "assistant": self._assistant, "toolResult": self._result}.get(text(message.get("role")))
        return self.from_start(line, take(line, message)) if take else iter(())

    def moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        body = {ID: 1, "hook_event_name": event, **self.session, "transcript_path": self.path, **more}
        return Moment(text(line.get("timestamp")), body)

    def start(self, line: dict[str, Any]) -> Moment:
        return self.moment(line, "session_start", source="startup")

    def _user(self, line: dict[str, Any], message: dict[str, Any]) -> Iterator[Moment]:
        prompt = joined_texts(message.get("content"))
        if prompt:
            yield self.moment(line, "input", prompt=prompt)

    def _assistant(self, line: dict[str, Any], message: dict[str, Any]) -> Iterator[Moment]:
        content = message.get("content")
        calls = [block for block in rows(content) if block.get("type") == "toolCall"]
        for block in calls:
            self.calls[text(block.get("id"))] = (text(block.get("name")), block.get("arguments"))
            yield self._call(line, "tool_call", block.get("id"))
        if not calls and joined_texts(content) and message.get("stopReason") not in ("aborted", "error"):
            said = joined_texts(content)
            yield self.moment(line, "agent_end", loop_count=0, stop_hook_active=False, last_assistant_message=said)

    def _call(self, line: dict[str, Any], event: str, call_id: object, **more: Any) -> Moment:
        name, given = self.calls[text(call_id)]
        return self.moment(line, event, tool_name=name, tool_input=given, call_id=call_id, **more)

    def _result(self, line: dict[str, Any], message: dict[str, Any]) -> Iterator[Moment]:
        call_id, content = message.get("toolCallId"), message.get("content")
        parts = rows(content)
        response = joined_texts(content) if all(part.get("type") == "text" for part in parts) else parts
        if text(call_id) not in self.calls:
            return
        if message.get("isError"):
            yield self._call(line, "tool_result.error", call_id, tool_response=response, error=joined_texts(content))
        else:
            told = {"exit_code": 0} if self.calls[text(call_id)][0] in _SHELLS else {}
            yield self._call(line, "tool_result", call_id, tool_response=response, **told)
        del self.calls[text(call_id)]


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    for number, (step, line) in enumerate(chained(steps)):
        if not number:
            yield {"type": "session", "version": 3, "id": session, "timestamp": line["timestamp"], "cwd": cwd}
        around = {"type": "message", "id": line["uuid"], "parentId": line["parentUuid"], "timestamp": line["timestamp"]}
        yield {**around, "message": _message(step)}


def _message(step: Entry) -> dict[str, Any]:
    said = [{"type": "text", "text": step.text}]
    if step.kind == "call":
        return {"role": "assistant", "content": [{"type": "toolCall", "id": step.id, "name": step.tool, "arguments": step.input}]}
    if step.kind == "result":
        return {"role": "toolResult", "toolCallId": step.id, "toolName": step.tool, "content": said, "isError": step.failed}
    return {"role": "user" if step.kind == "prompt" else "assistant", "content": said}
