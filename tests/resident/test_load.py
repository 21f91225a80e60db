"""The load test, for two seconds; load.py is the full test."""

from __future__ import annotations

import pytest

from .load import Load


@pytest.mark.slow
def test_no_answer_is_wrong_or_lost_and_nothing_is_left(native, tmp_path):
    found = Load(tmp_path, native, 2, 5).run(6)
    assert not found["wrong"]
    assert found["answers"] and found["ended"] and not found["left"], found
