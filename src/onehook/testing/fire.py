"""fire: send one event to a policy as every agent would. The pytest fixture of that name; it also works without pytest."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onehook.core import EVENTS, EXTENDED_EVENTS, TOOLS, Event, UsageError
from onehook.testing.fired import Fired
from onehook.testing.running import Runner, by_launcher, in_process
from onehook.testing.shots import Absent, Shot, chosen, close_to, judged, made_up, native_tools, rounds


class Fire:
    """fire("Bash", command="rm -rf /").assert_denied("rm -rf")

    The first argument is a tool (in a PreToolUse, unless event= names another event) or an event that has no tool. All keywords except
    `event` and `hosts` are the tool's input in unified keys, or fields of the event (prompt, cwd, session_id, tool_response,
    stop_hook_active ...). One Fire is one agent session: only what the policy remembers of it carries over from one call to the next.
    """

    def __init__(
        self,
        policy: str | os.PathLike[str],
        *,
        hosts: Sequence[str] | None = None,
        processes: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        state: Path | None = None,
    ) -> None:
        self.policy = os.fspath(policy)
        self.hosts = chosen(hosts)
        self.processes = processes
        self.cwd = os.path.abspath(cwd or os.getcwd())
        self._state = state or Path(tempfile.mkdtemp(prefix="onehook-"))
        if state is None:
            weakref.finalize(self, shutil.rmtree, self._state, ignore_errors=True)

    def __call__(self, what: str, /, *, event: str = "", hosts: Sequence[str] | None = None, **fields: Any) -> Fired:
        __tracebackhide__ = True
        name, tool = _meant(what, event)
        made = made_up(name, tool, fields, self.cwd)
        given = [*(f"{key}={value!r}" for key, value in fields.items()), *([f"event={event!r}"] if event else [])]
        return Fired(f"fire({', '.join([repr(what), *given])})", self.at(made, chosen(hosts) if hosts else self.hosts))

    def __repr__(self) -> str:
        return f"<fire {self.policy} on {', '.join(self.hosts)}{' in processes' if self.processes else ''}>"

    def at(self, event: Event, hosts: Sequence[str]) -> list[Shot]:
        """Fire an event, whichever host it was made for, at each of these hosts."""
        return [shot for host in hosts for shot in self._at(event, host)]

    def _at(self, event: Event, host: str) -> list[Shot]:
        run: Runner = by_launcher if self.processes else in_process
        try:
            return [judged(shot, run(shot, self.policy, self._state)) for shot in rounds(event, host)]
        except Absent as why:
            return [Shot(host, host, absent=str(why))]


def _meant(what: str, event: str) -> tuple[str, str]:
    """The event and the tool that fire's first argument means."""
    __tracebackhide__ = True
    if what in EVENTS or what in EXTENDED_EVENTS:
        if event:
            raise UsageError(f"{what} is an event; write fire(TOOL, event={event!r}) or fire({what!r})")
        return what, ""
    if what not in TOOLS and not what.startswith("mcp__") and not any(what in native_tools(host) for host in chosen(None)):
        meant = close_to(what, (*TOOLS, *EVENTS, *EXTENDED_EVENTS))
        if meant:  # a misspelt tool would reach no handler, and the test would prove nothing
            raise UsageError(f"unknown tool or event {what!r}; did you mean {meant}?")
    return event or "PreToolUse", what
