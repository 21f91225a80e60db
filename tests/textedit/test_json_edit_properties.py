"""What must hold for every document: an edit can be undone to the byte, and touches nothing else."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook.textedit.json_edit import append, remove, replace_item, set_value
from onehook.textedit.json_tree import parse
from onehook.textedit.text import Steps
from tests.textedit.documents import KEYS, VALUES, documents

pytestmark = pytest.mark.parametrize("jsonc", [False, True])
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def paths_of(value: Any, kind: type, path: Steps = ()) -> list[Steps]:
    found: list[Steps] = [path] if isinstance(value, kind) else []
    if isinstance(value, (dict, list)):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            found += paths_of(inner, kind, (*path, step))
    return found


def at(value: Any, path: Steps) -> Any:
    for step in path:
        value = value[step]
    return value


def same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


def is_subsequence(small: str, big: str) -> bool:
    rest = iter(big)
    return all(char in rest for char in small)


@given(st.data())
@settings(max_examples=100)
def test_parse_gives_the_data_that_was_written(jsonc: bool, data: st.DataObject) -> None:
    value, text = data.draw(documents(VALUES, jsonc))
    root = parse(text, jsonc=jsonc)
    assert same(root.value, value)
    assert not re.search(r"[\s]", text[root.start] + text[root.end - 1])


@given(st.data())
@settings(max_examples=100)
def test_appending_and_removing_items_gives_back_the_exact_text(jsonc: bool, data: st.DataObject) -> None:
    value, text = data.draw(documents(st.dictionaries(KEYS, st.lists(VALUES, max_size=3), min_size=1), jsonc))
    path = data.draw(st.sampled_from(paths_of(value, list)))
    items = data.draw(st.lists(VALUES, min_size=1, max_size=3))
    size = len(at(value, path))
    edited, expected = text, copy.deepcopy(value)
    for item in items:
        edited = append(edited, path, item, jsonc=jsonc, escape_slashes=data.draw(st.booleans()))
        at(expected, path).append(item)
        assert same(parse(edited, jsonc=jsonc).value, expected)
        assert is_subsequence(text, edited)
    for left in range(len(items), 0, -1):
        edited = remove(edited, (*path, size + data.draw(st.integers(0, left - 1))), jsonc=jsonc)
    assert edited == text


@given(st.data())
@settings(max_examples=100)
def test_removing_the_created_container_gives_back_the_exact_text(jsonc: bool, data: st.DataObject) -> None:
    value, text = data.draw(documents(OBJECTS, jsonc))
    base = data.draw(st.sampled_from(paths_of(value, dict)))
    fresh = data.draw(KEYS.filter(lambda key: key not in at(value, base)))
    path = (*base, fresh, *data.draw(st.lists(KEYS, max_size=2)))
    item = data.draw(VALUES)
    if data.draw(st.booleans()):
        edited, held = append(text, path, item, jsonc=jsonc), [item]
    else:
        edited, held = set_value(text, path, item, jsonc=jsonc), item
    result = parse(edited, jsonc=jsonc).value
    assert same(at(result, path), held)
    assert list(at(result, base))[-1] == fresh
    del at(result, base)[fresh]
    assert same(result, value)
    assert is_subsequence(text, edited)
    assert remove(edited, (*base, fresh), jsonc=jsonc) == text


@given(st.data())
@settings(max_examples=100)
def test_removing_anything_leaves_the_rest_equal_and_in_order(jsonc: bool, data: st.DataObject) -> None:
    value, text = data.draw(documents(OBJECTS.filter(bool), jsonc))
    path = data.draw(st.sampled_from([path for path in paths_of(value, object) if path]))
    result = remove(text, path, jsonc=jsonc)
    expected = copy.deepcopy(value)
    del at(expected, path[:-1])[path[-1]]
    assert same(parse(result, jsonc=jsonc).value, expected)
    assert is_subsequence(result, text)


@given(st.data())
@settings(max_examples=100)
def test_replacing_changes_one_span_only(jsonc: bool, data: st.DataObject) -> None:
    value, text = data.draw(documents(OBJECTS.filter(bool), jsonc))
    path = data.draw(st.sampled_from([path for path in paths_of(value, object) if path]))
    new = data.draw(VALUES)
    result = replace_item(text, path, new, jsonc=jsonc)
    expected = copy.deepcopy(value)
    at(expected, path[:-1])[path[-1]] = new
    assert same(parse(result, jsonc=jsonc).value, expected)
    node = parse(text, jsonc=jsonc)
    for step in path:
        entry = node.child(step)
        assert entry is not None
        node = entry.node
    assert result.startswith(text[: node.start]) and result.endswith(text[node.end :])
    assert set_value(text, path, new, jsonc=jsonc) == result
    assert replace_item(text, path, at(value, path), jsonc=jsonc) == text


@given(st.data())
@settings(max_examples=100)
def test_an_empty_document_comes_back_after_removing_the_root(jsonc: bool, data: st.DataObject) -> None:
    space = data.draw(st.text(" \t\r\n", max_size=4))
    note = data.draw(st.sampled_from(["", "// c", "// c\n", "/* c */", "/* c */\r\n "])) if jsonc else ""
    text = data.draw(st.sampled_from(["", "\ufeff"])) + space + note
    edited = append(text, ("hooks", "Stop"), {"a": 1}, jsonc=jsonc)
    assert parse(edited, jsonc=jsonc).value == {"hooks": {"Stop": [{"a": 1}]}}
    assert remove(edited, (), jsonc=jsonc) == text


@given(item=VALUES)
@settings(max_examples=100)
def test_escaped_slashes_leave_nothing_that_looks_like_a_comment(jsonc: bool, item: Any) -> None:
    result = append("{}", ("hooks",), item, jsonc=jsonc, escape_slashes=True)
    assert not re.search(r"//|/\*|\*/", result)
    assert same(json.loads(result), {"hooks": [item]})
    result.encode("utf-8")


@given(text=st.text('{}[],:"\\/*\n\r\t 1a-.etrufalsn\ufeff', max_size=30))
@settings(max_examples=300)
def test_the_plain_parser_accepts_what_the_standard_library_accepts(jsonc: bool, text: str) -> None:
    body = text.removeprefix("\ufeff")
    pairs: list[list[str]] = []

    def collect(found: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs.append([key for key, _ in found])
        return dict(found)

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        expected = json.loads(body, object_pairs_hook=collect, parse_constant=refuse)
    except ValueError:
        expected = refuse
    if any(len(keys) != len(set(keys)) for keys in pairs):
        expected = refuse
    try:
        actual = parse(text, jsonc=False).value
    except ValueError:
        actual = refuse
    assert actual is expected if refuse in (actual, expected) else same(actual, expected)
    if actual is not refuse and jsonc:
        assert same(parse(text, jsonc=True).value, actual)
