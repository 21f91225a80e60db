"""Which content of an event is scanned, how text and code are told apart, and what is too long."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehook.core import Change, Mcp
from onehook.hostkit.reverse import sample as event_of
from onehook.policies import scanner
from onehook.scan.content import GATES, OVERLAP, fitted, pieces_of, samples_of, written
from onehook.scan.model import Piece, Sample
from onehook.scan.settings import Settings

FENCED = "Look:\n```python title=x\nimport os\n~~~\n```\nand\n~~~~\na\n~~~\nb\n~~~~\nend"


def test_code_in_a_text_is_what_stands_between_fences():
    kinds = [(piece.kind, piece.language, piece.text) for piece in pieces_of(FENCED)]
    assert kinds == [
        ("text", "", "Look:\n```python title=x\n"),
        ("code", "python", "import os\n~~~\n"),
        ("text", "", "```\nand\n~~~~\n"),
        ("code", "", "a\n~~~\nb\n"),
        ("text", "", "~~~~\nend"),
    ]
    assert [piece.kind for piece in pieces_of("```\nnever closed")] == ["text", "code"]
    assert pieces_of("plain") == [Piece("text", "plain")] and pieces_of("") == []


@given(st.lists(st.sampled_from(["```", "~~~", "````py", "a", "\n", " ", "\r\n", "é"]), max_size=30).map("".join))
def test_the_pieces_are_the_text(text):
    assert "".join(piece.text for piece in pieces_of(text)) == text


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("/p/a.py", [("code", "py")]),
        ("README.md", [("text", ""), ("code", "sh"), ("text", "")]),
        ("Makefile", [("text", ""), ("code", "sh"), ("text", "")]),
    ],
)
def test_what_is_written_is_code_by_the_name_of_its_file(path, kinds):
    assert [(piece.kind, piece.language) for piece in written(path, "run\n```sh\nls\n```\n")] == kinds


def call(**facts):
    event = event_of("PreToolUse", "Bash", command="", session_id="s-1", cwd="/p")
    event.command = ""
    for name, value in facts.items():
        setattr(event, name, value)
    return event


def test_each_gate_sees_its_own_part_of_a_call():
    event = call(
        command="curl x", url="https://a.example", mcp=Mcp("github", "search"),
        tool_input={"q": "x", "deep": {"token": "t", "list": ["y"]}},
        changes=[Change("a.py", "write", new="x = 1"), Change("b.md", "edit", "old", "new"), Change("c", "delete")],
    )  # fmt: skip
    seen = [(sample.gate, sample.text) for sample in samples_of(event, GATES)]
    assert seen == [
        ("writes", "x = 1"),
        ("writes", "new"),
        ("commands", "curl x"),
        ("urls", "https://a.example"),
        ("mcp", "q: x\ntoken: t\ny"),
    ]
    for gate in ("writes", "commands", "urls", "mcp"):
        assert {sample.gate for sample in samples_of(event, [gate])} == {gate}
    assert samples_of(event, ["prompts", "results"]) == []


def settings(**given):
    return Settings("lakera", **given)


def test_the_policy_has_the_options_and_defaults_of_its_settings():
    offered, kept = inspect.signature(scanner).parameters, inspect.signature(Settings).parameters
    assert [(one.name, one.default, one.annotation) for one in offered.values()] == [
        (one.name, one.default, one.annotation) for one in kept.values()
    ]


def test_what_is_too_long_is_skipped_cut_or_sent_in_chunks():
    text = "".join(chr(97 + number % 26) for number in range(2500))
    sample = Sample("commands", "c", [Piece("code", text, "sh")])
    assert fitted(sample, settings(max_chars=1000, too_long="skip")) == []
    (cut,) = fitted(sample, settings(max_chars=1000, too_long="cut"))
    assert cut.text == text[:1000] and cut.pieces == [Piece("code", text[:1000], "sh")]
    chunks = [part.text for part in fitted(sample, settings(max_chars=1000))]
    assert all(len(chunk) <= 1000 for chunk in chunks)
    assert chunks[0] + "".join(chunk[OVERLAP:] for chunk in chunks[1:]) == text


@given(st.integers(100, 400), st.integers(0, 3000))
def test_a_passage_shorter_than_the_overlap_is_whole_in_one_chunk(limit, size):
    text = "".join(f"{number:05d}" for number in range(size // 5))
    chunks = [part.text for part in fitted(Sample("prompts", "p", pieces_of(text)), settings(max_chars=limit))]
    passages = (text[at : at + min(OVERLAP, limit // 4)] for at in range(0, len(text), 7))
    assert all(any(passage in chunk for chunk in chunks) for passage in passages)


def test_only_the_kinds_that_are_wanted_are_sent():
    sample = Sample("prompts", "p", pieces_of("see\n```py\nx = 1\n```\ndone"))
    (code,) = fitted(sample, settings(kinds=["code"]))
    assert (code.text, code.kind, code.language) == ("x = 1\n", "code", "py")
    (text,) = fitted(sample, settings(kinds="text"))
    assert "x = 1" not in text.text and "see" in text.text and "done" in text.text
    assert fitted(Sample("commands", "c", [Piece("code", "ls")]), settings(kinds=["text"])) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"backend": "nothing"}, "backend"), ({"mode": "on"}, "mode"), ({"gates": ["prompt"]}, "gates"), ({"kinds": ["c"]}, "kinds"),
        ({"actions": {"x": "deny"}}, "actions"), ({"url": "ftp://x"}, "url"), ({"options": {"projct": 1}}, "options"),
        ({"too_long": "drop"}, "too_long"), ({"seconds": 0}, "seconds"), ({"retries": -1}, "retries"), ({"failures": 0}, "failures"),
        ({"fail": "shut"}, "fail"), ({"max_chars": True}, "max_chars"), ({"backend": "judge"}, "options.model"),
        ({"backend": "http"}, "url"),
        ({"backend": "program"}, "options.run"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named(given, named):
    with pytest.raises(ValueError, match=named.replace(".", r"\.")):
        Settings(**{"backend": "lakera", **given})


def test_an_action_is_the_one_of_the_category_else_of_the_first_pattern_else_block():
    made = settings(actions={"pii/*": "mask", "pii/email": "allow", "unknown_*": "ask"})
    assert [made.action_of(name) for name in ("pii/email", "pii/card", "unknown_links", "prompt_attack")] == [
        "allow",
        "mask",
        "ask",
        "block",
    ]
