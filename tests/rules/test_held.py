"""Whether a path is covered is checked for groups of globs; checking one glob at a time gives the same results."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from onehook.rules.held import _Globs, _segments

PART = st.sampled_from(["**", "*", "a", "b", "ab", "*.pem", "a*", "?", ".env", ""])
NAME = st.sampled_from(["a", "b", "ab", "x.pem", ".pem", ".env", "c", ""])


@given(st.lists(st.lists(PART, min_size=1, max_size=4), max_size=6), st.lists(NAME, min_size=1, max_size=4))
@example([["**", "*"]], ["c"])
@example([["**", "*.pem"]], ["a", "x.pem", "b"])
@example([["a", "b", "**"]], ["a", "b"])
@example([["**", "a", "b"]], ["c", "a", "b", "c"])
def test_globs_in_groups_cover_what_one_of_them_covers(globs, parts):
    assert _Globs(globs).cover(parts) == any(_segments(glob, parts) for glob in globs)
