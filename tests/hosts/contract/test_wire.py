"""The open contract is recognized by its two keys."""

from __future__ import annotations

import pytest

from onehook.core import PayloadError
from onehook.hosts import detect


def test_the_open_contract_is_told_by_its_two_keys_alone() -> None:
    assert detect({"tool_name": "Shell", "tool_input": {"command": "ls"}}).ID == "contract"
    with pytest.raises(PayloadError):
        detect({"tool_name": "Shell", "tool_input": {"command": "ls"}, "more": 1})
