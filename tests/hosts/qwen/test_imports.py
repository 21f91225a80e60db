"""Importing hooks of Qwen Code into a manifest."""

from __future__ import annotations

import pytest

from tests.setup.importing import one


@pytest.mark.parametrize(
    ("matcher", "sources"),
    [
        ("resume", ["resume"]),
        ("startup|clear", ["startup", "clear"]),
        ("c.*", ["clear", "compact", "branch"]),
        (".*", []),
        ("branch", ["fork"]),
    ],
)
def test_qwens_matchers_on_the_start_of_a_session(matcher, sources):
    expected = [{"branch": "fork"}.get(source, source) for source in sources]
    assert one("qwen", "SessionStart", matcher=matcher).sources == expected
    assert "never matches" in one("qwen", "SessionStart", matcher="begin").refused


def test_a_start_that_is_no_regular_expression_is_refused():
    assert "has no equivalent in a manifest" in one("qwen", "SessionStart", matcher="(").refused
