"""Editing YAML text: what is added or removed, and that every other byte stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehook.textedit.text import TextError
from onehook.textedit.yaml_edit import append, parse, remove, replace_item, set_value

ENTRY = {"command": "/bin/sh -c 'x'", "timeout": 30}
LINES = "- command: \"/bin/sh -c 'x'\"\n"
PLACE = ("hooks", "pre_tool_call")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"hooks:\n  pre_tool_call:\n    {LINES}      timeout: 30\n"),
        ("# mine\nmodel: m", f"# mine\nmodel: m\nhooks:\n  pre_tool_call:\n    {LINES}      timeout: 30\n"),
        ("a: 1\r\n", "a: 1\r\nhooks:\r\n  pre_tool_call:\r\n    - command: \"/bin/sh -c 'x'\"\r\n      timeout: 30\r\n"),
        ("hooks: {}\nb: 2\n", f"hooks:\n  pre_tool_call:\n    {LINES}      timeout: 30\nb: 2\n"),
        ("hooks:\nb: 2\n", f"hooks:\n  pre_tool_call:\n    {LINES}      timeout: 30\nb: 2\n"),
        (
            "hooks:\n    other: # kept\n    - command: x\n# of b\nb: 2\n",
            f"hooks:\n    other: # kept\n    - command: x\n    pre_tool_call:\n      {LINES}        timeout: 30\n# of b\nb: 2\n",
        ),
        (
            "hooks:\n  pre_tool_call:\n  - command: x  # first\n    timeout: 5\n\nb: |\n  - not a list\n",
            f"hooks:\n  pre_tool_call:\n  - command: x  # first\n    timeout: 5\n  {LINES}    timeout: 30\n\nb: |\n  - not a list\n",
        ),
        ("hooks:\n  pre_tool_call: []\n", f"hooks:\n  pre_tool_call:\n    {LINES}      timeout: 30\n"),
    ],
)
def test_an_entry_is_added_and_taken_out_again(before: str, after: str) -> None:
    added = append(before, PLACE, ENTRY)
    assert added == after
    at = len(parse(added)["hooks"]["pre_tool_call"]) - 1
    assert parse(added)["hooks"]["pre_tool_call"][at] == ENTRY
    gone = remove(added, (*PLACE, at))
    kept = {key: value for key, value in parse(before).items() if key != "hooks"}
    assert {key: value for key, value in parse(gone).items() if key != "hooks"} == kept
    assert ENTRY not in parse(gone)["hooks"]["pre_tool_call"]


def test_what_is_replaced_is_replaced_alone() -> None:
    before = "hooks:\n  e:\n    # one\n    - command: a\n    # two\n    - command: b\n      timeout: 3\nz: 1 # end\n"
    after = "hooks:\n  e:\n    # one\n    - command: a\n    # two\n    - command: c\nz: 1 # end\n"
    assert replace_item(before, ("hooks", "e", 1), {"command": "c"}) == after
    assert replace_item(before, ("hooks", "e", 0), {"command": "a"}) == before
    assert remove(before, ("hooks", "e", 0)) == "hooks:\n  e:\n    # one\n    # two\n    - command: b\n      timeout: 3\nz: 1 # end\n"
    assert set_value("a:\n  b: 1\n", ("a", "c"), True) == "a:\n  b: 1\n  c: true\n"
    assert set_value("a:\n  b: 1\n", ("a", "b"), "no") == "a:\n  b: no\n"
    assert set_value("a:\n  b: 1\n", ("a", "b"), "true") == 'a:\n  b: "true"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hooks: [1]\n", "line 1, column 1: hooks must be a mapping"),
        ("hooks: {pre_tool_call: [{command: x}]}\n", "is written on one line: write each of its entries on a separate line"),
        ("hooks:\n  pre_tool_call: x\n", "line 2, column 1: hooks.pre_tool_call must be a list"),
        ("a: &anchor 1\n", "line 1, column 1: cannot read this YAML: 'a: &anchor 1'"),
        ("a: 1\n b: 2\n", "cannot read this YAML"),
        ("a: 1\na: 2\n", "cannot read this YAML"),
        ("\ta: 1\n", "cannot read this YAML"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str, message: str) -> None:
    with pytest.raises(TextError) as raised:
        append(text, PLACE, ENTRY)
    assert message in str(raised.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b c", "d:e", "f#"]), inner, max_size=3),
    max_leaves=6,
)


@given(first=VALUES, second=VALUES)
def test_any_value_is_read_as_it_was_written(first: Any, second: Any) -> None:
    text = set_value("# head\nkept: 1\n", ("x", "y"), first)
    assert parse(text) == {"kept": 1, "x": {"y": first}}
    more = append(text, ("list",), second)
    assert parse(more) == {"kept": 1, "x": {"y": first}, "list": [second]}
    assert parse(remove(more, ("x",))) == {"kept": 1, "list": [second]}
    assert more.startswith(text)
