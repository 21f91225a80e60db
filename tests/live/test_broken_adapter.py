"""A proof that cannot fail is worthless: adapters that are broken on purpose must be caught, with the real agents."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from onehook.hostkit.live import Sandbox
from onehook.prove import stage
from onehook.prove.agents import cache_folder, pinned_agents
from onehook.prove.scenarios import by_id
from onehook.prove.verdicts import MISS, PROVEN, Prover
from tests.setup.installing import change_runtime

AGENTS = {agent.name: agent for agent in pinned_agents(["codex", "claude"], cache_folder())}
needs_agents = pytest.mark.skipif(not AGENTS, reason="no pinned agent is installed: onehook prove --install")
(DENY,) = by_id(["deny"])
WithRuntime = Callable[[Callable[[Path], None]], None]


def replace_in(project: Path, name: str, old: str, new: str) -> None:
    def replaced(source: bytes) -> bytes:
        assert old.encode() in source
        return source.replace(old.encode(), new.encode())

    change_runtime(project, f"onehook/{name}", replaced)


@pytest.fixture
def with_runtime(monkeypatch: pytest.MonkeyPatch) -> WithRuntime:
    """Makes the prover install the runtime into the project, where a change to it affects no other run."""
    install = stage._onehook

    def changed_by(change: Callable[[Path], None]) -> None:
        def portable(sandbox: Sandbox, verb: str, *arguments: str, python: str = sys.executable) -> None:
            install(sandbox, verb, *arguments, "--portable", python=python)
            change(sandbox.project)

        monkeypatch.setattr(stage, "_onehook", portable)

    return changed_by


def documented_deny(project: Path) -> None:
    """The deny that the documentation describes: JSON on stdout, exit 2, nothing on stderr."""
    replace_in(project, "hosts/codex/wire.py", 'dumps(body), 2, response.reason or "", alone=True', 'dumps(body), 2, "", alone=True')


@needs_agents
def test_the_documented_deny_without_stderr_is_caught_on_codex(tmp_path: Path, with_runtime: WithRuntime) -> None:
    with_runtime(documented_deny)
    verdict = Prover(tmp_path).prove(AGENTS["codex tools"], DENY)
    assert verdict.verdict == MISS
    assert (Path(verdict.kept) / "policy" / "first" / "project" / "ran.txt").exists()  # the command ran


@needs_agents
def test_the_same_runtime_unbroken_is_proven(tmp_path: Path, with_runtime: WithRuntime) -> None:
    with_runtime(lambda project: None)
    assert Prover(tmp_path).prove(AGENTS["codex tools"], DENY).verdict == PROVEN


@needs_agents
def test_an_answer_that_the_agent_does_not_know_is_caught_on_claude(tmp_path: Path, with_runtime: WithRuntime) -> None:
    def misspelt(project: Path) -> None:
        replace_in(project, "hosts/claude/wire.py", '"permissionDecision"', '"permissionDecisions"')
        replace_in(project, "hosts/claude/wire.py", "exit_code = 2 if", "exit_code = 0 if")

    with_runtime(misspelt)
    assert Prover(tmp_path).prove(AGENTS["claude"], DENY).verdict == MISS


@needs_agents
def test_a_folder_that_holds_an_earlier_proof_is_used_again(tmp_path: Path) -> None:
    assert [Prover(tmp_path, keep=True).prove(AGENTS["codex tools"], DENY).verdict for _ in range(2)] == [PROVEN, PROVEN]
    assert (tmp_path / f"codex-tools-{AGENTS['codex tools'].version}" / "deny" / "policy" / "first" / "stdout.txt").is_file()
