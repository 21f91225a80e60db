"""Editing TOML text: other bytes stay, and removing what was added restores the exact text."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.textedit.text import TextError, value_at
from onehook.textedit.toml_edit import append, remove, replace_item, set_value
from onehook.textedit.toml_tree import parse

GROUP = {"matcher": "Bash", "hooks": [{"type": "command", "command": 'sh -c "x" # \\', "timeout": 5}]}
PATH = ("hooks", "PreToolUse")
BLOCK = """[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "sh -c \\"x\\" # \\\\"
timeout = 5
"""

DOCUMENTS = {
    "empty": "",
    "byte order mark": "\ufeff",
    "blank lines": "\n\n",
    "spaces": "  ",
    "no final line end": "a = 1",
    "only a comment": "# hello",
    "crlf": "a = 1\r\n# c\r\n",
    "bom and crlf": "\ufeffa = 1\r\n",
    "table before": "[hooks]\nx = 1\n[other]\ny = 2\n",
    "own array": '[[hooks.PreToolUse]]\n\n[[hooks.PreToolUse.hooks]]\nt = "c" # hi\n\n# tail\n[z]\nq=1',
    "implicit parent": '[features]\nhooks = true\n\n[hooks.state."a:b"]\nx = 1\n',
    "header in a string": "a = \"\"\"\n[[hooks.PreToolUse]]\n\"\"\"\nb = '''\n# [x]'''\n\n",
    "dotted": "hooks.a.b = 1\n",
    "odd spacing": "  [ hooks . 'PostToolUse' ]  # c\n\t k\t=\t[ 1,\n 2, ] # d\n\n\n# end\n\n",
    "dates": "d = 1979-05-27 07:32:00Z # x\n[t]\nf = -inf\n",
    "array in the middle": "[[hooks.PreToolUse]]\nmatcher='a'\n[last]\nx={a=1,b=[{c='}'}]}\n",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_appended_tables_are_the_last_and_removing_them_gives_back_the_exact_text(text: str) -> None:
    before = parse(text)
    size = len(before.get("hooks", {}).get("PreToolUse", []))
    edited = text
    for _ in range(2):
        edited = append(edited, PATH, GROUP)
        assert edited.startswith(text)
    assert parse(edited)["hooks"]["PreToolUse"][size:] == [GROUP, GROUP]
    assert remove(remove(edited, (*PATH, size)), (*PATH, size)) == text
    assert remove(remove(edited, (*PATH, size + 1)), (*PATH, size)) == text


def test_the_block_reads_like_a_hand_written_one() -> None:
    assert append("a = 1\n", PATH, GROUP) == "a = 1\n\n" + BLOCK
    assert append("a = 1\r\n", PATH, GROUP) == ("a = 1\n\n" + BLOCK).replace("\n", "\r\n")


def added_by(text: str, path: tuple[str, ...]) -> tuple[str, ...] | None:
    """The first part of a path that the text does not have."""
    missing = (path[:size] for size in range(1, len(path) + 1) if value_at(parse(text), path[:size]) is None)
    return next(missing, None)


def test_a_new_array_can_be_removed_as_a_whole() -> None:
    assert remove(append("[hooks]\n", PATH, GROUP), PATH) == "[hooks]\n"


def test_tables_written_behind_ours_stay_when_ours_go() -> None:
    edited = append("a = 1\n", PATH, GROUP) + '\n# theirs\n[hooks.state."x"]\ntrusted = true\n'
    assert remove(edited, (*PATH, 0)) == 'a = 1\n\n# theirs\n[hooks.state."x"]\ntrusted = true\n'


def test_a_nested_array_of_an_earlier_element_is_extended_in_place() -> None:
    text = "[[hooks.PreToolUse]]\nmatcher = 'a'\n# c\n\n[[hooks.PreToolUse]]\nmatcher = 'b'\n"
    path = (*PATH, 0, "hooks")
    edited = append(text, path, {"type": "command"})
    assert parse(edited)["hooks"]["PreToolUse"][0] == {"matcher": "a", "hooks": [{"type": "command"}]}
    assert remove(edited, (*path, 0)) == text


@pytest.mark.parametrize(
    "array",
    [
        "[]",
        "[ ]",
        "[\n]",
        "[ # none\n]",
        "[{a = 1}]",
        "[ {a = 1}, ]",
        "[\n  {a = 1}, # one\n  {a = 2} # two\n]",
        "[\r\n\t{a = ']'},\r\n\t# end\r\n]",
        "[{a = 1} # x\n]",
        "[{a = 1}\n, # y\n]",
    ],
)
@pytest.mark.parametrize("head", ["[hooks]\nPreToolUse = ", "hooks.PreToolUse = ", "hooks = { PreToolUse = "])
def test_inline_arrays_are_extended_inline_and_restored(head: str, array: str) -> None:
    text = head + array + (" }" if "{" in head else "") + " # after\n[z]\n"
    try:
        before = parse(text)["hooks"]["PreToolUse"]
    except TextError:
        pytest.skip("a line break inside an inline table is not TOML 1.0")
    edited = text
    for _ in range(2):
        edited = append(edited, PATH, GROUP)
    assert parse(edited)["hooks"]["PreToolUse"] == [*before, GROUP, GROUP]
    for index in (len(before) + 1, len(before)):
        edited = remove(edited, (*PATH, index))
    assert edited == text


def test_an_only_item_of_an_inline_array_goes_without_a_trace() -> None:
    for text in ("[hooks]\nPreToolUse = []\n", "[hooks]\nPreToolUse = [\n  # none\n]\n"):
        assert remove(append(text, PATH, GROUP), (*PATH, 0)) == text


SETTINGS = {
    "empty": "",
    "existing table": "[features]\na = 1 # c\n\n# tail\n[z]\nq = 1\n",
    "existing empty table": "[features]\n\n[features.sub]\nx = 1\n",
    "implied table": "[features.sub]\nx = 1\n",
    "no final line end": "[features]\n  a = 1",
    "header only, no line end": "[features]",
    "other tables": "# head\n[z]\r\nq = 1\r\n",
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("path", [("features", "hooks"), ("top",)])
def test_a_new_key_and_its_table_can_be_removed_to_the_byte(text: str, path: tuple[str, ...]) -> None:
    edited = set_value(text, path, True)
    expected = copy.deepcopy(parse(text))
    table = expected
    for step in path[:-1]:
        table = table.setdefault(step, {})
    table[path[-1]] = True
    assert parse(edited) == expected
    assert remove(edited, added_by(text, path) or ()) == text


def test_an_existing_value_is_replaced_in_its_place() -> None:
    text = "[features]\r\nhooks  =  false # why\r\nx = { deep = [1, {y = 2}] }\r\n"
    assert set_value(text, ("features", "hooks"), True) == text.replace("false", "true")
    assert replace_item(text, ("features", "x", "deep", 1, "y"), "é") == text.replace("y = 2", 'y = "é"')
    assert replace_item(text, ("features", "hooks"), False) == text


def test_a_table_element_is_replaced_as_one_block() -> None:
    text = append("a = 1\n", PATH, {"matcher": "old"}) + "\n# theirs\n[z]\n"
    assert replace_item(text, (*PATH, 0), GROUP) == "a = 1\n\n" + BLOCK + "\n# theirs\n[z]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hooks = 1\n", "must be|inline value"),
        ("hooks = {}\n", "inline value"),
        ("[hooks.PreToolUse]\nx = 1\n", "must be an array"),
        ("a = 1\na = 2\n", "already exists|xisting|overwrite"),
        ("[hooks\n", "line 1"),
    ],
)
def test_what_cannot_be_extended_safely_is_refused(text: str, words: str) -> None:
    with pytest.raises(TextError, match=words):
        append(text, PATH, GROUP)


def test_removing_or_replacing_what_is_not_there_is_an_error() -> None:
    paths: list[tuple[str | int, ...]] = [("a", "b"), (*PATH, 0), ()]
    for path in paths:
        with pytest.raises(TextError, match="there is no"):
            remove("a = 1\n", path)
    with pytest.raises(TextError, match="there is no"):
        replace_item("a = 1\n", ("b",), 1)


def test_null_is_refused_with_the_fix() -> None:
    with pytest.raises(ValueError, match="leave the key out"):
        append("", PATH, {"a": None})


def test_an_empty_value_can_replace_another_empty_value() -> None:
    assert replace_item("a = []\n", ("a",), {}) == "a = {}\n"


def test_errors_name_the_place() -> None:
    with pytest.raises(TextError) as caught:
        parse("a = 1\nbc = @\n")
    assert (caught.value.line, caught.value.column) == (2, 6)


LINES = st.sampled_from(["", "# note", "   ", "# [[hooks.PreToolUse]]", "#"])
BODIES = st.sampled_from(["a = 1", "b = 'x' # c", 'c = """\n[[q]]\n"""', "d = [\n 1, # [\n 2\n]", "e.f = {g = '#'}", '"h i" = 1e3'])
HEADERS = ["[t]", "[t.u] # c", "[[l]]", "[[l.m]]", "[hooks.state]", "[[hooks.PreToolUse]]"]


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(LINES, max_size=2)) + draw(st.lists(BODIES, max_size=3, unique=True))
    for header in HEADERS:
        for _ in range(draw(st.integers(0, 2 if header.startswith("[[") else 1))):
            lines += [
                header,
                *draw(st.lists(BODIES, max_size=2, unique=True)),
                *draw(st.lists(LINES, max_size=2)),
            ]
            if header == "[[hooks.PreToolUse]]" and draw(st.booleans()):
                lines += ["[[hooks.PreToolUse.hooks]]", *draw(st.lists(LINES, max_size=1))]
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "\ufeff"])) + text


STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TABLES = st.dictionaries(STRINGS, st.one_of(STRINGS, st.integers(-9, 9)), min_size=1)
ITEMS = st.fixed_dictionaries(
    {"matcher": STRINGS},
    optional={"hooks": st.lists(TABLES, max_size=2)},
)


@given(text=toml_texts(), item=ITEMS)
@settings(max_examples=120)
def test_any_text_comes_back_exactly_after_append_and_remove(text: str, item: dict[str, Any]) -> None:
    try:
        before = parse(text)
    except TextError:
        return
    size = len(before.get("hooks", {}).get("PreToolUse", []))
    edited = append(text, PATH, item)
    assert edited.startswith(text)
    assert parse(edited)["hooks"]["PreToolUse"][size] == item
    assert remove(edited, (*PATH, size)) == text
    if added := added_by(text, PATH):
        assert remove(edited, added) == text
