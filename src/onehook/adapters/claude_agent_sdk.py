"""A policy as hooks of the Claude Agent SDK, in the process of the program that uses it. Seen working with 0.2.182.

    from claude_agent_sdk import ClaudeAgentOptions
    from onehook.adapters.claude_agent_sdk import hooks

    options = ClaudeAgentOptions(hooks=hooks("onehook.toml", fail="closed"))

The SDK gives a callback the payload that Claude Code gives a command, and takes the same answer, so the host's tables hold here too.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from onehook.core import Hooks, OnehookError, Options, Output, UsageError
from onehook.hosts import load, wire_of
from onehook.manifest.needs import events_of
from onehook.policy import is_manifest, load_policy, message_of
from onehook.runner import Request, answered, pause_of

if TYPE_CHECKING:
    from onehook.isolate import Finish, Question

HOST = "claude"
# 0.2.182 with Claude Code 2.1.325: the session has begun when the SDK registers its hooks, and is over when SessionEnd would come.
NEVER_CALLED = ("SessionStart", "SessionEnd")
MARGIN = 10.0  # seconds that Claude Code waits for the callback beyond the policy's own timeout
_log = logging.getLogger("onehook")


def hooks(policy: Hooks | str | os.PathLike[str], **options: Any) -> dict[Any, list[Any]]:
    """The `hooks` of ClaudeAgentOptions for a policy: a Hooks object, or the path of a Python policy or a rules file.

    The options are those of Hooks, and win over the policy's own. With fail="closed", Claude Code also blocks if the callback itself fails.
    A Python policy is loaded now; a rules file at every event, so that a change of it counts at once.
    """
    try:
        sdk: Any = import_module("claude_agent_sdk")
    except ModuleNotFoundError:
        raise UsageError("the Claude Agent SDK is not installed; install it with: pip install claude-agent-sdk") from None
    guard = Guard(policy, options)
    settled = guard.options()
    on_failure = "block" if settled.fail == "closed" else "continue"
    return {
        event: [sdk.HookMatcher(hooks=[guard.called], timeout=settled.timeout + MARGIN, on_failure=on_failure)] for event in guard.events()
    }


class Guard:
    """A policy that answers the SDK's callbacks."""

    def __init__(self, policy: Hooks | str | os.PathLike[str], options: Mapping[str, Any]) -> None:
        self._given = Options.checked(options)
        self._path = "" if isinstance(policy, Hooks) else os.path.abspath(policy)
        self._hooks = policy if isinstance(policy, Hooks) else load_policy(self._path, self._given)

    def options(self) -> Options:
        return Options({**self._hooks.options, **self._given})

    def events(self) -> list[str]:
        """The SDK's names of the events that the policy handles; a warning names those that it will not get."""
        natives = load(HOST, "config").EVENTS
        handled = {one.event for one in self._hooks.registrations}
        wanted = events_of(self._hooks, HOST) if is_manifest(self._path) else handled
        names = {event: natives.get(event, event) for event in wanted}
        never = [event for event, name in names.items() if name in NEVER_CALLED or name not in wire_of(HOST).EVENTS]
        lost = sorted(event for event in never if event in handled)  # the others are onehook's own, such as the note about a pause
        if lost:
            warnings.warn(f"the Claude Agent SDK has no such event, so its handlers are never called: {', '.join(lost)}", stacklevel=3)
        return [name for event, name in names.items() if event not in never]

    async def called(self, payload: Any, tool_use_id: str | None = None, context: Any = None) -> dict[str, Any]:
        """The SDK's callback. The policy runs in a thread, so the program continues in the meantime."""
        data = json.dumps(payload).encode("utf-8")
        seconds = self.options().timeout
        try:
            output = await asyncio.wait_for(asyncio.to_thread(self._answer, data, self._load), seconds)
        except asyncio.TimeoutError:
            late = OnehookError(f"the policy took longer than {seconds:g} s")
            output = await asyncio.to_thread(self._answer, data, _raising(late))
        return _as_answer(output)

    def _load(self) -> Hooks:
        return load_policy(self._path, self._given) if is_manifest(self._path) else self._hooks

    def _answer(self, data: bytes, policy: Callable[[], Hooks]) -> Output:
        known = self._hooks.options
        request = Request(policy, policy=self._path, hosts=[HOST], given=self._given, known=known, pause=pause_of(self._given))
        request.live = True
        output = answered(request, data, _here)
        problem = output.after() if output.after is not None else ""
        if problem:
            _log.warning(problem)
        return output


def _here(question: Question, finish: Finish) -> Output:
    return finish(message_of(question.load, question.event), "")


def _raising(error: OnehookError) -> Callable[[], Hooks]:
    def policy() -> Hooks:
        raise error

    return policy


def _as_answer(output: Output) -> dict[str, Any]:
    """The answer as the SDK takes it. What a command would print on stderr is logged."""
    if output.stderr:
        _log.log(logging.WARNING if output.error else logging.INFO, output.stderr)
    if output.stdout:
        answer: dict[str, Any] = json.loads(output.stdout)
        return answer
    if output.exit_code == 2:
        raise OnehookError(output.stderr)  # not even the event could be read; with on_failure="block" Claude Code blocks
    return {}
