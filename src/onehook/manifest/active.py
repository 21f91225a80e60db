"""What the programs of a manifest need to know about the session before an event: which skills were started, and what has already run.

Loaded only for a program with `skills` or `once`.
"""

from __future__ import annotations

from onehook.hosts import HOSTS, wire_of
from onehook.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from onehook.core import Event


_last: list[Any] = [None, ()]  # the event that was asked about last, and what was known before it


def is_active(event: Event, skills: Sequence[str]) -> bool:
    """Whether one of these skills (or commands) was started in the session. Subagents work without it, except for their start."""
    if event.agent_id and event.event != "SubagentStart":
        _before(event)
        return False
    # A prompt is expanded before the skill is active; a tool call has ended when it is.
    names = [*_before(event), *([f"skill:{_started(event)}"] if event.event == "PostToolUse" else [])]
    return any(_same(name[len("skill:") :], skill) for name in names if name.startswith("skill:") for skill in skills)


def has_run(event: Event, name: str) -> bool:
    return f"once:{name}" in _before(event)


def note_run(event: Event, name: str) -> None:
    _memory(event)[f"once:{name}"] = True


def _started(event: Event) -> str:
    """The name of the skill or command that an event starts, or ""."""
    table = wire_of(event.host).TRAITS.skills if event.host in HOSTS else {}
    if event.event == "PostToolUse":
        name = event.tool_input.get(table.get(event.native_tool, ""))
    else:
        name = event.native.get(table.get(event.native_event, ""))
    return name.lstrip("/") if isinstance(name, str) else ""


def _same(one: str, other: str) -> bool:
    """Whether two names mean the same skill: a plugin's may have the plugin's name before it (plugin:skill)."""
    return one == other or (":" in one and ":" not in other and one.endswith(f":{other}")) or (":" not in one and other.endswith(f":{one}"))


def _memory(event: Event) -> State:
    return State("programs", event.host, event.session_id or event.cwd)


def _before(event: Event) -> Sequence[str]:
    """What was recorded in the session before this event. A skill that it starts is recorded; a session that starts or is resumed has
    none (a compaction does not end one)."""
    if _last[0] is not event:
        memory = _memory(event)
        if event.event == "SessionStart" and event.source != "compact" and len(memory):
            memory.clear()
        _last[:] = [event, list(memory)]
        started = _started(event)
        if started:
            memory[f"skill:{started}"] = True
    known: Sequence[str] = _last[1]
    return known
