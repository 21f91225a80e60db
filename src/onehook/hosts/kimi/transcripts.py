"""Kimi Code's sessions, as 0.38.0 and 2.1.0 leave them: ~/.kimi-code/sessions/<project>/<session>/agents/<agent>/wire.jsonl, one for the
session and one for each of its subagents. state.json in the session's folder names the project's.

A call is written once its hooks have let it run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.reverse import TIME
from onehook.hostkit.transcripts import Entry, Moment, Reader, chained, joined_texts, json_of, milliseconds, stamp, table, text
from onehook.hostkit.usage import Usage

FOLDER = ".kimi-code/sessions"
FILES = ("*/*/agents/*/wire.jsonl",)
TOKENS: Usage | None = None  # no payload names the file, so nothing could count them
NAME = "{session}/agents/main/wire.jsonl"  # for a file that onehook writes
CALLS_FIRST = False
_MAIN = "main"
# The first words of the kinds of lines that are about the program, or that repeat what other lines have reported.
_SILENT = frozenset([
    "agent", "assistant", "compaction", "config", "context", "cron", "error", "event", "file_history", "forked", "full_compaction", "goal",
    "hook", "interaction", "interruptionReminder", "llm", "mcp", "metadata", "permission", "plan", "plan_mode", "plugin", "plugin_command",
    "profile", "prompt", "runtime", "session", "shell", "skill", "staleGuard", "subagent", "swarm_mode", "task", "thinking",
    "token_counting", "tool", "tools", "tower", "tower_mode", "turn", "usage", "warning",
])  # fmt: skip


class Transcript(Reader):
    def __init__(self, path: Path) -> None:
        self.main = path.parent.name == _MAIN or path.parent.parent.name != "agents"
        told = table(json_of(path.parent.parent.parent / "state.json"))  # metadata beside the agents' files
        self.common = {
            "session_id": text(told.get("id")) or path.parent.parent.parent.name,
            "cwd": text(told.get("cwd")),
            "client_type": "kimi_code_cli",
        }
        self.calls: dict[str, tuple[str, Any]] = {}
        self.agents: dict[str, str] = {}  # the kinds of the subagents
        self.said: list[str] = []
        self.begun = not self.main  # the start of a subagent is recorded in the session's file

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind = text(line.get("type"))
        take = {
            "turn.prompt": self._prompt,
            "turn.steer": self._prompt,
            "context.append_loop_event": self._event,
            "full_compaction.begin": self._compaction,
            "full_compaction.complete": self._compaction,
            "subagent.spawned": self._subagent,
            "subagent.completed": self._subagent,
        }.get(kind)
        if take is not None:
            return self.from_start(line, take(line))
        return iter(()) if kind.split(".")[0] in _SILENT else None

    def _moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        return Moment(stamp(line.get("time"), 1000), {"hook_event_name": event, **self.common, **more})

    def start(self, line: dict[str, Any]) -> Moment:
        return self._moment(line, "SessionStart", source="startup", model="", profile="agent")

    def _prompt(self, line: dict[str, Any]) -> Iterator[Moment]:
        given = line.get("input")
        if table(line.get("origin")).get("kind") == "user" and joined_texts(given):
            prompt = [{"type": "text", "text": joined_texts(given)}]
            yield self._moment(line, "UserPromptSubmit", prompt=prompt, is_steer=line["type"] == "turn.steer")

    def _event(self, line: dict[str, Any]) -> Iterator[Moment]:
        event = table(line.get("event"))
        kind = text(event.get("type"))
        if kind == "step.begin":
            self.said = []
        elif kind == "content.part":
            self.said.append(text(table(event.get("part")).get("text")))
        elif kind == "tool.call":
            self.calls[text(event.get("toolCallId"))] = (text(event.get("name")), event.get("args"))
            yield self._call(line, "PreToolUse", event)
        elif kind == "tool.result" and text(event.get("toolCallId")) in self.calls:
            yield from self._result(line, event)
        elif kind == "step.end" and event.get("finishReason") == "end_turn" and self._told():
            # (Kimi Code itself does not report the messages to its hooks.)
            yield self._moment(line, "Stop", stop_hook_active=False, response=self._told())

    def _told(self) -> str:
        return "\n".join(part for part in self.said if part)

    def _call(self, line: dict[str, Any], name: str, event: dict[str, Any], **more: Any) -> Moment:
        tool, given = self.calls[text(event.get("toolCallId"))]
        return self._moment(line, name, tool_name=tool, tool_input=given, tool_call_id=event.get("toolCallId"), **more)

    def _result(self, line: dict[str, Any], event: dict[str, Any]) -> Iterator[Moment]:
        result = table(event.get("result"))
        output = joined_texts(result.get("output"))
        if result.get("isError"):
            error = {"code": "internal", "message": output, "retryable": False}
            yield self._call(line, "PostToolUseFailure", event, error=error)
        else:
            yield self._call(line, "PostToolUse", event, tool_output=output)
        del self.calls[text(event.get("toolCallId"))]

    def _compaction(self, line: dict[str, Any]) -> Iterator[Moment]:
        begins = text(line.get("type")).endswith("begin")
        yield self._moment(line, "PreCompact" if begins else "PostCompact", trigger=text(line.get("source")) or "auto")

    def _subagent(self, line: dict[str, Any]) -> Iterator[Moment]:
        number = text(line.get("subagentId"))
        if line["type"] == "subagent.spawned":
            self.agents[number] = text(line.get("subagentName"))
            given = table(self.calls.get(text(line.get("parentToolCallId")), ("", None))[1])
            yield self._moment(line, "SubagentStart", agent_name=self.agents[number], prompt=text(given.get("prompt")))
        else:
            response = text(line.get("resultSummary"))
            yield self._moment(line, "SubagentStop", agent_name=self.agents.get(number, ""), response=response)


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    now = milliseconds(TIME)
    yield {"type": "metadata", "protocol_version": "1.5", "created_at": now}
    for step, line in chained(steps):
        if step.kind == "prompt":
            given = [{"type": "text", "text": step.text}]
            yield {"type": "turn.prompt", "agentId": _MAIN, "input": given, "origin": {"kind": "user"}, "time": now}
            continue
        for event in _events(step, line["uuid"]):
            yield {"type": "context.append_loop_event", "agentId": _MAIN, "event": event, "time": now}


def _events(step: Entry, uuid: str) -> Iterator[dict[str, Any]]:
    if step.kind == "call":
        yield {"type": "tool.call", "uuid": uuid, "toolCallId": step.id, "name": step.tool, "args": step.input}
    elif step.kind == "result":
        failed = {"isError": True} if step.failed else {}
        yield {"type": "tool.result", "toolCallId": step.id, "result": {"output": step.text, **failed}}
    else:
        yield {"type": "step.begin", "uuid": uuid}
        yield {"type": "content.part", "stepUuid": uuid, "part": {"type": "text", "text": step.text}}
        yield {"type": "step.end", "uuid": uuid, "finishReason": "end_turn"}
