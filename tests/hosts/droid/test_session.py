"""The program that runs a Droid session for a proof, against a fake agent that only sends what Droid sends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onehook.hosts.droid import session

AGENT = """#!{python}
import json, sys
blocked = {blocked}
def say(**body):
    print(json.dumps(body), flush=True)
def note(**told):
    say(type="notification", params={{"notification": told}})
for line in sys.stdin:
    asked = json.loads(line)
    with open({log!r}, "a") as file:
        file.write(json.dumps([asked["type"], asked.get("method"), asked.get("params") or asked.get("result")]) + "\\n")
    method = asked.get("method", "")
    if asked["type"] == "response":
        note(type="agent_turn_completed")
        continue
    result = {{"newSessionId": "s-2"}} if method == "droid.compact_session" else {{}}
    say(type="response", id=asked["id"], result=result)
    if method == "droid.add_user_message" and blocked:
        note(type="error", message="no")
        note(type="droid_working_state_changed", newState="idle")
    elif method == "droid.add_user_message":
        note(type="droid_working_state_changed", newState="idle")
        say(type="request", id="p-1", method="droid.request_permission", params={{}})
    elif method == "droid.close_session":
        sys.exit(0)
"""


def held(tmp_path: Path, *more: str, blocked: bool = False) -> list[Any]:
    """What the agent was asked, in order."""
    log, agent = tmp_path / "log", tmp_path / "agent"
    agent.write_text(AGENT.format(python=sys.executable, log=str(log), blocked=blocked))
    agent.chmod(0o755)
    argv = [sys.executable, "-I", session.__file__, str(agent), "the prompt", "off", *more]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_prompt_is_one_turn_and_what_droid_asks_is_refused(tmp_path: Path) -> None:
    first, *asked = held(tmp_path)
    assert first[1] == "droid.initialize_session"
    assert (first[2]["cwd"], first[2]["autonomyLevel"]) == (str(tmp_path), "off")
    assert asked == [
        ["request", "droid.add_user_message", {"text": "the prompt"}],
        ["response", None, {"selectedOption": "cancel"}],
        ["request", "droid.close_session", None],
    ]


def test_a_blocked_prompt_ends_the_session(tmp_path: Path) -> None:
    assert [method for _, method, _ in held(tmp_path, blocked=True)][1:] == ["droid.add_user_message", "droid.close_session"]


@pytest.mark.parametrize("blocked", [False, True])
def test_a_compacted_session_is_loaded(tmp_path: Path, blocked: bool) -> None:
    asked = [[method, given] for kind, method, given in held(tmp_path, "--compact", blocked=blocked) if kind == "request"]
    assert asked[2:] == [["droid.compact_session", None], ["droid.load_session", {"sessionId": "s-2"}], ["droid.close_session", None]]
