"""Some commands are known both to dangerous_commands, which must work without packs, and to packs: neither may know fewer."""

from __future__ import annotations

from pathlib import Path

import pytest

from onehook.packs import read_toml
from onehook.policies.danger import dangers
from onehook.rules.compile import compile_layers
from onehook.rules.explain import explained, sample_event
from onehook.rules.load import Table

# The rules of dangerous_commands that have a counterpart; the pack "core" calls the checks of the others.
PACKS = {
    "docker-prune": "docker",
    "kubectl-delete": "kubernetes",
    "terraform-destroy": "infrastructure",
    "sql-drop": "database.sql",
    "git-clean": "git",
    "git-reset": "git",
    "git-push-force": "git",
}
SAMPLES = Path(__file__).parents[1] / "policies" / "commands.toml"
COMMANDS = [(rule, command) for rule, table in read_toml(str(SAMPLES), SAMPLES.read_bytes()).items() for command in table["commands"]]


@pytest.mark.parametrize(("rule", "command"), [(rule, command) for rule, command in COMMANDS if rule in PACKS])
def test_what_the_policy_stops_the_pack_stops_too(tmp_path, rule, command):
    assert rule in {danger.rule for danger in dangers(command)}
    path = tmp_path / "onehook.toml"
    path.write_text(f'packs = ["{PACKS[rule]}"]\n')
    found = explained(Table(*compile_layers([("project", str(path))])), sample_event(command, str(tmp_path))).findings
    assert {finding.level for finding in found} & {"ask", "deny"}
