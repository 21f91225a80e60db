"""Editing JSON and JSONC text, case by case: what a person would see in the file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onehook.textedit.json_edit import append, remove, replace_item, set_value
from onehook.textedit.json_tree import parse
from onehook.textedit.text import TextError

ITEM = {"matcher": "Bash", "n": [1]}
PATH = ("hooks", "Pre")


def lines(*parts: str) -> str:
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "hooks": {\n    "Pre": [\n      1\n    ]\n  }\n}\n'),
        ("{}", '{\n  "hooks": {\n    "Pre": [\n      1\n    ]\n  }\n}'),
        ('{"a":1}\n', '{"a":1,"hooks":{"Pre":[1]}}\n'),
        ('{"a": 1}', '{"a": 1, "hooks": {"Pre": [1]}}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Pre": [\n\t\t\t1\n\t\t]\n\t}\n}\n'),
        ('{\r\n "a" : 1\r\n}', '{\r\n "a" : 1,\r\n "hooks" : {\r\n  "Pre" : [\r\n   1\r\n  ]\r\n }\r\n}'),
        ('{\n  "hooks": {"Pre": [0]}\n}', '{\n  "hooks": {"Pre": [0, 1]}\n}'),
        ('{\n  "hooks": {\n    "Pre": []\n  }\n}', '{\n  "hooks": {\n    "Pre": [\n      1\n    ]\n  }\n}'),
    ],
)
def test_new_content_follows_the_style_of_the_file(before: str, after: str) -> None:
    assert append(before, PATH, 1, jsonc=False) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[\n  0 // zero\n]", "[\n  0, // zero\n  1\n]"),
        ("[\n  0, // zero\n  // end\n]", "[\n  0, // zero\n  // end\n  1,\n]"),
        ("[ 0, /* a */ ]", "[ 0, /* a */ 1, ]"),
        ("[\n  // none\n]", "[\n  // none\n  1\n]"),
    ],
)
def test_comments_stay_with_what_they_stood_beside(before: str, after: str) -> None:
    assert append(before, (), 1, jsonc=True) == after
    assert json.loads(json.dumps(parse(after, jsonc=True).value))[-1] == 1


def test_brackets_on_the_line_of_their_items_stay_so() -> None:
    text = lines("{", '  "hooks": [{', '    "a": 1', "  }]", "}")
    wanted = lines("{", '  "hooks": [{', '    "a": 1', "  }, {", '    "b": 2', "  }]", "}")
    assert append(text, ("hooks",), {"b": 2}, jsonc=False) == wanted


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("[1, 2, 3]", (0,), "[2, 3]"),
        ("[1, 2, 3]", (1,), "[1, 3]"),
        ("[1, 2, 3]", (2,), "[1, 2]"),
        ("[1, // one\n 2]", (1,), "[1 // one\n ]"),
        ("[1, // one\n 2]", (0,), "[// one\n 2]"),
        ("{\n  // a\n  \"a\": 1,\n  // b\n  \"b\": 2,\n}", ("b",), "{\n  // a\n  \"a\": 1,\n  // b\n}"),
        ('{ "a": 1 }', ("a",), "{ }"),
        ('{\n  "a": 1\n}', ("a",), "{}"),
    ],
)  # fmt: skip
def test_removing_takes_the_separator_and_keeps_comments(before: str, path: Any, after: str) -> None:
    assert remove(before, path, jsonc=True) == after


def test_replacing_keeps_the_style_and_the_neighbours() -> None:
    text = lines("{", '    "a": [ 1 ],', '    "b": {', '        "x": null', "    }", "}")
    assert replace_item(text, ("b",), {"y": [1]}, jsonc=False) == lines(
        "{", '    "a": [ 1 ],', '    "b": {', '        "y": [', "            1", "        ]", "    }", "}"
    )
    assert replace_item(text, ("a", 0), True, jsonc=False) == text.replace("1", "true")


def test_slashes_that_look_like_comments_are_escaped_on_request() -> None:
    value = "https://a/*b*/"
    text = set_value("{}", ("u",), value, jsonc=False, escape_slashes=True)
    assert r'"https:/\/a/\u002ab*\/"' in text
    assert json.loads(text) == {"u": value}
    assert value in set_value("{}", ("u",), value, jsonc=False)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{\n  "a": 1,\n  "a": 2\n}', 3, 3, '"a" is already on line 2'),
        ('{"a": {"b": 1, "\\u0062": 2}}', 1, 16, "already on line 1"),
        ('{\r\n  "a": 1,\r\n}', 2, 9, "comma before '}'"),
        ("{\n  // c\n}", 2, 3, "comments are not allowed"),
        ("\ufeff{a: 1}", 1, 2, "key in double quotes, found 'a: 1}'"),
        ('{"a" 1}', 1, 6, "expected ':'"),
        ('{"a": 1 "b": 2}', 1, 9, "expected ',' or '}'"),
        ("[1] x", 1, 5, "after the end"),
        ("[NaN]", 1, 2, "expected a value"),
        ("[01]", 1, 2, "expected a value"),
        ("[", 1, 2, "the end of the text"),
        ('["a\nb"]', 1, 2, "not closed"),
        ('["a\\x"]', 1, 4, "invalid escape"),
        ("[" * 300, 1, 202, "nested deeper"),
        ("[" + "1" * 5000 + "]", 1, 2, "too many digits"),
        ("/* x", 1, 1, "never closed"),
    ],
)
def test_errors_name_the_place_and_the_reason(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(TextError) as caught:
        parse(text, jsonc=False)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ('{"hooks": []}', PATH, "hooks must be an object, but it is an array"),
        ('{"hooks": {"Pre": "x"}}', PATH, "hooks.Pre must be an array, but it is a string"),
        ('{"hooks": null}', PATH, "but it is null"),
        ("[]", PATH, "the document must be an object"),
        ('{"a": [1]}', ("a", 3), "a has no element 3"),
        ("{}", ("a", 0), "does not exist"),
    ],
)
def test_a_path_that_does_not_fit_the_file_is_refused(text: str, path: Any, words: str) -> None:
    with pytest.raises(TextError, match=words):
        append(text, path, ITEM, jsonc=False)


def test_removing_or_replacing_what_is_not_there_is_an_error() -> None:
    with pytest.raises(TextError, match="there is no a"):
        remove("{}", ("a",), jsonc=False)
    with pytest.raises(TextError, match=r"there is no a\.b"):
        replace_item('{"a": {}}', ("a", "b", "c"), 1, jsonc=False)


def test_data_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        append("[]", (), float("nan"), jsonc=False)
