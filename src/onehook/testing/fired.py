"""What a fired event did on each agent, with assertions about the effects rather than the JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from onehook.core import STOPS
from onehook.hosts import wire_of
from onehook.testing.shots import CLOSED, Shot, native_tools

_ASKED = "asked about"
Check = Callable[[Shot], str]  # what is wrong on this agent, or ""


class Fired:
    """The outcome of one `fire(...)`: a Shot per agent. Every assertion covers all agents, names those that fail it, and returns self."""

    def __init__(self, what: str, shots: list[Shot]) -> None:
        self.what = what
        self.shots = [shot for shot in shots if not shot.absent]
        self.absent = {shot.host: shot.absent for shot in shots if shot.absent}

    def __iter__(self) -> Iterator[Shot]:
        return iter(self.shots)

    def __getitem__(self, host: str) -> Shot:
        """The shot of one agent, for a closer look."""
        found = [shot for shot in self.shots if shot.host == host]
        if not found:
            raise KeyError(f"{self.what} was not fired at {host}: {self.absent.get(host, 'it was not selected')}")
        return found[0]

    def __repr__(self) -> str:
        return f"<{self.what}: {', '.join(f'{shot.label} {shot.effect}' for shot in self.shots) or 'no agent has it'}>"

    @property
    def effects(self) -> dict[str, str]:
        """The effect on each agent, in words."""
        return {shot.label: shot.effect for shot in self.shots}

    def snapshot(self) -> dict[str, dict[str, Any]]:
        """The answers on the wire as plain data, to compare or store: agent -> stdout (parsed if it is JSON), stderr, exit_code."""
        return {shot.label: {"stdout": _plain(shot.stdout), "stderr": shot.stderr, "exit_code": shot.exit_code} for shot in self.shots}

    # ---- what happens ----

    def assert_denied(self, reason: str | None = None) -> Fired:
        """The action is prevented, by the policy's decision and not by an error, and the model is told this reason (or more)."""
        __tracebackhide__ = True
        return self._all("denied", lambda shot: _other(shot, "blocked") or _lacks(shot, "reason", shot.heard.reason, reason))

    def assert_asked(self, reason: str | None = None, *, or_denied: bool = False) -> Fired:
        """The user is asked. or_denied: an agent that cannot ask may deny instead."""
        __tracebackhide__ = True

        def check(shot: Shot) -> str:
            if or_denied and shot.main in ("blocked", CLOSED) and any(loss.kind == "downgraded" for loss in shot.lost):
                return ""
            return _other(shot, "asked") or _lacks(shot, "reason", shot.heard.reason, reason)

        return self._all(_ASKED, check)

    def assert_runs(self) -> Fired:
        """The action happens with its input unchanged; on an event without a tool, the agent continues (or, on a stop, stops)."""
        __tracebackhide__ = True
        return self._all("let through", lambda shot: _other(shot, "runs", "continues", "stops"))

    def assert_rewritten(self, **expected: Any) -> Fired:
        """The tool runs with its input rewritten. Give the expected input in unified keys: command=, file_path=, content= ..."""
        __tracebackhide__ = True
        return self._all("rewritten", lambda shot: _other(shot, "runs rewritten") or _differs(shot, expected))

    def assert_context(self, text: str = "") -> Fired:
        """The model is given additional context that contains this text."""
        __tracebackhide__ = True
        return self._all("given context", lambda shot: _lacks(shot, "context", shot.heard.additional_context, text))

    def assert_user_told(self, text: str = "") -> Fired:
        """The user is shown a message that contains this text."""
        __tracebackhide__ = True
        return self._all("shown to the user", lambda shot: _lacks(shot, "message", shot.heard.user_message or shot.heard.message, text))

    def assert_feedback(self, reason: str | None = None) -> Fired:
        """After a tool ran: the model is told the reason of a deny."""
        __tracebackhide__ = True
        check: Check = lambda shot: _other(shot, "feedback to the model") or _lacks(shot, "reason", shot.heard.reason, reason)  # noqa: E731
        return self._all("answered with feedback", check)

    def assert_continues(self, reason: str | None = None) -> Fired:
        """The agent may not stop: it keeps working, for this reason. Agents that ignore the answer to a stop are skipped, beside others."""
        __tracebackhide__ = True

        def check(shot: Shot) -> str:
            if shot.event is not None and shot.event.event not in STOPS:
                return f"{shot.event.event} is not a stop"
            if len(self.shots) > 1 and shot.event is not None and wire_of(shot.host).caps(shot.event).silent:
                return ""  # like an agent without such an event
            return _other(shot, "keeps working") or _lacks(shot, "reason", shot.heard.reason, reason)

        return self._all("sent back to work", check)

    def assert_nothing_dropped(self) -> Fired:
        """Every agent supports everything in the policy's answer."""
        __tracebackhide__ = True
        return self._all("fully supported", lambda shot: "; ".join(loss.text for loss in shot.lost), errors=False)

    def assert_error(self, text: str = "") -> Fired:
        """The policy raises an error that contains this text."""
        __tracebackhide__ = True
        return self._all("an error", lambda shot: _lacks(shot, "error", shot.error or None, text), errors=False)

    def _all(self, wanted: str, check: Check, errors: bool = True) -> Fired:
        __tracebackhide__ = True
        if not self.shots:
            missing = "; ".join(f"{host} {why}" for host, why in self.absent.items())
            raise AssertionError(f"{self.what} was not fired at any agent: {missing}")
        problems = [f"error in the policy ({shot.effect}): {shot.error}" if errors and shot.error else check(shot) for shot in self.shots]
        wrong = [(shot, problem) for shot, problem in zip(self.shots, problems) if problem]
        if wrong:
            raise AssertionError(self._message(wanted, wrong))
        return self

    def _message(self, wanted: str, wrong: list[tuple[Shot, str]]) -> str:
        width = max(len(shot.label) for shot, _ in wrong)
        failing = {shot.label for shot, _ in wrong}
        fine = [shot.label for shot in self.shots if shot.label not in failing]
        # The agents come first, so that pytest's short summary names them.
        lines = [f"not {wanted} on {', '.join(shot.label for shot, _ in wrong)}: {self.what}"]
        lines += [f"  {shot.label:<{width}}  {problem}" for shot, problem in wrong]
        if wanted == _ASKED and any(loss.kind == "downgraded" for shot, _ in wrong for loss in shot.lost):
            lines.append("an agent that cannot ask denies instead; assert_asked(or_denied=True) accepts that")
        if fine:
            lines.append(f"as expected on {', '.join(fine)}")
        if self.absent:
            lines.append(f"not fired at {', '.join(f'{host} ({why})' for host, why in self.absent.items())}")
        return "\n".join(lines)


