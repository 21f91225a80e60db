"""OpenHands' sessions, as the CLI 1.16.0 leaves them: ~/.openhands/conversations/<session>/events, one file an event.

A subagent's session is below the folder of the one that started it; its tools run no hooks, so it is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.transcripts import Entry, Folder, Moment, chained, joined_texts, json_of, table, text
from onehook.hostkit.usage import Usage
from onehook.hosts.openhands.reverse import ACTIONS
from onehook.hosts.openhands.wire import MCP_KIND, TOOLS

FOLDER = ".openhands/conversations"
FILES = ("[0-9a-f]" * 32,)
TOKENS: Usage | None = None  # they are in a separate file, and hooks do not get the path of the session
NAME = "{bare}"
CALLS_FIRST = False  # 1.16.0 writes a call down after its hooks
# Kinds of events that are about the program, not about what the agent did.
_SILENT = frozenset([
    "ACPToolCallEvent", "Condensation", "CondensationRequest", "CondensationSummaryEvent", "ConversationErrorEvent",
    "ConversationStateUpdateEvent", "HookExecutionEvent", "LLMCompletionLogEvent", "PauseEvent", "StreamingDeltaEvent",
    "SystemPromptEvent", "TokenEvent",
])  # fmt: skip


class Transcript(Folder):
    """The file base_state.json names the session and its folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        state = table(json_of(path / "base_state.json"))
        self.session = text(state.get("id")) or path.name
        self.cwd = text(table(state.get("workspace")).get("working_dir"))
        self.calls: dict[str, dict[str, Any]] = {}

    def files(self) -> list[Path]:
        return sorted((self.path / "events").glob("event-*.json"))

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind = text(line.get("kind"))
        take = {
            "MessageEvent": self._message,
            "ActionEvent": self._call,
            "ObservationEvent": self._result,
            "UserRejectObservation": self._no_result,
            "AgentErrorEvent": self._no_result,
        }.get(kind)
        if take is None:
            return self.from_start(line, ()) if kind in _SILENT else None
        return self.from_start(line, take(line))

    def start(self, line: dict[str, Any]) -> Moment:
        return self._moment(line, "SessionStart")

    def _moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        body = {"event_type": event, "tool_name": None, "tool_input": None, "tool_response": None, "message": None}
        about = {"session_id": self.session, "working_dir": self.cwd, "metadata": {}}
        return Moment(_time(text(line.get("timestamp"))), {**body, **about, **more})

    def _message(self, line: dict[str, Any]) -> Iterator[Moment]:
        said = joined_texts(table(line.get("llm_message")).get("content"))
        if line.get("source") == "user" and said:
            yield self._moment(line, "UserPromptSubmit", message=said)
        elif line.get("source") == "agent":
            yield self._stop(line, said)

    def _stop(self, line: dict[str, Any], said: str) -> Moment:
        # (OpenHands itself does not report the messages to its hooks.)
        return self._moment(line, "Stop", metadata={"reason": "agent_finished"}, last_assistant_message=said)

    def _call(self, line: dict[str, Any]) -> Iterator[Moment]:
        name, action = text(line.get("tool_name")), line.get("action")
        if isinstance(action, dict):  # null for arguments that the tool does not have; hooks do not get such a call
            call = {"tool_name": name, "tool_input": {**ACTIONS.get(name, {}), **action}}
            self.calls[text(line.get("tool_call_id"))] = call
            yield self._moment(line, "PreToolUse", **call)

    def _result(self, line: dict[str, Any]) -> Iterator[Moment]:
        call = self.calls.pop(text(line.get("tool_call_id")), None)
        if call is None:
            return
        yield self._moment(line, "PostToolUse", **call, tool_response=line.get("observation"))
        if call["tool_name"] == "finish":
            yield self._stop(line, text(call["tool_input"].get("message")))

    def _no_result(self, line: dict[str, Any]) -> Iterator[Moment]:
        self.calls.pop(text(line.get("tool_call_id")), None)
        return iter(())


def _time(local: str) -> str:
    """Its times are in the machine's time zone, which they do not name."""
    from datetime import datetime, timezone

    try:
        return datetime.fromisoformat(local).astimezone(timezone.utc).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


# ---- a session in one file, a line per event, for the reader above; no payload of OpenHands names such a file, so no program gets it ----


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    for step, line in chained(steps):
        yield {"id": line["uuid"], "timestamp": line["timestamp"].removesuffix("Z"), **_event(step)}


def _event(step: Entry) -> dict[str, Any]:
    content = [{"cache_prompt": False, "type": "text", "text": step.text}]
    call = {"tool_name": step.tool, "tool_call_id": step.id}
    if step.kind in ("prompt", "say"):
        source, role = ("user", "user") if step.kind == "prompt" else ("agent", "assistant")
        return {"source": source, "llm_message": {"role": role, "content": content}, "kind": "MessageEvent"}
    if step.kind == "call":
        action = step.input if step.tool in TOOLS else {"data": step.input, "kind": MCP_KIND}
        return {"source": "agent", "action": action, **call, "kind": "ActionEvent"}
    given = step.response if isinstance(step.response, dict) else {"content": content}
    return {"source": "environment", "observation": {**given, "is_error": step.failed}, **call, "kind": "ObservationEvent"}
