"""Agents that are known but not supported yet are reported as such, tested with what each of them really sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness import fire, policy_text

from onehook.core import NotSupported
from onehook.hostkit.detect import NOT_YET
from onehook.hosts import detect

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
FILES = {
    "Auggie": "auggie-0.36.0-print",
    "Letta Code": "letta-code-0.32.18",
    "Reasonix": "reasonix-1.38.11",
}


def sent(title: str) -> list[dict[str, object]]:
    lines = (CAPTURES / f"{FILES[title]}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["stdin"] for line in lines]


def test_there_are_captures_of_each() -> None:
    assert set(FILES) == set(NOT_YET) and all(map(sent, FILES))


@pytest.mark.parametrize("title", FILES)
def test_each_is_called_by_its_name(title: str) -> None:
    for payload in sent(title):
        with pytest.raises(NotSupported, match=f"{title} is not supported yet"):
            detect(payload)


@pytest.mark.parametrize("title", FILES)
def test_it_is_no_error_where_errors_are_none_and_blocked_where_they_block(tmp_path: Path, title: str) -> None:
    policy = tmp_path / "policy.py"
    policy.write_text(policy_text("return deny('no')"), encoding="utf-8")
    for payload in sent(title):
        opened, closed = fire(policy, payload), fire(policy, payload, "--fail", "closed")
        assert (opened.exit_code, opened.stdout) == (0, "") and f"{title} is not supported yet" in opened.stderr
        assert f"{title} is not supported yet" in closed.stderr
        assert closed.exit_code == 2 or "PreToolUse" not in payload.values()


def test_deepagents_code_speaks_as_claude_code_does() -> None:
    lines = (CAPTURES / "deepagents-code-0.1.88.jsonl").read_text(encoding="utf-8").splitlines()
    assert {detect(json.loads(line)["stdin"]).ID for line in lines} == {"claude"}