def _plain(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def _other(shot: Shot, *wanted: str) -> str:
    """The effect, if it is none of these; otherwise ""."""
    if shot.main in wanted:
        return ""
    losses = "".join(f"; {loss.text}" for loss in shot.lost)
    reason = f": {shot.heard.reason!r}" if shot.heard.reason and shot.main in ("blocked", "asked", "keeps working") else ""
    return f"{shot.effect}{reason}{losses}"


def _lacks(shot: Shot, what: str, said: str | None, text: str | None) -> str:
    if text is None or (said is not None and text in said):
        return ""
    if said is not None:
        return f"the {what} is {said!r}, which does not contain {text!r}"
    losses = "".join(f"; {loss.text}" for loss in shot.lost)
    return f"no {what} ({shot.effect}){losses}"


def _differs(shot: Shot, expected: dict[str, Any]) -> str:
    now = _rewritten_input(shot)
    for key, value in expected.items():
        if now.get(key) != value and not _same_path(shot, key, now.get(key), value):
            return f"{key} is {now.get(key)!r}, not {value!r}" if key in now else f"the input has no {key} (only {', '.join(now)})"
    return ""


def _same_path(shot: Shot, key: str, now: object, wanted: object) -> bool:
    cwd = shot.event.cwd if shot.event else ""
    paths = key in ("file_path", "path") and isinstance(now, str) and isinstance(wanted, str)
    return paths and os.path.normpath(os.path.join(cwd, str(now))) == os.path.normpath(os.path.join(cwd, str(wanted)))


def _rewritten_input(shot: Shot) -> dict[str, Any]:
    """The input that the agent runs the tool with, in unified keys."""
    from onehook.hostkit.reverse import unified_keys

    event, native = shot.event, shot.heard.modified_input
    if event is None or native is None:
        return {}
    tool = native_tools(shot.host).get(event.native_tool)
    after = event.rewritten(native)
    facts: dict[str, Any] = {"file_path": after.paths[0]} if after.paths else {}
    if len(after.changes) == 1:
        change = after.changes[0]
        facts |= {"content": change.new} if change.kind == "write" else {"old_string": change.old, "new_string": change.new}
    return {**facts, **(native if tool is None else unified_keys(tool, native))}
