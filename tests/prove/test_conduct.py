"""A complete run: which parts are run again, and what is reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onehook.prove.conduct import conduct
from onehook.prove.scenarios import SCENARIOS
from onehook.prove.stage import Agent
from onehook.prove.verdicts import MISS, PROVEN, Prover, Verdict
from tests.prove.test_process import dies

AGENTS = [Agent("claude", Path("/bin/agent"), "1"), Agent("codex", Path("/bin/agent"), "1", "tools")]
JOBS = [(agent, scenario) for agent in AGENTS for scenario in SCENARIOS[:2]]


@pytest.mark.parametrize(("again", "tries"), [(True, 5), (False, 4)])
def test_a_miss_is_run_once_more_if_asked_for(monkeypatch, tmp_path, again, tries):
    played = []

    def prove(self, agent, scenario):
        missed = (agent, scenario.id) == (AGENTS[1], SCENARIOS[0].id) and (agent, scenario.id) not in played
        played.append((agent, scenario.id))
        return Verdict(agent.host, agent.mode, agent.version, scenario.id, "", "", MISS if missed else PROVEN, "", 0.0, "")

    monkeypatch.setattr(Prover, "prove", prove)
    reported = []
    verdicts = conduct(JOBS, reported.append, tmp_path, again)
    assert len(played) == len(reported) == tries
    assert [verdict.verdict for verdict in verdicts] == [PROVEN, PROVEN, PROVEN if again else MISS, PROVEN]


GIVEN_UP = """
import signal
import sys
from pathlib import Path
from test_conduct import JOBS
from onehook.hostkit.live import Launch
from onehook.prove.conduct import conduct
from onehook.prove.process import run_agent
from onehook.prove.verdicts import Prover

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if a script runs the tests in the background
here = Path(sys.argv[1])
agent = "import os, sys, time; open(f'{sys.argv[1]}/{os.getpid()}', 'w').close(); time.sleep(120)"
Prover.prove = lambda self, *_: run_agent(Launch([sys.executable, "-I", "-c", agent, str(here)], {}, here, here), startup=120)
conduct(JOBS, print, here / "runs")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_proof_that_is_given_up_ends_its_agents_and_begins_no_others(tmp_path, number):
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    proof = subprocess.Popen([sys.executable, "-c", GIVEN_UP, str(tmp_path)], env=env, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(agents := [path for path in tmp_path.iterdir() if path.name.isdigit()]) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    proof.send_signal(number)
    _, told = proof.communicate(timeout=60)
    assert b"KeyboardInterrupt" in told and proof.returncode
    assert len(agents) == 2 and all(dies(int(path.name)) for path in agents)
    assert len([path for path in tmp_path.iterdir() if path.name.isdigit()]) == 2
