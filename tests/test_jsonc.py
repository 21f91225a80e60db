"""The one reader of JSON with comments."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehook.jsonc import comment_spans, read_jsonc, read_regular, without_comments

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='ab"\\/* \n\té'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='a"/*\\', max_size=3), inner, max_size=3),
    max_leaves=8,
)
COMMENTS = st.sampled_from(["// a\n", "/* b */", "/* // \n c */", '// "d\n', "/**/", "//\r\n"])


@given(VALUES, st.lists(COMMENTS, max_size=3), st.lists(COMMENTS, max_size=3))
def test_comments_around_a_value_change_nothing(value, before, after):
    text = f"{''.join(before)}{json.dumps(value)} {''.join(after)}"
    bare = without_comments(text)
    assert json.loads(bare) == value
    assert len(bare) == len(text) and [at for at, char in enumerate(bare) if char == "\n"] == [
        at for at, char in enumerate(text) if char == "\n"
    ]


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ('{"a": 1}', []),
        ('{"a": "http://x"}', []),
        ('{"a": "\\"//"} // b', ["// b"]),
        ("/* a */ {} // b\r\n", ["/* a */", "// b"]),
        ("{} /* never closed", []),
    ],
)
def test_what_is_a_comment(text, comments):
    assert [text[start:end] for start, end in comment_spans(text)] == comments


def test_what_cannot_be_read_is_empty(tmp_path):
    for name, content in {"list": "[1]", "broken": '{"a": ', "empty": ""}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert [read_jsonc(tmp_path / name) for name in ("list", "broken", "empty", "missing")] == [{}] * 4
    (tmp_path / "settings.json").write_bytes(b'\xef\xbb\xbf// mine\n{"a": 1}')
    assert read_jsonc(tmp_path / "settings.json") == {"a": 1}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(tmp_path / "pipe")
    assert read_jsonc(tmp_path / "pipe") == {}
