"""docs/reference.md matches the code, and leaves nothing unexplained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onehook.core import EVENTS, TOOLS
from onehook.docgen import reference

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def test_the_committed_page_is_fresh() -> None:
    assert reference.page(ROOT) == PAGE, "run: python -m onehook.docgen.matrix"


def test_every_common_event_and_tool_is_explained() -> None:
    assert set(reference.ABOUT_EVENTS) == set(EVENTS)
    assert all(f"\n| `{name}` | " in PAGE for name in (*EVENTS, *TOOLS))


def test_a_stop_that_takes_no_answer_is_not_listed_as_one_that_a_deny_prevents() -> None:
    stop = next(line for line in PAGE.splitlines() if line.startswith("| `Stop` |"))
    denied = stop.split("|")[4]
    assert "claude" in denied and "cline" not in denied and "all of them" not in denied


@pytest.mark.parametrize("name", ["event", "response"])
def test_every_field_is_explained(name: str) -> None:
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.json").read_text(encoding="utf-8"))
    assert not [field for field, about in schema["properties"].items() if not about.get("description")]
