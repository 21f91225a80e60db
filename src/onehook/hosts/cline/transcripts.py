"""Cline's sessions, as the CLI 3.0.65 leaves them: ~/.cline/data/sessions/<session>, a JSON file with all messages and one with metadata.

A subagent's messages are in a separate file next to it, which does not name the call that started it, so it is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.reverse import TIME
from onehook.hostkit.tools import decoded
from onehook.hostkit.transcripts import (
    Counts,
    Entry,
    Folder,
    Moment,
    joined_texts,
    json_lines,
    json_of,
    milliseconds,
    rows,
    stamp,
    table,
    text,
)
from onehook.hostkit.usage import Usage

FOLDER = ".cline/data/sessions"
FILES = ("[0-9]*_*",)
TOKENS: Usage | None = None  # the file is rewritten with each message
NAME = "{session}"
CALLS_FIRST = False
_PROMPT = re.compile(r'<user_input mode="[^"]*">(.*)</user_input>\Z', re.DOTALL)
_OURS = "<hook_context"  # the beginning of context that a hook added


class Transcript(Folder):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        folder = path.parent if path.name.endswith(".messages.json") else path
        about = table(json_of(folder / f"{folder.name}.json"))
        self.session = text(about.get("session_id")) or folder.name
        self.cwd = text(about.get("cwd"))
        self.calls: dict[str, dict[str, Any]] = {}

    def files(self) -> list[Path]:
        return [file] if (file := self.path / f"{self.path.name}.messages.json").exists() else []

    def read(self, file: Path, counts: Counts, last: int) -> Iterator[dict[str, Any]]:
        """The messages, as lines. A file that onehook writes has one message a line already."""
        messages = table(json_of(file)).get("messages")
        if not isinstance(messages, list):
            yield from json_lines(file, counts, last)
            return
        counts.lines += len(messages)
        yield from rows(messages)

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        take = {"user": self._user, "assistant": self._assistant}.get(text(line.get("role")))
        return self.from_start(line, take(line)) if take else None

    def start(self, line: dict[str, Any]) -> Moment:
        return self._moment(line, "agent_start")

    def _moment(self, line: dict[str, Any], name: str, **more: Any) -> Moment:
        about = {"taskId": self.session, "sessionContext": {"rootSessionId": self.session}}
        where = {"workspaceRoots": [text(line.get("cwd")) or self.cwd], "transcript_path": str(self.path)}
        return Moment(stamp(line.get("ts"), 1000), {"clineVersion": "", **about, **where, "hookName": name, **more})

    def _user(self, line: dict[str, Any]) -> Iterator[Moment]:
        content = line.get("content")
        for part in rows(content):
            if part.get("type") == "tool_result" and (call := self.calls.pop(text(part.get("tool_use_id")), None)):
                output = decoded(part.get("content"))  # an object is written as a string
                error = {"error": text(table(output).get("error")) or joined_texts(output)} if part.get("is_error") else {}
                yield self._moment(line, "tool_result", tool_result={**call, "output": output, **error})
        said = joined_texts(content)
        if said and not said.startswith(_OURS):
            prompt = inner[1] if (inner := _PROMPT.match(said)) else said
            yield self._moment(line, "prompt_submit", userPromptSubmit={"prompt": prompt, "attachments": []})

    def _assistant(self, line: dict[str, Any]) -> Iterator[Moment]:
        content = line.get("content")
        calls = [part for part in rows(content) if part.get("type") == "tool_use"]
        for part in calls:
            call_id = text(part.get("id"))
            call = self.calls[call_id] = {"id": call_id, "name": text(part.get("name")), "input": part.get("input")}
            yield self._moment(line, "tool_call", tool_call=call)
        if not calls and joined_texts(content):
            yield self._moment(line, "agent_end", turn={"outputText": joined_texts(content), "status": "completed"})


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(steps, 1):
        message = {"id": f"msg_{number}", "sessionId": session, "cwd": cwd, "ts": milliseconds(TIME)}
        yield {**message, "role": "user" if step.kind in ("prompt", "result") else "assistant", "content": [_part(step)]}


def _part(step: Entry) -> dict[str, Any]:
    if step.kind == "call":
        return {"type": "tool_use", "id": step.id, "name": step.tool, "input": step.input}
    if step.kind == "result":
        failed = {"is_error": True} if step.failed else {}
        content = {"error": step.text} if step.failed else step.text if step.response is None else step.response
        return {"type": "tool_result", "tool_use_id": step.id, "name": step.tool, "content": content, **failed}
    return {"type": "text", "text": f'<user_input mode="act">{step.text}</user_input>' if step.kind == "prompt" else step.text}
