"""A user's own policy on the real agents: one command, tried with the policy and without, and what differs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from onehook.hosts.living import Live, Step
from onehook.prove.evidence import Evidence
from onehook.prove.scenarios import Scenario
from onehook.prove.stage import Agent, play


def try_policy(agents: Sequence[Agent], policy: str, command: str, say: Callable[[str], None]) -> int:
    """Print, agent by agent, what the command did with the policy and without. Exit code 1 if it made no difference on one of them."""

    def script(live: Live, mode: str, project: str) -> list[Step | None]:
        return [live.shell(command, mode), {"say": "done"}]

    scenario = Scenario(
        "own", "your policy", "PreToolUse", "Bash", None, "", script, lambda _: True, policy_path=str(Path(policy).absolute())
    )
    same = False
    for agent in agents:
        folder = Path(tempfile.mkdtemp(prefix="onehook-prove-"))
        without = play(agent, scenario, folder / "without", with_policy=False)
        with_it = play(agent, scenario, folder / "with", with_policy=True)
        difference = _difference(with_it, without)
        same = same or not difference
        say(f"{agent.name} {agent.version}: {difference or 'no difference: the policy did nothing here'}")
    return 1 if same else 0


def _difference(with_it: Evidence, without: Evidence) -> str:
    parts = []
    missing = sorted(without.files() - with_it.files())
    if missing:
        parts.append(f"without the policy it made {', '.join(missing)}; with it, it did not")
    told = [line for line in _lines(with_it) if line not in set(_lines(without))]
    if told:
        parts.append(f"the model was told: {' / '.join(told)[:300]}")
    if with_it.turns != without.turns:
        parts.append(f"turns: {with_it.turns} instead of {without.turns}")
    return "; ".join(parts)


def _lines(evidence: Evidence) -> list[str]:
    """What the model was told, line by line, without what names the scratch folders."""
    scratch = (str(evidence.home), str(evidence.project), evidence.project.parent.parent.parent.name)
    lines = (line.strip() for text in evidence.told for line in text.splitlines())
    return [line for line in lines if line and not any(word in line for word in scratch)]
