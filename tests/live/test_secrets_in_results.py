"""secrets(results=True) on the real agents that can replace a result: the model gets the mask instead of the credential."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from onehook.hosts import HOSTS
from onehook.prove.agents import Agent, cache_folder, pinned_agents
from onehook.prove.evidence import Evidence
from onehook.prove.scenarios import by_id
from onehook.prove.verdicts import PROVEN, Prover
from tests.harness import support

AGENTS = pinned_agents(
    [host for host in HOSTS if support(host, "PostToolUse", "modified_output") in ("honoured", "limited")], cache_folder()
)
TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"
POLICY = "from onehook import Hooks\nfrom onehook.policies import secrets\nhooks = Hooks().use(secrets(results=True))\n"


def redacted(evidence: Evidence) -> bool:
    return evidence.acted and evidence.model_was_told("KEY=[redacted: github-token]") and not evidence.model_was_told(TOKEN)


(MASK,) = by_id(["mask"])
SCENARIO = replace(MASK, policy=POLICY, files={"secret.txt": f"KEY={TOKEN}\n"}, seen=redacted)


@pytest.mark.skipif(not AGENTS, reason="no agent is in the cache: onehook prove --install")
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: f"{agent.host}{agent.mode and '-'}{agent.mode}")
def test_the_model_gets_the_mask(agent: Agent, tmp_path: Path) -> None:
    result = Prover(tmp_path).prove(agent, SCENARIO)
    assert result.verdict == PROVEN, result
