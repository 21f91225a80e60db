"""Claude Code's transcripts, as 2.1.325 leaves them: ~/.claude/projects/<project>/<session>.jsonl, one line a message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hosts.transcribing import Moment, joined_texts, rows, table, text

FOLDER = ".claude/projects"
FILES = ("*/*.jsonl", "*/*/subagents/*.jsonl")
# Kinds of lines that are about the program, not about what the agent did.
_SILENT = frozenset([
    "agent-name", "api-request", "api-request-blob", "api-request-shape", "atis-latch", "attachment", "cost-state", "custom-title",
    "file-history-snapshot", "last-prompt", "permission-mode", "pr-link", "progress", "queue-operation", "summary", "system", "tag",
    "tools-used",
])  # fmt: skip


class Transcript:
    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.calls: dict[str, tuple[str, Any]] = {}
        self.begun = False

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind = text(line.get("type"))
        if kind in _SILENT:
            return iter(())
        if kind not in ("user", "assistant"):
            return None
        return self._message(line)

    def end(self) -> Iterator[Moment]:
        return iter(())

    def _message(self, line: dict[str, Any]) -> Iterator[Moment]:
        if not self.begun:
            self.begun = True
            yield self._moment(line, "SessionStart", source="startup")
        message = table(line.get("message"))
        if line["type"] == "assistant":
            yield from self._assistant(line, message.get("content"), message.get("stop_reason") == "end_turn")
        else:
            yield from self._user(line, message.get("content"))

    def _moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        payload = {
            "session_id": text(line.get("sessionId")),
            "transcript_path": self.path,
            "cwd": text(line.get("cwd")),
            "hook_event_name": event,
            **({"agent_id": line["agentId"]} if line.get("isSidechain") and text(line.get("agentId")) else {}),
            **more,
        }
        return Moment(text(line.get("timestamp")), payload)

    def _assistant(self, line: dict[str, Any], content: object, ends: bool) -> Iterator[Moment]:
        for block in rows(content):
            if block.get("type") == "tool_use":
                call = (text(block.get("name")), block.get("input"))
                self.calls[text(block.get("id"))] = call
                yield self._moment(line, "PreToolUse", tool_name=call[0], tool_input=call[1], tool_use_id=block.get("id"))
        if ends and not line.get("isSidechain"):
            yield self._moment(line, "Stop", stop_hook_active=False, last_assistant_message=joined_texts(content))

    def _user(self, line: dict[str, Any], content: object) -> Iterator[Moment]:
        results = [block for block in rows(content) if block.get("type") == "tool_result"]
        for block in results:
            name, given = self.calls.pop(text(block.get("tool_use_id")), ("", None))
            if not name:
                continue
            call = {"tool_name": name, "tool_input": given, "tool_use_id": block.get("tool_use_id")}
            if block.get("is_error"):
                yield self._moment(line, "PostToolUseFailure", **call, error=joined_texts(block.get("content")))
            else:
                yield self._moment(line, "PostToolUse", **call, tool_response=line.get("toolUseResult"))
        prompt = joined_texts(content)
        # Text of the program's own: what a slash command printed, an interruption, a reminder, a subagent's task.
        own = line.get("isMeta") or line.get("isSidechain") or prompt.startswith(("<command-", "<local-command", "[Request interrupted"))
        if prompt and not results and not own:
            yield self._moment(line, "UserPromptSubmit", prompt=prompt)
