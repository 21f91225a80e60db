"""What an ask becomes when the agent cannot ask: for every agent, for one of them, in the policy and on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from harness import fire, policy_text, tool_payload

from onehook import Hooks, ask
from onehook.core import Options, UsageError
from onehook.hosts import HOSTS
from onehook.manifest.load import load_manifest
from onehook.runner import answer, requested

CODEX, CURSOR = tool_payload("codex"), tool_payload("cursor")


def decision(payload: dict[str, Any], policy: dict[str, Any], given: dict[str, Any] | None = None) -> str:
    hooks = Hooks(**policy)
    hooks.on("PreToolUse")(lambda event: ask("sure?"))
    output = answer(json.dumps(payload).encode(), lambda: hooks, given=Options.checked(given or {}))
    assert output.answer is not None
    return str(output.answer.decision)


@pytest.mark.parametrize(
    "policy", [{"ask_fallback": {"cursor": "ask"}}, {"cursor_ask_fallback": "ask"}, {"ask_fallback": "deny", "cursor_ask_fallback": "ask"}]
)
def test_one_agent_can_have_a_fallback_of_its_own(policy: dict[str, Any]) -> None:
    assert decision(CURSOR, policy) == "ask"
    assert decision(CODEX, policy) == "deny"


def test_every_agent_can_have_one() -> None:
    assert decision(CODEX, {"ask_fallback": {"codex": "allow"}}) == "allow"
    assert decision(CODEX, {"codex_ask_fallback": "allow"}) == "allow"
    for host in HOSTS:
        assert Options(Options.checked({"ask_fallback": {host: "allow"}})).ask_fallback_on(host) == "allow"


def test_the_fallback_of_one_agent_wins_over_the_general_one_wherever_that_is_given() -> None:
    assert decision(CURSOR, {"ask_fallback": {"cursor": "ask"}}, {"ask_fallback": "allow"}) == "ask"
    assert decision(CODEX, {"ask_fallback": {"cursor": "ask"}}, {"ask_fallback": "allow"}) == "allow"
    assert decision(CURSOR, {"cursor_ask_fallback": "ask"}, {"ask_fallback": {"cursor": "deny"}}) == "deny"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ask_fallback": {"cursor": "never"}}, "cursor_ask_fallback='never': must be one of allow, deny, ask"),
        ({"ask_fallback": {"nobody": "ask"}}, "nobody_ask_fallback: unknown agent 'nobody'; the agents are claude,"),
        ({"nobody_ask_fallback": "ask"}, "nobody_ask_fallback: unknown agent 'nobody'"),
        ({"nonsense": "ask"}, "unknown option 'nonsense'; the options are mode, fail, timeout,"),
        ({"isolation": "thread"}, "unknown option 'isolation'"),  # only on the command line
    ],
)
def test_a_wrong_fallback_is_refused_when_the_policy_is_made(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        Hooks(**given)
    assert str(raised.value).startswith(message)


def arguments(*words: str) -> dict[str, Any]:
    request = requested(["policy.py", *words])
    assert not request.problem
    return request.given


def test_the_command_line_takes_both_forms() -> None:
    assert arguments("--ask-fallback", "allow") == {"ask_fallback": "allow"}
    assert arguments("--ask-fallback", "cursor=ask", "--ask-fallback=deny") == {"cursor_ask_fallback": "ask", "ask_fallback": "deny"}
    assert arguments("--cursor-ask-fallback", "ask") == {"cursor_ask_fallback": "ask"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--ask-fallback", "cursor="), "--ask-fallback: cursor_ask_fallback='': must be one of"),
        (("--ask-fallback", "nobody=ask"), "--ask-fallback: nobody_ask_fallback: unknown agent 'nobody'"),
        (("--timeout", "soon"), "--timeout: timeout='soon': must be a number above 0"),
    ],
)
def test_a_wrong_argument_is_reported(words: tuple[str, str], message: str) -> None:
    assert requested(["policy.py", *words]).problem.startswith(message)


def test_a_manifest_takes_both_forms() -> None:
    head = '[[hook]]\nevents = ["PreToolUse"]\nrun = ["true"]\nspeaks = "claude"\n'
    for options in ('cursor_ask_fallback = "ask"\n', 'ask_fallback = {cursor = "ask"}\n', '[ask_fallback]\ncursor = "ask"\n'):
        manifest = load_manifest("onehook.toml", (options + head).encode())
        assert Options(manifest.options).ask_fallback_on("cursor") == "ask"


def test_it_reaches_the_agent_through_the_launcher(tmp_path: Any) -> None:
    policy = tmp_path / "policy.py"
    policy.write_text(policy_text("return ask('sure?')", options='ask_fallback={"cursor": "ask"}'))
    assert fire(policy, CURSOR, "--host", "cursor").answer["permission"] == "ask"
    assert fire(policy, CURSOR, "--host", "cursor", "--ask-fallback", "cursor=deny").answer["permission"] == "deny"
