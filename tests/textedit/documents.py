"""Random JSON and JSONC documents, written with random whitespace, comments and line ends."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["//", "/* x */", "https://a/*b*/", 'q"\\', "é\u2028😀", "\ud800", ",]}", "{[,"]),
)
KEYS = st.one_of(st.text(max_size=4), st.sampled_from(["hooks", "PreToolUse", "a b", "//", "x.y", "é"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=10,
)
SPACES = st.sampled_from(["", "", " ", "  ", "\t", "\n", "\r\n", "\n  ", "\r\n\t", "\n\n    ", " \n ", "\r"])
COMMENTS = st.sampled_from(["/* c */", "/**/", "// c\n", "// c, ]}\r\n", '/* \n, ] " */', '// "q\n', "//\n"])


@st.composite
def trivia(draw: st.DrawFn, jsonc: bool) -> str:
    """Whitespace between two tokens, with comments in a JSONC document."""
    text = draw(SPACES)
    if jsonc and draw(st.integers(0, 4)) == 0:
        text += draw(COMMENTS) + draw(SPACES)
    return text


def _string(draw: st.DrawFn, value: str) -> str:
    shown = json.dumps(value, ensure_ascii=draw(st.booleans()) or "\ud800" in value)
    return shown.replace("/", "\\/") if draw(st.booleans()) else shown


def _written(draw: st.DrawFn, value: Any, jsonc: bool) -> str:
    if isinstance(value, str):
        return _string(draw, value)
    if not isinstance(value, (dict, list)):
        return json.dumps(value)
    gap = trivia(jsonc)
    parts: list[str] = []
    for entry in value:
        head = ""
        if isinstance(value, dict):
            head = _string(draw, entry) + draw(gap) + ":" + draw(gap)
        inner = value[entry] if isinstance(value, dict) else entry
        parts.append(draw(gap) + head + _written(draw, inner, jsonc) + draw(gap))
    body = ",".join(parts)
    if not parts:
        body = draw(gap)
    elif jsonc and draw(st.booleans()):
        body += "," + draw(gap)
    return "{" + body + "}" if isinstance(value, dict) else "[" + body + "]"


@st.composite
def pretty(draw: st.DrawFn, value: Any) -> str:
    """A document as a formatter writes it, the common case."""
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    text = json.dumps(value, indent=indent)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def documents(draw: st.DrawFn, values: st.SearchStrategy[Any], jsonc: bool) -> tuple[Any, str]:
    """A value and one of the many texts that stand for it."""
    value = draw(values)
    if draw(st.integers(0, 3)) == 0:
        body = draw(pretty(value)) + draw(st.sampled_from(["", "\n", "\r\n"]))
    else:
        gap = trivia(jsonc)
        body = draw(gap) + _written(draw, value, jsonc) + draw(gap)
    return value, draw(st.sampled_from(["", "", "\ufeff"])) + body
