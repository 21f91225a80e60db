"""Every row of the document "Cursor Hooks API", tested on Cursor's own runtime: the rows are in cursor_hooks_api.toml."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from onehook.hostkit.live import Sandbox, Step
from onehook.hosts.cursor import live
from onehook.prove.process import run_agent
from tests.live.test_cursor_driver import needs_cursor, sandbox

__all__ = ["sandbox"]  # the fixture

CASES: list[dict[str, Any]] = tomlkit.parse(Path(__file__).with_name("cursor_hooks_api.toml").read_text(encoding="utf-8")).unwrap()["case"]
TYPES: dict[Any, Any] = {"string": str, "array": list, "string or null": (str, type(None))}
DEVIATIONS = Path(__file__).parent.parent.parent / "docs" / "deviations.md"


def command(case: dict[str, Any]) -> str:
    """A hook that saves its stdin, and does what the case says."""
    stdout = case.get("stdout", "")
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    say = f"printf %s {shlex.quote(text)}; printf %s {shlex.quote(case.get('stderr', ''))} >&2"
    return f'cat > "$CURSOR_PROJECT_DIR"/seen.$$; sleep {case.get("sleep", 0)}; {say}; exit {case.get("exit", 0)}'


def steps(case: dict[str, Any]) -> list[Step]:
    if case["event"] == "preToolUse":
        return [live.shell("touch ran")]
    if case["event"] == "afterAgentResponse":
        return [{"say": "the answer"}]
    return [{"event": case["event"], "fields": case.get("fields", {})}]


def run(case: dict[str, Any], box: Sandbox) -> dict[str, Any]:
    entry = {"command": command(case), **case.get("entry", {})}
    for scope in case.get("scopes", ["project"]):
        path = (box.project if scope == "project" else box.home) / ".cursor" / "hooks.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"version": 1, "hooks": {case["event"]: [entry]}}), encoding="utf-8")
    done = run_agent(live.prepare(replace(box, steps=steps(case))), timeout=120)
    assert done.exit_code == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["config_errors"] == []
    return result


def is_as(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and wanted in TYPES:
        return isinstance(value, TYPES[wanted])
    return bool(value == (wanted.removeprefix("= ") if isinstance(wanted, str) else wanted))


@needs_cursor
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["row"])
def test_row(case: dict[str, Any], sandbox: Sandbox) -> None:
    result = run(case, sandbox)
    if case["event"] == "preToolUse":
        assert (sandbox.project / "ran").exists() is not case["blocked"]
    assert bool(result["blocked"]) is case["blocked"]
    given = json.dumps([result["told"], result["shown"]])
    assert json.dumps(case.get("shows", ""))[1:-1] in given
    assert "hidden" not in case or case["hidden"] not in given
    payloads = [json.loads(path.read_bytes()) for path in sandbox.project.glob("seen.*")]
    # The SDK's session fires beforeSubmitPrompt itself before Cursor's server does, and discards the answer.
    assert len(payloads) == case.get("runs", 1) + (case["event"] == "beforeSubmitPrompt")
    assert any(all(is_as(payload[name], wanted) for name, wanted in case.get("stdin", {}).items()) for payload in payloads)


@pytest.mark.parametrize("sentence", [case["instead"] for case in CASES if "instead" in case])
def test_what_the_runtime_contradicts_is_in_the_docs(sentence: str) -> None:
    assert f"| {sentence}" in DEVIATIONS.read_text(encoding="utf-8")
