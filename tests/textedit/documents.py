"""Random JSON and JSONC documents, written with random whitespace, comments and line endings."""

from __future__ import annotations

import itertools
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


# What is between two tokens; in a JSONC document, sometimes a comment.
_COMMENTED = st.tuples(SPACES, COMMENTS, SPACES).map("".join)
_GAPS = {
    jsonc: st.lists(st.one_of(SPACES, SPACES, SPACES, _COMMENTED) if jsonc else SPACES, min_size=1, max_size=9) for jsonc in (False, True)
}
_CHOICES = st.lists(st.booleans(), min_size=1, max_size=7)


class _Writer:
    """Writes a value in one of many ways. It cycles through a few drawn gaps and choices: drawing one per token takes most of the time."""

    def __init__(self, gaps: list[str], choices: list[bool], jsonc: bool) -> None:
        self.gaps, self.choices, self.jsonc = itertools.cycle(gaps), itertools.cycle(choices), jsonc

    def string(self, value: str) -> str:
        shown = json.dumps(value, ensure_ascii=next(self.choices) or "\ud800" in value)
        return shown.replace("/", "\\/") if next(self.choices) else shown

    def between(self, text: str) -> str:
        return next(self.gaps) + text + next(self.gaps)

    def written(self, value: Any) -> str:
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, dict):
            return "{" + self.items([self.string(key) + self.between(":") + self.written(inner) for key, inner in value.items()]) + "}"
        return "[" + self.items([self.written(inner) for inner in value]) + "]" if isinstance(value, list) else json.dumps(value)

    def items(self, parts: list[str]) -> str:
        body = ",".join(self.between(part) for part in parts) or next(self.gaps)
        return body + "," + next(self.gaps) if parts and self.jsonc and next(self.choices) else body


_ONE_IN_FOUR = st.integers(0, 3)
_ENDS = st.sampled_from(["", "\n", "\r\n"])
_STARTS = st.sampled_from(["", "", "\ufeff"])
_INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])


@st.composite
def pretty(draw: st.DrawFn, value: Any) -> str:
    """A document as a formatter writes it, the common case."""
    indent = draw(_INDENTS)
    text = json.dumps(value, indent=indent)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def documents(draw: st.DrawFn, values: st.SearchStrategy[Any], jsonc: bool) -> tuple[Any, str]:
    """A value and one of the many strings that represent it."""
    value = draw(values)
    if draw(_ONE_IN_FOUR) == 0:
        body = draw(pretty(value)) + draw(_ENDS)
    else:
        writer = _Writer(draw(_GAPS[jsonc]), draw(_CHOICES), jsonc)
        body = writer.between(writer.written(value))
    return value, draw(_STARTS) + body
