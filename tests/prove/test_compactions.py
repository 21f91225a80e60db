"""What counts as being told of a compaction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onehook.prove.compactions import KEPT, told_once
from onehook.prove.evidence import Evidence
from onehook.prove.process import Outcome

COMPACT = {"hook_event_name": "SessionStart", "source": "compact"}
seen = told_once(hook_event_name="SessionStart", source="compact")


def evidence(project: Path, *told: dict[str, str], turns: int = 2) -> Evidence:
    if told:
        (project / KEPT).write_text("".join(f"{json.dumps(one)}\n\n" for one in told), encoding="utf-8")
    return Evidence(project, project, Outcome(0, "", "", 0.0, False), turns, (), "")


@pytest.mark.parametrize(
    ("told", "is_seen"),
    [
        ([{**COMPACT, "session_id": "s"}], True),
        ([], False),
        ([COMPACT, COMPACT], False),
        ([{**COMPACT, "source": "startup"}], False),
        ([{"hook_event_name": "SessionStart"}], False),
        ([{"hook_event_name": "PreCompact", "source": "compact"}], False),
    ],
)
def test_one_event_and_no_other(tmp_path: Path, told: list[dict[str, str]], is_seen: bool) -> None:
    assert seen(evidence(tmp_path, *told)) is is_seen


def test_an_agent_that_never_asked_the_model_has_shown_nothing(tmp_path: Path) -> None:
    assert not seen(evidence(tmp_path, COMPACT, turns=0))
