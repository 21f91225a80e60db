"""Hooks that hold an ask, measured for coverage: see tests/process/test_traced.py. They answer like any other hook."""

from __future__ import annotations

import os

import pytest
from harness import ANY, reason_of

from onehook.desk import answers
from onehook.desk.answers import Answer
from onehook.desk.requests import ANSWER
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from tests.desk.person import desk_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def given(asked, key, decision="allow", **more):
    return answers.give(asked, Answer(decision, **more), key, by="ana", via="page")


def decision_of(result):
    event = sample("PreToolUse", "Bash")
    return load(ANY, "reverse").answer(event, result.stdout, result.stderr, result.exit_code).decision


def test_an_approved_call_and_the_next_one_of_the_session(hook, key):
    first = hook(traced=True)
    given(first.asked(), key, scope="session")
    assert decision_of(first.result()) != "deny"
    assert decision_of(hook(traced=True).result()) != "deny"


def test_a_denied_call(hook, key):
    waiting = hook(traced=True)
    given(waiting.asked(), key, "deny", words="use the other branch")
    assert reason_of(waiting.result(), ANY) == "A person denied this: use the other branch"


def test_a_rewritten_call(hook, key):
    waiting = hook(traced=True)
    given(waiting.asked(), key, input={"command": "git push --dry-run"})
    assert "git push --dry-run" in waiting.result().stdout


@pytest.mark.usefixtures("key")
def test_nobody_answers_but_a_forged_file(hook):
    waiting = hook("git push", "--ask-wait", "3", traced=True)
    with open(f"{desk_folder()}/{waiting.asked().id}/{ANSWER}", "w", encoding="utf-8") as file:
        file.write("{}")
    assert "nobody answered in time" in reason_of(waiting.result(), ANY)


def test_nobody_answers_where_no_pin_is_set(hook):
    assert "onehook approve" in reason_of(hook("git push", "--ask-wait", "0.2", traced=True).result(), ANY)
