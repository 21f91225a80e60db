"""The verbs accept a manifest where they accept a policy. (install and lint: test_stand_ins.py; prove: tests/live.)"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from harness import ANY, clean_environment, fire, tool_payload

from onehook.prove.agents import pins
from tests.manifest.kit import guard, manifest_of

REASON = "rm -rf is blocked by the sh guard"


@pytest.fixture
def manifest(tmp_path):
    return manifest_of(tmp_path / "m", guard("contract"))


def onehook(*arguments, stdin=""):
    argv = [sys.executable, "-I", "-m", "onehook", *map(str, arguments)]
    return subprocess.run(argv, input=stdin, env=clean_environment(), capture_output=True, text=True, timeout=120, check=False)


def test_run(manifest):
    call = {"tool_name": "Shell", "tool_input": {"command": "rm -rf x"}}
    done = onehook("run", manifest, "--host", "contract", stdin=json.dumps(call))
    assert (done.returncode, json.loads(done.stdout)) == (2, {"decision": "deny", "reason": REASON})


def test_fire_on_every_host_that_is_proven(manifest):
    done = onehook("fire", manifest, "PreToolUse", "Bash", "command=rm -rf x", "--host", ",".join(pins()))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("blocked") >= len(pins()) and REASON in done.stdout
    assert "blocked" not in onehook("fire", manifest, "PreToolUse", "Bash", "command=ls", "--host", "claude,codex").stdout


def test_replay_starts_the_programs_when_it_may(manifest, tmp_path):
    log = tmp_path / "log"
    fire(manifest, tool_payload(ANY, "rm -rf x"), "--host", ANY, env={"ONEHOOK_RECORD": str(log)})
    held = onehook("replay", log, manifest, "--json")
    assert "a replay does not start programs" in held.stdout + held.stderr and REASON not in held.stdout
    assert REASON in onehook("replay", log, manifest, "--json", "--run-programs").stdout
