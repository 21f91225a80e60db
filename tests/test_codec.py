"""The codec that does without json gives the same results as json."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onehook import codec
from onehook.core import PayloadError

TEXT = st.text(st.characters())  # lone surrogates too
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_what_is_written_is_what_json_writes_and_reads_back(value):
    text = codec.dumps(value)
    assert text == json.dumps(value)
    assert text.isascii() and "\n" not in text
    assert codec.loads(text) == value


@given(JSON, st.sampled_from(["", " ", "\r\n", "\t "]), st.sampled_from([None, 0, 1]))
def test_blanks_and_indents_do_not_matter(value, blanks, indent):
    assert codec.loads(blanks + json.dumps(value, indent=indent) + blanks) == value


@given(st.text(st.sampled_from('{}[]",:.0123456789eE+-truefalsn \\u\n\t\x00\ud800\u00e9'), max_size=40))
@settings(max_examples=500)
def test_a_text_is_read_as_json_reads_it_or_is_a_payload_error(text):
    try:
        expected = json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        with pytest.raises(PayloadError):
            codec.loads(text)
    else:
        assert codec.loads(text) == expected


@given(st.binary(max_size=40))
def test_bytes_become_text_or_a_payload_error(data):
    try:
        text = codec.text_of(data)
    except PayloadError as error:
        assert "not UTF-8" in str(error)
    else:
        assert isinstance(text, str)


@given(JSON)
def test_the_fallback_for_other_interpreters_does_the_same(value):
    scan, encode, encode_compact = codec._stdlib_codec()
    assert encode(value) == codec.dumps(value)
    assert encode_compact(value) == codec._encode_compact(value)
    assert scan(encode(value), 0)[0] == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", {1, 2}, {"a": b"x"}], ids=repr)
@pytest.mark.parametrize("which", ["c", "stdlib"])
def test_what_is_not_json_is_not_written(value, which):
    encode = codec.dumps if which == "c" else codec._stdlib_codec()[1]
    with pytest.raises((TypeError, ValueError)):
        encode(value)


def test_a_circle_is_not_written():
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="nested too deeply"):
        codec.dumps(circle)
