"""Codex's rollouts, as 0.166.0 leaves them: ~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl.

A tool call is a response_item. In code mode the model calls one tool, `exec`, with a program, and what that program ran follows as
completed items with separate ids.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.reverse import TIME
from onehook.hostkit.transcripts import Entry, Moment, Reader, joined_texts, table, text
from onehook.hostkit.usage import Usage

FOLDER = ".codex/sessions"
FILES = ("**/rollout-*.jsonl",)
TOKENS: Usage | None = Usage("total_token_usage", "total_tokens", last=True)
NAME = "rollout-{session}.jsonl"  # for a file that onehook writes
CALLS_FIRST = False
_SILENT = frozenset(["compacted", "ghost_snapshot", "token_usage_record", "world_state", "inter_agent_communication"])
_SHELLS = ("exec_command", "shell", "shell_command", "local_shell")
_CODE = "exec"


class Transcript(Reader):
    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.session = self.cwd = self.model = self.turn = self.prompt = ""
        self.calls: dict[str, tuple[str, Any]] = {}
        self.done: set[str] = set()  # calls that were seen as response items

    def take(self, line: dict[str, Any]) -> Iterator[Moment] | None:
        kind, body, time = text(line.get("type")), table(line.get("payload")), text(line.get("timestamp"))
        if kind in _SILENT:
            return iter(())
        take = {"session_meta": self._start, "turn_context": self._context, "response_item": self._item, "event_msg": self._message}.get(
            kind
        )
        return None if take is None else take(body, time)

    def _moment(self, time: str, event: str, **more: Any) -> Moment:
        common = {"session_id": self.session, "transcript_path": self.path, "cwd": self.cwd, "hook_event_name": event, "model": self.model}
        return Moment(time, {**common, **({"turn_id": self.turn} if event != "SessionStart" else {}), **more})

    def _start(self, body: dict[str, Any], time: str) -> Iterator[Moment]:
        self.cwd = text(body.get("cwd"))
        if not self.session:  # a resumed session repeats this line
            self.session = text(body.get("id")) or text(body.get("session_id"))
            yield self._moment(time, "SessionStart", source="startup")

    def _context(self, body: dict[str, Any], time: str) -> Iterator[Moment]:
        self.cwd = text(body.get("cwd")) or self.cwd
        self.model = text(body.get("model")) or self.model
        self.turn = text(body.get("turn_id")) or self.turn
        return iter(())

    # ---- what the model called ----

    def _item(self, body: dict[str, Any], time: str) -> Iterator[Moment]:
        kind, call = body.get("type"), text(body.get("call_id"))
        if kind in ("function_call", "custom_tool_call") and body.get("name") != _CODE:
            name, given = _tool(body)
            self.calls[call] = (name, given)
            self.done.add(call)
            yield self._moment(time, "PreToolUse", tool_name=name, tool_input=given, tool_use_id=call)
        elif kind in ("function_call_output", "custom_tool_call_output") and call in self.calls:
            name, given = self.calls.pop(call)
            output = body.get("output")
            told = _unwrapped(name, output if isinstance(output, str) else joined_texts(output))
            yield self._moment(time, "PostToolUse", tool_name=name, tool_input=given, tool_use_id=call, **told)

    # ---- what Codex reports as having happened ----

    def _message(self, body: dict[str, Any], time: str) -> Iterator[Moment]:
        kind = body.get("type")
        if kind == "user_message":
            yield from self._asked(text(body.get("message")), time)
        elif kind == "item_completed":
            yield from self._completed(table(body.get("item")), time)
        elif kind == "task_complete":
            self.prompt = ""
            yield self._moment(time, "Stop", stop_hook_active=False, last_assistant_message=text(body.get("last_agent_message")))

    def _asked(self, prompt: str, time: str) -> Iterator[Moment]:
        """A prompt may be written twice, as a message and as an item."""
        if prompt and prompt != self.prompt:
            self.prompt = prompt
            yield self._moment(time, "UserPromptSubmit", prompt=prompt)

    def _completed(self, item: dict[str, Any], time: str) -> Iterator[Moment]:
        kind, name = item.get("type"), text(item.get("id"))
        if kind == "UserMessage":
            yield from self._asked(joined_texts(item.get("content")), time)
        if name in self.done:
            return
        if kind == "CommandExecution":
            given = {"command": _script(item.get("command"))}
            yield from self._ran(time, name, "Bash", given, text(item.get("aggregated_output")), exit_code=item.get("exit_code"))
        elif kind == "FileChange":
            yield from self._ran(time, name, "apply_patch", {"command": _patch(table(item.get("changes")))}, text(item.get("stdout")))
        elif kind == "McpToolCall":
            tool = f"mcp__{text(item.get('server'))}__{text(item.get('tool'))}"
            yield from self._ran(time, name, tool, table(item.get("arguments")), item.get("result"))

    def _ran(self, time: str, call: str, tool: str, given: dict[str, Any], response: Any, **told: Any) -> Iterator[Moment]:
        facts = {"tool_name": tool, "tool_input": given, "tool_use_id": call}
        yield self._moment(time, "PreToolUse", **facts)
        yield self._moment(time, "PostToolUse", **facts, tool_response=response, **told)


def _unwrapped(tool: str, output: str) -> dict[str, Any]:
    """An output as a hook gets it: without the lines that Codex puts before it for the model. One of those has the exit code."""
    head, mark, rest = output.partition("Output:\n")
    if not mark or tool == "apply_patch" or not head.startswith(("Chunk ID: ", "Wall time: ")):
        return {"tool_response": output}
    code = head.partition("Process exited with code ")[2].partition("\n")[0]
    return {"tool_response": rest, **({"exit_code": int(code)} if code.isdigit() else {})}


def _tool(body: dict[str, Any]) -> tuple[str, Any]:
    """A call under the name and with the input that a hook gets."""
    name, space = text(body.get("name")), text(body.get("namespace"))
    if body["type"] == "custom_tool_call":
        return name, {"command": text(body.get("input"))}
    try:
        given = json.loads(text(body.get("arguments")) or "{}")
    except ValueError:
        given = text(body.get("arguments"))
    if name in _SHELLS and isinstance(given, dict):
        return "Bash", {"command": _script(given.get("cmd", given.get("command")))}
    if name == "apply_patch" and isinstance(given, dict):
        return name, {"command": text(given.get("input", given.get("patch")))}
    return (f"{space}__{name}" if space.startswith("mcp__") else name), given


def _script(command: object) -> str:
    """The text of a command: a string as it is, the part after `bash -lc`, or the joined words."""
    if isinstance(command, str):
        return command
    words = [word for word in command if isinstance(word, str)] if isinstance(command, list) else []
    shell = len(words) == 3 and words[1] in ("-c", "-lc", "-Command", "/c")
    return words[2] if shell else shlex.join(words)


def _patch(changes: dict[str, Any]) -> str:
    """A patch that makes these changes, as the model would have written it."""
    lines = ["*** Begin Patch"]
    for path, change in ((path, table(change)) for path, change in changes.items()):
        if change.get("type") == "add":
            lines += [f"*** Add File: {path}", *("+" + line for line in text(change.get("content")).splitlines())]
        elif change.get("type") == "delete":
            lines.append(f"*** Delete File: {path}")
        else:
            moved = [f"*** Move to: {change['move_path']}"] if text(change.get("move_path")) else []
            diff = text(change.get("unified_diff")).splitlines()
            lines += [f"*** Update File: {path}", *moved, *("@@" if line.startswith("@@") else line for line in diff)]
    return "\n".join([*lines, "*** End Patch", ""])


def lines(session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    yield _line("session_meta", {"session_id": session, "id": session, "timestamp": TIME, "cwd": cwd})
    for step in steps:
        if step.kind == "prompt":
            content = [{"type": "input_text", "text": step.text}]
            yield _line("response_item", {"type": "message", "role": "user", "content": content})
            yield _line("event_msg", {"type": "user_message", "message": step.text})
        elif step.kind == "say":
            content = [{"type": "output_text", "text": step.text}]
            yield _line("response_item", {"type": "message", "role": "assistant", "content": content})
            yield _line("event_msg", {"type": "task_complete", "last_agent_message": step.text})
        else:
            yield _line("response_item", _item(step))


def _item(step: Entry) -> dict[str, Any]:
    free = step.tool == "apply_patch"
    kind = "custom_tool_call" if free else "function_call"
    if step.kind == "result":
        return {"type": f"{kind}_output", "call_id": step.id, "output": step.text}
    if free:
        return {"type": kind, "call_id": step.id, "name": step.tool, "input": text(step.input.get("command"))}
    name, given = ("exec_command", {"cmd": step.input.get("command")}) if step.tool == "Bash" else (step.tool, step.input)
    called = {"namespace": name.rpartition("__")[0], "name": name.rpartition("__")[2]} if name.startswith("mcp__") else {"name": name}
    return {"type": kind, "call_id": step.id, **called, "arguments": json.dumps(given)}


def _line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": TIME, "type": kind, "payload": payload}
