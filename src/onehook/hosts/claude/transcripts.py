"""Claude Code's transcripts, as 2.1.325 leaves them: ~/.claude/projects/<project>/<session>.jsonl, one line a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onehook.hostkit.transcripts import Messages, Moment, joined_texts, rows, table, text

FOLDER = ".claude/projects"
FILES = ("*/*.jsonl", "*/*/subagents/*.jsonl")
# Kinds of lines that are about the program, not about what the agent did.
_SILENT = frozenset([
    "agent-name", "api-request", "api-request-blob", "api-request-shape", "atis-latch", "attachment", "cost-state", "custom-title",
    "file-history-snapshot", "last-prompt", "permission-mode", "pr-link", "progress", "queue-operation", "summary", "system", "tag",
    "tools-used",
])  # fmt: skip


class Transcript(Messages):
    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind = text(line.get("type"))
        if kind in _SILENT:
            return iter(())
        if kind not in ("user", "assistant"):
            return None
        message = table(line.get("message"))
        if kind == "user":
            return self.from_start(line, self._user(line, message.get("content")))
        return self.from_start(line, self._assistant(line, message.get("content"), message.get("stop_reason") == "end_turn"))

    def moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        agent = {"agent_id": line["agentId"]} if line.get("isSidechain") and text(line.get("agentId")) else {}
        return super().moment(line, event, **agent, **more)

    def _assistant(self, line: dict[str, Any], content: object, ends: bool) -> Iterator[Moment]:
        for block in rows(content):
            if block.get("type") == "tool_use":
                yield self.call(line, block.get("id"), text(block.get("name")), block.get("input"))
        if ends and not line.get("isSidechain"):
            yield self.moment(line, "Stop", stop_hook_active=False, last_assistant_message=joined_texts(content))

    def _user(self, line: dict[str, Any], content: object) -> Iterator[Moment]:
        results = [block for block in rows(content) if block.get("type") == "tool_result"]
        for block in results:
            error = joined_texts(block.get("content")) if block.get("is_error") else None
            yield from self.result(line, block.get("tool_use_id"), error, line.get("toolUseResult"))
        prompt = joined_texts(content)
        # Text of the program's own: what a slash command printed, an interruption, a reminder, a subagent's task.
        own = line.get("isMeta") or line.get("isSidechain") or prompt.startswith(("<command-", "<local-command", "[Request interrupted"))
        if prompt and not results and not own:
            yield self.moment(line, "UserPromptSubmit", prompt=prompt)
