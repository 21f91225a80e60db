"""Effects in words."""

from __future__ import annotations

import pytest

from onehook.core import Drop, Output, Response
from onehook.hostkit.reverse import sample
from onehook.testing.effect import effect

TOOL, AFTER, PROMPT, STOP = (
    sample("PreToolUse", "Bash", command="ls"), sample("PostToolUse", "Bash", command="ls"), sample("UserPromptSubmit"), sample("Stop"),
)  # fmt: skip
WORDS = [
    (TOOL, Response(), True, "runs"),
    (TOOL, Response("deny", "no"), True, "blocked"),
    (TOOL, Response("ask"), True, "asked"),
    (TOOL, Response("allow", modified_input={"command": "ls -l"}), True, "runs rewritten"),
    (TOOL, Response("allow", modified_input={"command": "ls"}), True, "runs"),
    (TOOL, Response("allow", additional_context="x", user_message="y"), True, "runs, context added, user told"),
    (TOOL, Response("deny", "no", message="x"), True, "blocked, user told"),
    (AFTER, Response("deny", "no"), False, "feedback to the model"),
    (AFTER, Response(), False, "continues"),
    (PROMPT, Response("deny", "no"), True, "blocked"),
    (PROMPT, Response("deny", "no"), False, "refused"),
    (PROMPT, Response(), True, "continues"),
    (STOP, Response("deny", "no"), False, "keeps working"),
    (STOP, Response(reason="no"), False, "keeps working"),
    (STOP, Response("allow"), False, "stops"),
    (STOP, Response(), False, "stops"),
]


def told(answer, *dropped, exit_code=0):
    output = Output("", exit_code)
    output.answer = answer
    output.dropped = [Drop("host", "event", field, "why") for field in dropped]
    return output


@pytest.mark.parametrize("event, answer, gates, words", WORDS, ids=lambda value: str(value))
def test_the_words(event, answer, gates, words):
    assert effect(event, told(answer), gates) == words


def test_a_decision_that_the_host_ignores_has_no_effect():
    assert effect(PROMPT, told(Response("deny", "no"), "decision"), True) == "continues"
    assert effect(PROMPT, told(Response("deny", "no"), "reason"), True) == "blocked"


@pytest.mark.parametrize("exit_code, words", [(1, "error, continues"), (2, "blocked")])
def test_an_error(exit_code, words):
    assert effect(TOOL, told(None, exit_code=exit_code), True) == words
