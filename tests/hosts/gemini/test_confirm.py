"""Gemini CLI sends PreCompress before every request to the model (0.61.0); a handler is asked only where something will be compressed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onehook.core import Event, Hooks
from onehook.runner import answer

PAYLOADS = json.loads((Path(__file__).parent / "payloads.json").read_text(encoding="utf-8"))
WINDOW = 1_048_576


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "GEMINI_CLI_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH", str(tmp_path / "system.json"))


def said(tokens: int, model: str = "gemini-2.5-flash") -> dict[str, Any]:
    counts = {"input": tokens, "output": 7, "cached": 0, "thoughts": 0, "tool": 0, "total": tokens + 7}
    return {"id": "x", "timestamp": "2026-11-15T23:57:44.817Z", "type": "gemini", "content": "", "tokens": counts, "model": model}


def history(size: int = 0) -> dict[str, Any]:
    return {"$set": {"messages": [{"id": "y", "type": "user", "content": [{"text": "x" * size}]}]}}


PROMPT = {"id": "z", "type": "user", "content": [{"text": 'a "tokens": {"input": 9999999} in words'}]}
UPDATED = {"$set": {"lastUpdated": "2026-11-15T23:57:44.728Z"}}


def is_told(folder: Path, *lines: dict[str, Any] | str, **fields: Any) -> bool:
    """Whether a PreCompact handler is asked, in a session with this transcript."""
    transcript = folder / "session.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines]
    transcript.write_text("\n".join(texts) + "\n", encoding="utf-8")
    asked: list[Event] = []
    hooks = Hooks()
    hooks.on("PreCompact")(lambda event: asked.append(event))
    payload = {**PAYLOADS["PreCompress"], "trigger": "auto", "transcript_path": str(transcript), "cwd": str(folder), **fields}
    output = answer(json.dumps(payload).encode(), lambda: hooks)
    assert (json.loads(output.stdout), output.exit_code, output.stderr) == ({}, 0, "")
    return bool(asked)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([history(), PROMPT, UPDATED], False),
        ([history(), PROMPT, said(7), UPDATED], False),
        ([PROMPT, said(WINDOW // 2 - 1), UPDATED], False),
        ([PROMPT, said(WINDOW // 2), UPDATED], True),
        ([said(WINDOW), said(7)], False),
        ([said(7), PROMPT, said(WINDOW), PROMPT, UPDATED], True),
    ],
)
def test_the_tokens_of_the_last_request_decide(tmp_path: Path, lines: list[dict[str, Any]], told: bool) -> None:
    assert is_told(tmp_path, *lines) is told


def test_a_history_that_was_compressed_counts_by_its_size(tmp_path: Path) -> None:
    assert not is_told(tmp_path, said(WINDOW), history(), UPDATED)
    assert is_told(tmp_path, said(7), history(2 * WINDOW), UPDATED)


def test_a_model_with_a_small_window_is_full_sooner(tmp_path: Path) -> None:
    assert is_told(tmp_path, said(130_000, "gemma-4-31b-it"))
    assert not is_told(tmp_path, said(130_000))


@pytest.mark.parametrize("place", ["project", "user", "system"])
def test_the_settings_move_the_limit(tmp_path: Path, place: str) -> None:
    files = {"project": ".gemini/settings.json", "user": "home/.gemini/settings.json", "system": "system.json"}
    path = tmp_path / files[place]
    path.parent.mkdir(parents=True, exist_ok=True)
    assert not is_told(tmp_path, said(200_000))
    path.write_text('{"x": "http://y", /* less */ "model": {"compressionThreshold": 0.1}} // much\n')
    assert is_told(tmp_path, said(200_000))


def test_a_compression_that_a_person_asked_for_is_one(tmp_path: Path) -> None:
    assert is_told(tmp_path, said(7), trigger="manual")


def test_where_it_cannot_be_told_the_handler_is_asked(tmp_path: Path) -> None:
    assert is_told(tmp_path, said(7), transcript_path=str(tmp_path / "gone.jsonl"))
    assert is_told(tmp_path, said(7), transcript_path="")


def test_lines_that_are_no_messages_are_passed_over(tmp_path: Path) -> None:
    assert is_told(tmp_path, said(WINDOW), '{"tokens": [', '{"tokens": 7}', '["tokens":', '{"tokens":{"input":"many"}}')
