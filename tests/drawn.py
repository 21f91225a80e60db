"""Random examples that cost less to draw."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

_FIRST = 0xE000  # for private use: no text in our modules has such characters, and Hypothesis draws some of those


def lists_of(words: Sequence[str], min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[list[str]]:
    """st.lists(st.sampled_from(words)), drawn as one text whose characters stand for the words.

    Each element of a list is a choice that Hypothesis keeps account of, which takes longer than most tests of the list.
    """
    letters = "".join(chr(_FIRST + number) for number in range(len(words)))
    drawn = st.text(st.sampled_from(letters), min_size=min_size, max_size=max_size)
    return drawn.map(lambda text: [words[ord(letter) - _FIRST] for letter in text])
