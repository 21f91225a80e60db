"""Grok Build's sessions, as 1.0.41 leaves them: ~/.grok/sessions/<project>/<session>/updates.jsonl, one line an update for its clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from onehook.hostkit.transcripts import Entry, Moment, Reader, stamp, table, text
from onehook.hostkit.usage import Usage

FOLDER = ".grok/sessions"
FILES = ("*/*/updates.jsonl",)
TOKENS: Usage | None = Usage("usage", "totalTokens")
NAME = "{session}/updates.jsonl"  # for a file that onehook writes
CALLS_FIRST = False  # 1.0.41 writes a call down after its hooks
_UPDATE = ("session/update", "_x.ai/session/update")
_TOOL = "x.ai/tool"


class Transcript(Reader):
    """The folder that contains a session's folder is named after the project's."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.session = path.parent.name
        self.cwd = unquote(path.parent.parent.name) if "%2F" in path.parent.parent.name else ""
        self.calls: dict[str, tuple[str, Any]] = {}
        self.said = ""

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        if line.get("method") not in _UPDATE:
            return None
        params = table(line.get("params"))
        self.session = text(params.get("sessionId")) or self.session
        self.cwd = text(params.get("cwd")) or self.cwd
        update = table(params.get("update"))
        take = {
            "user_message_chunk": self._prompt,
            "tool_call": self._call,
            "tool_call_update": self._result,
            "agent_message_chunk": self._say,
            "turn_completed": self._stop,
        }.get(text(update.get("sessionUpdate")))
        return self.from_start(line, take(line, update)) if take else iter(())

    def start(self, line: dict[str, Any]) -> Moment:
        return self._moment(line, "SessionStart", source="new")

    def _moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        time = stamp(line.get("timestamp"))
        root = f"{self.cwd.rstrip('/')}/"
        common = {"sessionId": self.session, "session_id": self.session, "cwd": self.cwd, "workspaceRoot": root, "timestamp": time}
        return Moment(time, {"hookEventName": event, "hook_event_name": event, **common, "transcript_path": self.path, **more})

    def _prompt(self, line: dict[str, Any], update: dict[str, Any]) -> Iterator[Moment]:
        prompt = text(table(update.get("content")).get("text"))
        if prompt:
            yield self._moment(line, "UserPromptSubmit", prompt=prompt)

    def _call(self, line: dict[str, Any], update: dict[str, Any]) -> Iterator[Moment]:
        name = text(table(table(update.get("_meta")).get(_TOOL)).get("name")) or text(update.get("title"))
        given = update.get("rawInput")
        if name == "use_tool":  # a hook gets the name of the MCP tool
            name = text(table(given).get("tool_name")) or name
        self.calls[text(update.get("toolCallId"))] = (name, given)
        yield self._moment(line, "PreToolUse", **_told(name, given, update))

    def _result(self, line: dict[str, Any], update: dict[str, Any]) -> Iterator[Moment]:
        if update.get("status") not in ("completed", "failed"):
            return
        name, given = self.calls.pop(text(update.get("toolCallId")), ("", None))
        output = update.get("rawOutput")
        if name and update["status"] == "completed" and output is not None:
            yield self._moment(line, "PostToolUse", **_told(name, given, update), tool_response=output)
        elif name:
            yield self._moment(line, "PostToolUseFailure", **_told(name, given, update), error=_content(update))

    def _say(self, line: dict[str, Any], update: dict[str, Any]) -> Iterator[Moment]:
        self.said += text(table(update.get("content")).get("text"))
        return iter(())

    def _stop(self, line: dict[str, Any], update: dict[str, Any]) -> Iterator[Moment]:
        said, self.said = self.said, ""
        if update.get("stop_reason") == "end_turn":
            yield self._moment(line, "Stop", reason="end_turn", stopHookActive=False, lastAssistantMessage=said)


def _told(name: str, given: object, update: dict[str, Any]) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": given, "tool_use_id": update.get("toolCallId")}


def _content(update: dict[str, Any]) -> str:
    parts = update.get("content")
    texts = [text(table(table(part).get("content")).get("text")) for part in parts] if isinstance(parts, list) else []
    return "\n".join(filter(None, texts))


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    for step in steps:
        yield _line(session, cwd, _update(step))
        if step.kind == "say":
            yield _line(session, cwd, {"sessionUpdate": "turn_completed", "stop_reason": "end_turn"})


def _line(session: str, cwd: str, update: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": 1767225600, "method": "session/update", "params": {"sessionId": session, "cwd": cwd, "update": update}}


def _update(step: Entry) -> dict[str, Any]:
    chunk = {"type": "text", "text": step.text}
    if step.kind == "prompt":
        return {"sessionUpdate": "user_message_chunk", "content": chunk}
    if step.kind == "say":
        return {"sessionUpdate": "agent_message_chunk", "content": chunk}
    if step.kind == "call":
        meta = {_TOOL: {"version": 1, "name": step.tool}}
        return {"sessionUpdate": "tool_call", "toolCallId": step.id, "title": step.tool, "rawInput": step.input, "_meta": meta}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": step.id, "content": [{"type": "content", "content": chunk}]}
    if step.failed:
        return {**done, "status": "failed"}
    return {**done, "status": "completed", "rawOutput": {"type": "Bash", "output": list(step.text.encode())}}
