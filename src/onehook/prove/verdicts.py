"""Compares what was expected with what was seen, one cell at a time."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from onehook.prove.evidence import Evidence
from onehook.prove.expectations import NO_EVENT, NOT_HONOURED, WORKS, expectation
from onehook.prove.scenarios import Scenario
from onehook.prove.stage import Agent, CannotPlay, play, script_of

PROVEN, DECLARED, CLAIMED, ABSENT, MISS = "proven", "not honoured", "claimed", "absent", "MISS"


@dataclass(frozen=True)
class Verdict:
    """One cell. `verdict`: proven; not honoured (as declared); claimed (not provable here); absent (no such event or tool); MISS."""

    host: str
    mode: str
    version: str
    scenario: str
    event: str
    effect: str
    verdict: str
    detail: str = ""
    seconds: float = 0.0
    kept: str = ""  # where the agent's output is, if it was kept

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in ("", 0.0)}


class Prover:
    """Proves cells. Controls, and sessions that several rows share, run once per agent and script."""

    def __init__(self, folder: Path, keep: bool = False) -> None:
        self.folder = folder
        self.keep = keep  # keep the output of every run, not only of a MISS
        self._shared: dict[tuple[Agent, str], Evidence] = {}
        self._locks: dict[tuple[Agent, str], Lock] = {}
        self._lock = Lock()

    def prove(self, agent: Agent, scenario: Scenario) -> Verdict:
        begun = time.monotonic()
        where = self._fresh(agent, scenario.id)
        try:
            verdict, detail = self._judge(agent, scenario, where)
        except CannotPlay as reason:
            expected, _ = expectation(agent.host, scenario, agent.mode, agent.version)
            verdict, detail = (CLAIMED if scenario.needs and expected == WORKS else ABSENT), str(reason)
        except Exception as error:  # a scenario that breaks is a MISS with its reason, and the others continue
            verdict, detail = MISS, f"{type(error).__name__}: {error}"
        kept = str(where) if verdict == MISS else ""
        if not kept and not self.keep:
            shutil.rmtree(where, ignore_errors=True)
        took = round(time.monotonic() - begun, 1)
        return Verdict(agent.host, agent.mode, agent.version, scenario.id, scenario.event, scenario.effect, verdict, detail, took, kept)

    def _fresh(self, agent: Agent, name: str) -> Path:
        """A folder for one run; removes what an earlier run left in it."""
        folder = self.folder / agent.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def _judge(self, agent: Agent, scenario: Scenario, where: Path) -> tuple[str, str]:
        expected, why = expectation(agent.host, scenario, agent.mode, agent.version)
        if expected == NO_EVENT:
            return ABSENT, why
        script_of(agent, scenario)
        evidence = (
            self._run_once(agent, scenario, with_policy=True)
            if scenario.shared
            else play(agent, scenario, where / "policy", with_policy=True)
        )
        if evidence.outcome.timed_out:
            when = "" if evidence.turns else " before its first request to the model"
            return MISS, f"the agent hung twice{when}; its output is in {where}"
        seen = scenario.seen(evidence)
        opposite = not self._control_shows(agent, scenario, where)
        if not opposite and expected == WORKS:
            return MISS, "the control run, without the policy, shows the same effect, so this proves nothing"
        if expected == WORKS:
            return (PROVEN, "") if seen else (MISS, f"the effect did not take place; {scenario.explained(evidence) or _hint(evidence)}")
        assert expected == NOT_HONOURED
        return (MISS, "declared as not supported, but it took effect: the table is out of date") if seen else (DECLARED, why)

    def _control_shows(self, agent: Agent, scenario: Scenario, where: Path) -> bool:
        """Whether the effect is also seen without the policy (or, if hooks are disabled, with enabled hooks; or without trust)."""
        if scenario.control_is_open:
            # Without a policy the agent continues too, so the control is the same policy, installed to fail closed.
            return scenario.seen(play(agent, scenario, where / "control", with_policy=True, fail_closed=True))
        if scenario.disabled:
            return scenario.seen(play(agent, replace(scenario, disabled=False), where / "control", with_policy=True))
        if "trust" in scenario.needs:
            return scenario.seen(play(agent, replace(scenario, trusted=False), where / "control", with_policy=True))
        intact = scenario.interpreter is not None and scenario.response is None  # the policy itself denies nothing
        return scenario.seen(self._run_once(agent, replace(scenario, interpreter=None), with_policy=intact))

    def _run_once(self, agent: Agent, scenario: Scenario, with_policy: bool) -> Evidence:
        strict = "strict" in scenario.needs
        key = (agent, f"{scenario.script.__name__}{sorted(scenario.files)}{scenario.mcp}{strict}{with_policy and scenario.policy}")
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._shared:
                where = self._fresh(agent, f"{'shared' if with_policy else 'control'}-{scenario.id}")
                self._shared[key] = play(agent, scenario, where, with_policy=with_policy)
            return self._shared[key]


def _hint(evidence: Evidence) -> str:
    last = (evidence.outcome.stderr.strip() or evidence.outcome.stdout.strip()).splitlines()[-1:] or ["no output"]
    return f"turns {evidence.turns}, exit {evidence.outcome.exit_code}, last line: {last[0][:200]}"
