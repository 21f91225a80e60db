"""Qwen Code sends UserPromptSubmit before every request to the model: a handler sees each prompt once (0.24.4)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from onehook.core import Event, Hooks
from onehook.runner import answer

CAPTURE = Path(__file__).parent / "captures" / "qwen-0.24.4.jsonl"
PAYLOADS = [json.loads(line)["stdin"] for line in CAPTURE.read_text(encoding="utf-8").splitlines()]
PROMPTS = [payload for payload in PAYLOADS if payload["hook_event_name"] == "UserPromptSubmit"]


def test_a_handler_sees_the_prompt_of_a_captured_session_once() -> None:
    seen: list[str] = []
    hooks = Hooks()

    @hooks.on("UserPromptSubmit")
    def see(event: Event) -> None:
        seen.append(event.prompt)

    outputs = [answer(json.dumps(payload).encode(), lambda: hooks) for payload in PROMPTS]
    assert len(PROMPTS) > 1
    assert seen == ["do it"]
    assert {(output.stdout, output.stderr, output.exit_code) for output in outputs} == {("", "", 0)}


def test_a_repetition_is_answered_without_loading_the_policy(tmp_path: Path) -> None:
    policy = tmp_path / "policy.py"
    policy.write_text("raise SystemExit('loaded')", encoding="utf-8")
    run = [sys.executable, "-m", "onehook", "run", str(policy), "--host", "qwen", "--fail", "closed"]
    first, again = (subprocess.run(run, input=json.dumps(payload), capture_output=True, text=True, check=False) for payload in PROMPTS[:2])
    assert json.loads(first.stdout)["decision"] == "block"
    assert (again.stdout, again.stderr, again.returncode) == ("", "", 0)
