"""Hooks as people write them, in the config and the words of the agent that they were written for.

Each is written for this corpus, after patterns that published hooks use. A hook has moments: events that it is started with, and what it
says then on its own agent. `{project}` in a moment's fields is the project's folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Moment:
    """An event, and what the hook makes of it on its own agent. Nothing said: it has no opinion."""

    event: str
    tool: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    decision: str | None = None
    reason: str | None = None  # a part of it
    context: str | None = None  # a part of it
    rewrite: Mapping[str, Any] | None = None  # the changed input, in unified keys
    files: Mapping[str, str] = field(default_factory=dict)  # what it leaves in the project: path -> a part of the content
    starts: bool = True  # whether the hook's matcher lets it start
    limits: Mapping[str, str] = field(default_factory=dict)  # agents that cannot do it -> what they lack, in words of their page


@dataclass(frozen=True)
class Agent:
    """How an agent's hooks are configured: the file, whether entries stand in a group, and what else the file needs."""

    host: str
    config: str
    grouped: bool = True
    command: str = "command"
    wrapped: bool = True  # the events stand under "hooks"
    around: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, hook: Hook) -> str:
        entry: dict[str, Any] = {"type": "command", self.command: hook.command, **hook.settings}
        matcher = {} if hook.matcher is None else {"matcher": hook.matcher}
        where = {**matcher, "hooks": [entry]} if self.grouped else {**entry, **matcher}
        events = {hook.event: [where]}
        return json.dumps({**self.around, "hooks": events} if self.wrapped else events, indent=2) + "\n"


@dataclass(frozen=True)
class Hook:
    id: str
    event: str  # as the agent calls it
    command: str
    moments: tuple[Moment, ...]
    matcher: str | None = None
    script: str = ""  # its text; the command starts it
    path: str = ""  # where the script is
    files: Mapping[str, str] = field(default_factory=dict)  # what else is in the project
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the entry
    needs: tuple[str, ...] = ()  # programs that must be there


def bash(command: str, **said: Any) -> Moment:
    return Moment("PreToolUse", "Bash", {"command": command}, **said)


def ran(command: str, **said: Any) -> Moment:
    return Moment("PostToolUse", "Bash", {"command": command, "tool_response": {"stdout": "ok", "stderr": ""}}, **said)


def write(path: str, content: str = "x\n", event: str = "PreToolUse", **said: Any) -> Moment:
    return Moment(event, "Write", {"file_path": f"{{project}}/{path}", "content": content}, **said)


def edit(path: str, old: str, new: str, event: str = "PreToolUse", **said: Any) -> Moment:
    return Moment(event, "Edit", {"file_path": f"{{project}}/{path}", "old_string": old, "new_string": new}, **said)


def read(path: str, **said: Any) -> Moment:
    return Moment("PreToolUse", "Read", {"file_path": f"{{project}}/{path}"}, **said)


def prompt(text: str, **said: Any) -> Moment:
    return Moment("UserPromptSubmit", "", {"prompt": text}, **said)


def start(source: str = "startup", **said: Any) -> Moment:
    return Moment("SessionStart", "", {"source": source}, **said)


def stop(again: bool = False, last: str = "done", **said: Any) -> Moment:
    return Moment("Stop", "", {"stop_hook_active": again, "last_assistant_message": last}, **said)
