"""Many requests at the same time, with hooks and people killed at random. Longer: python -m tests.desk.stress 5000 50"""

from __future__ import annotations

from tests.desk.stress import run


def test_none_is_lost_none_answered_twice_and_none_allowed_without_an_answer(tmp_path):
    hooks, people = run(200, 50, tmp_path / "results")
    assert hooks and people
