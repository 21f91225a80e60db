"""A complete run: what is run again, and what is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from onehook.prove.conduct import conduct
from onehook.prove.scenarios import SCENARIOS
from onehook.prove.stage import Agent
from onehook.prove.verdicts import MISS, PROVEN, Prover, Verdict

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
