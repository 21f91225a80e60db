"""Claude Code's transcripts, as 2.1.325 leaves them: ~/.claude/projects/<project>/<session>.jsonl, one line a message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from onehook.hostkit.transcripts import Entry, Messages, Moment, chained, joined_texts, rows, table, text
from onehook.hostkit.usage import Usage

FOLDER = ".claude/projects"
FILES = ("*/*.jsonl", "*/*/subagents/*.jsonl")
TOKENS: Usage | None = Usage("usage", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", once="id")
NAME = "{session}.jsonl"  # for a file that onehook writes
CALLS_FIRST = False
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
        # Text that the program itself wrote: the output of a slash command, an interruption, a reminder, a subagent's task.
        own = line.get("isMeta") or line.get("isSidechain") or prompt.startswith(("<command-", "<local-command", "[Request interrupted"))
        if prompt and not results and not own:
            yield self.moment(line, "UserPromptSubmit", prompt=prompt)


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    common = {"isSidechain": False, "userType": "external", "cwd": cwd, "sessionId": session, "version": "2.1.325", "gitBranch": ""}
    for step, line in chained(steps, **common):
        if step.kind in ("prompt", "result"):
            result = {"tool_use_id": step.id, "type": "tool_result", "content": step.text, "is_error": step.failed}
            content: object = step.text if step.kind == "prompt" else [result]
            more = {} if step.kind == "prompt" else {"toolUseResult": step.text if step.failed else step.response}
            yield {**line, "type": "user", "message": {"role": "user", "content": content}, **more}
            continue
        said = step.kind == "say"
        block = {"type": "text", "text": step.text} if said else {"type": "tool_use", "id": step.id, "name": step.tool, "input": step.input}
        message = {"id": f"msg_{line['uuid'][-12:]}", "type": "message", "role": "assistant", "model": "unknown", "content": [block]}
        ends = {"stop_reason": "end_turn" if said else "tool_use", "usage": {"input_tokens": 0, "output_tokens": 0}}
        yield {**line, "type": "assistant", "message": {**message, **ends}}
