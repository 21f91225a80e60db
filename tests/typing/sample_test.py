"""A test of a policy as a user writes it; mypy --strict and pyright must accept it."""

from __future__ import annotations

from typing import Any

import pytest

from onehook.testing import Fire, Fired, Shot


@pytest.mark.hosts("claude", "codex")
@pytest.mark.policy("sample_policy.py")
def check_a_denial(fire: Fire) -> None:
    fired: Fired = fire("Bash", command="rm -rf /").assert_denied("rm -rf").assert_nothing_dropped()
    shot: Shot = fired["claude"]
    reason: str | None = shot.heard.reason
    wire: dict[str, dict[str, Any]] = fired.snapshot()
    assert reason and wire and fired.effects["codex"] == "blocked"
    fire("Write", file_path="x", hosts=["claude"], event="PostToolUse").assert_runs()
