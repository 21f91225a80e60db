"""The callback that the Claude Agent SDK calls, with payloads that Claude Code sends. tests/live tests it with the SDK itself."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from onehook import Hooks, deny
from onehook.adapters.claude_agent_sdk import Guard, hooks
from onehook.core import UsageError
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.log.reader import entries

REASON = "not here"
POLICY = """
from onehook import Hooks, deny

hooks = Hooks()
calls = []


@hooks.on("PreToolUse")
def guard(event):
    calls.append(event)
    return deny(str(len(calls)))
"""


def payload(command: str = "rm -rf /") -> dict[str, Any]:
    found: dict[str, Any] = load("claude", "reverse").payload(sample("PreToolUse", "Bash", command=command))
    return found


def answer(policy: Any, given: dict[str, Any], **options: Any) -> dict[str, Any]:
    return asyncio.run(Guard(policy, options).called(given))


def policy(**options: Any) -> Hooks:
    made = Hooks(**options)

    @made.on("PreToolUse", tool="Bash")
    def guard(event):
        if "rm" in event.command:
            return deny(REASON)
        if "hang" in event.command:
            time.sleep(1)  # asyncio.run waits for the thread
        if "raise" in event.command:
            raise ValueError("broken")
        return None

    return made


def denied(given: dict[str, Any]) -> str:
    specific = given["hookSpecificOutput"]
    assert specific["permissionDecision"] == "deny"
    return str(specific["permissionDecisionReason"])


def test_a_deny_is_the_answer_of_claude_code() -> None:
    assert denied(answer(policy(), payload())) == REASON


def test_nothing_to_say_is_an_empty_answer() -> None:
    assert answer(policy(), payload("ls")) == {}


@pytest.mark.parametrize(
    ("command", "seconds", "problem"), [("raise", 20, "ValueError: broken"), ("hang", 0.2, "the policy took longer than 0.2 s")]
)
def test_what_goes_wrong_blocks_under_fail_closed_and_is_logged_otherwise(command: str, seconds: float, problem: str, caplog: Any) -> None:
    assert problem in denied(answer(policy(), payload(command), fail="closed", timeout=seconds))
    with caplog.at_level(logging.WARNING, logger="onehook"):
        assert answer(policy(), payload(command), timeout=seconds) == {}
    assert problem in caplog.text


def test_an_async_handler_is_awaited() -> None:
    made = Hooks()

    @made.on("PreToolUse")
    async def guard(event):
        await asyncio.sleep(0)
        return deny(REASON)

    assert denied(answer(made, payload())) == REASON


def test_a_rules_file_holds_and_a_change_counts_at_once(tmp_path: Path) -> None:
    file = tmp_path / "onehook.toml"
    file.write_text('[permissions]\ndeny = ["Bash(npm publish:*)"]\n')
    guard = Guard(file, {})
    assert guard.events() == ["PreToolUse", "ConfigChange"]
    assert denied(asyncio.run(guard.called(payload("npm publish --tag x"))))
    file.write_text('[permissions]\ndeny = ["Bash(npm pack:*)"]\n')
    assert asyncio.run(guard.called(payload("npm publish"))) == {}


def test_a_python_file_is_loaded_once(tmp_path: Path) -> None:
    file = tmp_path / "policy.py"
    file.write_text(
        "from onehook import Hooks, deny\nhooks = Hooks()\ncalls = []\n@hooks.on('PreToolUse')\ndef g(event):\n    calls.append(1)\n"
    )
    file.write_text(file.read_text() + "    return deny(str(len(calls)))\n")
    guard = Guard(str(file), {})
    assert [denied(asyncio.run(guard.called(payload()))) for _ in range(2)] == ["1", "2"]


def test_a_payload_that_is_not_one_raises_under_fail_closed() -> None:
    with pytest.raises(Exception, match="blocked: fail=closed"):
        answer(policy(), {"no": "event"}, fail="closed")
    assert answer(policy(), {"no": "event"}) == {}


def test_events_that_the_sdk_never_sends_are_named() -> None:
    made = policy()
    made.on("SessionStart")(lambda event: None)
    made.on("AgentResponse")(lambda event: None)
    with pytest.warns(UserWarning, match="never called: AgentResponse, SessionStart"):
        assert Guard(made, {}).events() == ["PreToolUse"]


def test_decisions_are_in_the_log() -> None:
    answer(policy(), payload())
    assert [(line["agent"], line["decision"], line["reason"]) for line in entries()] == [("claude", "deny", REASON)]


def test_options_are_checked_at_once() -> None:
    with pytest.raises(UsageError, match="must be one of open, closed"):
        Guard(policy(), {"fail": "maybe"})


def test_without_the_sdk_the_error_says_how_to_install_it() -> None:
    with pytest.raises(UsageError, match="pip install claude-agent-sdk"):
        hooks(policy())
