"""Front matter is read as YAML reads it, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehook.textedit.document import ConfigError
from onehook.textedit.front_matter import Page

PAGE = r"""---
name: guard   # a comment
description: Use it when: the build fails # or so
hooks:
  PreToolUse:
    - matcher: "Bash|Write"
      hooks:
        - type: command
          command: "./check.sh \"$1\" # not a comment"
          timeout: 5
    - matcher: 'it''s'
      hooks: [{type: command, command: "echo a: b, c"}, {type: command, command: echo d}]
  Stop:
  - hooks:
    -   type: command
        command: |
          first
            indented

          last
        async: false
  # a comment
  PostToolUse:
    - hooks:
        - type: command
          command: >-
            one line
            in two
        - type: command
          command: plain words
            that go on
model: opus
---
hooks: not these
"""


def test_the_yaml_that_people_write_is_read():
    hooks = Page(PAGE).get("hooks")
    assert hooks["PreToolUse"] == [
        {"matcher": "Bash|Write", "hooks": [{"type": "command", "command": './check.sh "$1" # not a comment', "timeout": 5}]},
        {"matcher": "it's", "hooks": [{"type": "command", "command": "echo a: b, c"}, {"type": "command", "command": "echo d"}]},
    ]
    assert hooks["Stop"] == [{"hooks": [{"type": "command", "command": "first\n  indented\n\nlast\n", "async": False}]}]
    assert [one["command"] for one in hooks["PostToolUse"][0]["hooks"]] == ["one line in two", "plain words that go on"]
    assert Page(PAGE).get("name") == "guard" and Page(PAGE).get("missing") is None


def test_one_key_is_taken_out_and_nothing_else_changes():
    assert Page(PAGE).without("hooks") == PAGE[: PAGE.index("hooks:\n")] + PAGE[PAGE.index("model:") :]


@pytest.mark.parametrize("text", ["", "# a page\n", "---\nname: x\n", "text\n---\nhooks: {}\n---\n"])
def test_a_page_without_front_matter_has_no_keys(text):
    assert Page(text).get("hooks") is None


def test_a_comment_is_behind_a_value_and_not_in_a_string():
    assert Page('---\nhooks: [" #", \'a # b\'] # [c]\nnext: {a: "# b"} # c\n---\n').get("hooks") == [" #", "a # b"]
    assert Page('---\nhooks: {a: "b # c"} # d}\n---\n').get("hooks") == {"a": "b # c"}


@pytest.mark.parametrize(
    "hooks",
    [
        "&anchor\n  a: b",
        "*alias",
        "!tag x",
        "[a, b",
        '{a: "b}',
        "\n  a: b\n   c: d",
        "\n\ta: b",
        "\n  a: b\n  a: c",
        "\n  - a\n  b: c",
        '"a" b',
        "[a #b]",
        "[a, # the first\n  b]",
        "[a] b # c",
        "a\n\n  b",
        "a\n  # b\n  c",
        '"a\n  # b\n  c"',
        "a: b",
        "- a",
        "\n  ]: a",
        '\n  "\\x": a',
        "a # b\n  c",
        "[,]",
        "{: a}",
    ],
)
def test_what_cannot_be_read_is_an_error(hooks):
    with pytest.raises(ConfigError, match="cannot read this front matter"):
        Page(f"---\nhooks: {hooks}\n---\n").get("hooks")


words = st.text(st.characters(codec="ascii", min_codepoint=32), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def block(value, indent):
    """A value as block YAML, its strings quoted as in JSON."""
    if isinstance(value, dict) and value:
        return "".join(f"\n{' ' * indent}{json.dumps(key)}: {block(one, indent + 2)}" for key, one in value.items())
    if isinstance(value, list) and value:
        return "".join(f"\n{' ' * indent}- {block(one, indent + 2)}" for one in value)
    return json.dumps(value)


@given(values)
def test_blocks_and_json_are_read_alike(value):
    assert Page(f"---\nhooks: {block(value, 2)}\nnext: 1\n---\n").get("hooks") == value
    assert Page(f"---\nhooks: {json.dumps(value)}\n---\n").get("hooks") == value
