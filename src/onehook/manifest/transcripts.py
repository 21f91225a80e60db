"""The transcript of the running agent in the form of another agent, for programs that read it.

Loaded only for a program that does (see mentions). The file is private, is rewritten for each event, and is deleted like other old state.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onehook.codec import compact
from onehook.core import OnehookError
from onehook.hostkit.transcripts import Counts, Entry, event_of, moments, name_of, session_file
from onehook.hosts import having, load, wire_of
from onehook.manifest.variables import original
from onehook.places import replace_file, state_folder
from onehook.sweep import sweep_sometimes

if TYPE_CHECKING:
    from onehook.core import Event
    from onehook.hosts.interface import Transcripts

MAX_SOURCE = 8 << 20  # bytes of the running agent's transcript that are read, from its end
_PATIENCE = 1.0  # seconds to wait for an agent that is about to write
_LAG = 0.3  # seconds to wait for the result of an earlier call, which may also still be running; seen to be late with Grok Build 1.0.41
_KINDS = {
    "UserPromptSubmit": "prompt", "PreToolUse": "call", "PostToolUse": "result", "PostToolUseFailure": "result", "Stop": "say",
    "AgentResponse": "say",
}  # fmt: skip


def built(dialect: str, event: Event) -> str:
    """The path of the session's transcript in a dialect's form; "" if the dialect has no transcripts, or it cannot be written."""
    if dialect not in having("transcripts") or not event.session_id:
        return ""
    try:
        events = [original(one, event) for one in (*_past(event), event)]
        steps = list(_steps(dialect, events))
        lines = load(dialect, "transcripts").lines(event.session_id, event.cwd, steps)
        return _written(dialect, event.session_id, lines)
    except (OSError, OnehookError, ValueError):
        return ""


def _past(event: Event) -> Iterator[Event]:
    """What the running agent's own transcript contains; nothing if it has none that can be read."""
    if event.host not in having("transcripts"):
        return
    own = load(event.host, "transcripts")
    # Not every event names it, but a session may be found by its id.
    path = Path(event.transcript_path) if event.transcript_path else session_file(own, event.session_id)
    is_up_to_date = _tells_call if own.CALLS_FIRST else _tells_results
    patience = (_PATIENCE if own.CALLS_FIRST else _LAG) if event.event == "PreToolUse" else 0
    patient_until = time.monotonic() + patience
    while True:
        past = list(_told(own, path, event)) if path.exists() else []
        if time.monotonic() >= patient_until or is_up_to_date(past, event):
            yield from past
            return
        time.sleep(0.05)


def _told(own: Transcripts, path: Path, event: Event) -> Iterator[Event]:
    wire = wire_of(event.host)
    only = "" if event.transcript_path else event.session_id
    for moment in moments(own.Transcript(path), path, Counts(), MAX_SOURCE, only):
        try:
            past = event_of(moment, wire)
        except OnehookError:
            continue
        past.cwd = past.cwd or event.cwd
        yield past


def _tells_call(past: Sequence[Event], event: Event) -> bool:
    """Whether the transcript already contains the call that the event is about."""
    same = [one.event for one in past if (one.native_tool, one.tool_input) == (event.native_tool, event.tool_input)]
    return bool(same) and same[-1] == "PreToolUse"


def _tells_results(past: Sequence[Event], event: Event) -> bool:
    """Whether the transcript has the result of every call in it, except the one that the event is about."""
    waiting: list[tuple[str, dict[str, object]]] = []
    for one in past:
        call = (one.native_tool, one.tool_input)
        if one.event == "PreToolUse":
            waiting.append(call)
        elif call in waiting:
            waiting.remove(call)
    return all(call == (event.native_tool, event.tool_input) for call in waiting)


def _steps(dialect: str, events: Sequence[Event]) -> Iterator[Entry]:
    """The events as steps in the dialect's names of tools. What is already in the transcript is not repeated."""
    reverse, wire = load(dialect, "reverse"), wire_of(dialect)
    last: Entry | None = None
    number = 0
    open_calls: list[Entry] = []
    for event in events:
        kind = _KINDS.get(event.event)
        if kind in ("prompt", "say"):
            said = event.prompt if kind == "prompt" else event.last_assistant_message
            step = Entry(kind, text=said)
            if said and (last is None or (last.kind, last.text) != (kind, said)):
                last = step
                yield step
            continue
        for part in reverse.parts(event) if kind else ():
            try:
                told = wire.parse(reverse.payload(part), "")
            except OnehookError:
                continue
            key = (told.native_tool, compact(told.tool_input))
            known = next((call for call in open_calls if (call.tool, compact(call.input)) == key), None)
            told_before = last is not None and last.kind == "result" and (last.tool, compact(last.input)) == key
            if known is None and kind == "result" and event is events[-1] and told_before:
                continue  # the agent wrote it before it called its hooks
            if known is None:
                number += 1
                known = Entry("call", tool=told.native_tool, input=told.tool_input, id=f"toolu_{number:06d}")
                open_calls.append(known)
                last = known
                yield known
            if kind == "result":
                open_calls.remove(known)
                failed = event.event == "PostToolUseFailure"
                last = Entry(
                    "result", event.error if failed else told.result.text, known.tool, known.input, known.id, told.tool_response, failed
                )
                yield last


def _written(dialect: str, session: str, lines: Iterable[dict[str, object]]) -> str:
    safe = "".join(char if char.isalnum() or char in "._-" else "_" for char in session)[:100]
    folder = os.path.join(state_folder(), "transcripts", dialect)
    path = os.path.join(folder, name_of(load(dialect, "transcripts"), safe))
    new = not os.path.exists(path)
    text = "".join(f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n" for line in lines)
    replace_file(path, text.encode("utf-8", "backslashreplace"))
    if new:
        sweep_sometimes(state_folder())
    return path
