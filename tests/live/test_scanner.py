"""The scanner policy on real agents, with a scanner on loopback: blocked prompts, masked results, observe mode, and a dead scanner."""

from __future__ import annotations

import pytest

from onehook.hosts import HOSTS
from onehook.prove import stage
from onehook.prove.agents import cache_folder, pinned_agents
from onehook.prove.scenarios import Scenario
from tests.scan.service import SECRET, service

AGENTS = ("claude", "codex", "opencode", "gemini")
FOUND = {agent.host: agent for agent in reversed(pinned_agents([host for host in HOSTS if host in AGENTS], cache_folder()))}
RULES = """
packs = []
fail = "{fail}"
[policies.scanner]
backend = "lakera"
url = "{url}"
mode = "{mode}"
seconds = 6
failures = 1
pause = 600
gates = {gates}
actions = {{ "*" = "{action}" }}
"""


@pytest.fixture(params=AGENTS)
def agent(request):
    if request.param not in FOUND:
        pytest.skip(f"{request.param} is not in the cache")
    return FOUND[request.param]


@pytest.fixture
def scanner():
    with service("lakera") as running:
        running.key = None  # a scanner on this machine does not need one
        yield running


def script(live, mode, project):
    """Two commands; the second prints the content of a file."""
    return [live.shell("echo ran > ran.txt", mode), live.shell("cat notes.txt", mode), {"say": "all done"}]


def played(agent, scanner, folder, gates, mode="enforce", action="block", fail="open"):
    policy = RULES.format(url=scanner.url, mode=mode, action=action, gates=gates, fail=fail)
    files = {"notes.txt": f"the key is {SECRET} and that is all\n"}
    scenario = Scenario("scanner", "", "", "", None, policy, script, lambda evidence: True, files=files, policy_name="onehook.toml")
    return stage.play(agent, scenario, folder, with_policy=True)


def scans(evidence):
    return [one["scan"] for entry in evidence.logged() for one in entry["by"] if "scan" in one]


def test_a_prompt_with_a_secret_is_blocked(agent, scanner, tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "PROMPT", f"Use {SECRET}, please.")
    evidence = played(agent, scanner, tmp_path, ["prompts"])
    assert not evidence.model_was_told(SECRET) and evidence.text("ran.txt") is None
    assert [scan["action"] for scan in scans(evidence)][:1] == ["block"]


def test_a_result_with_a_secret_is_masked(agent, scanner, tmp_path):
    evidence = played(agent, scanner, tmp_path, ["results"], action="mask")
    assert evidence.model_was_told("the key is [pii/aws_key] and that is all") and not evidence.model_was_told(SECRET)
    assert "mask" in [scan["action"] for scan in scans(evidence)]


def test_observe_lets_pass_and_logs(agent, scanner, tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "PROMPT", f"Use {SECRET}, please.")
    evidence = played(agent, scanner, tmp_path, ["prompts", "results"], mode="observe")
    assert evidence.model_was_told(f"Use {SECRET}") and evidence.model_was_told(f"the key is {SECRET}") and evidence.text("ran.txt")
    entries = [entry for entry in evidence.logged() if any("scan" in one for one in entry["by"])]
    would = {entry["event"]: entry["would"] for entry in entries if entry["by"][0]["scan"]["categories"]}
    assert would == {"UserPromptSubmit": "deny", "PostToolUse": "deny"}


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_dead_scanner_opens_the_breaker_and_fails_as_told(agent, scanner, tmp_path, fail):
    scanner.forever = "slow"
    evidence = played(agent, scanner, tmp_path, ["commands"], fail=fail)
    first, second = scans(evidence)[:2]
    assert (first["breaker"], second["breaker"]) == ("open", "open") and len(scanner.requests) == 1
    assert "in time" in first["error"] and second["error"].endswith(f"the last one: {first['error']}")
    assert (evidence.text("ran.txt") is None) == (fail == "closed") and evidence.model_was_told(SECRET) == (fail == "open")
