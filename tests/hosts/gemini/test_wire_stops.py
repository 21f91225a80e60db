"""A stop that is always denied ends on Gemini CLI too, although stop_hook_active is false again after every tool call (0.61.0)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onehook.core import Hooks, Response
from onehook.runner import answer

PAYLOADS = json.loads((Path(__file__).parent / "payloads.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path))


def sent_back(decision: str | None = "deny", **fields: Any) -> bool:
    hooks = Hooks(stop_limit=3)
    hooks.on("Stop")(lambda event: Response(decision, "go on") if decision else None)
    output = answer(json.dumps({**PAYLOADS["AfterAgent"], **fields}).encode(), lambda: hooks)
    return bool(json.loads(output.stdout).get("decision") == "deny")


def test_denials_in_a_row_are_counted_whatever_stop_hook_active_says() -> None:
    assert [sent_back(stop_hook_active=active) for active in (False, False, True, False)] == [True, True, True, False]


def test_after_it_was_let_go_counting_starts_again() -> None:
    assert [sent_back() for _ in range(8)] == [True, True, True, False] * 2


def test_another_prompt_is_another_chain() -> None:
    assert [sent_back() for _ in range(3)] == [True, True, True]
    assert sent_back(prompt="something else")
    assert not sent_back()


def test_a_stop_that_the_policy_allows_ends_the_chain() -> None:
    assert [sent_back(), sent_back(), sent_back(None), sent_back(), sent_back(), sent_back(), sent_back()] == [
        True, True, False, True, True, True, False,
    ]  # fmt: skip


def test_without_a_place_to_count_the_agent_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(blocked))
    assert not sent_back()
