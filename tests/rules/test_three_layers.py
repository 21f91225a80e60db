"""Managed, user and project files together: none weakens what a layer above has set, and exceptions apply only to layers below."""

from __future__ import annotations

import pytest

GIT = 'packs = ["git"]\n'
HARD = "git reset --hard origin/main"
EXCEPT = f'[[exception]]\nrule = "git.reset-hard"\ncommand = "{HARD}"\nreason = "r"\n'
LAYERS = ("managed", "user", "project")


def decided(rules, command: str = HARD, **files: str):
    return rules(files.pop("project", ""), **files).decision(command)


@pytest.mark.parametrize("holder", LAYERS)
@pytest.mark.parametrize("lifting", LAYERS)
def test_an_exception_lifts_the_rules_of_its_own_layer_and_of_those_below(rules, holder, lifting):
    files = {layer: (GIT if layer == holder else "") + (EXCEPT if layer == lifting else "") for layer in LAYERS}
    lifted = LAYERS.index(lifting) <= LAYERS.index(holder)
    assert decided(rules, **files) == (None if lifted else "deny")
    assert decided(rules, "git reset --hard HEAD~3", **files) == "deny"  # and only what it covers


@pytest.mark.parametrize("weaker", ["off", "log", "warn", "ask"])
@pytest.mark.parametrize("below", ["user", "project"])
def test_the_strictest_level_of_all_layers_wins(rules, weaker, below):
    files = {"managed": GIT, "user": "", "project": "", below: f'[levels]\n"git" = "{weaker}"\n'}
    assert decided(rules, **files) == "deny"
    files = {"managed": f'packs = ["git"]\n[levels]\n"git" = "{weaker}"\n', "user": "", "project": "", below: GIT}
    assert decided(rules, **files) == "deny"


@pytest.mark.parametrize("below", ["user", "project"])
def test_observe_and_allow_below_weaken_nothing_above(rules, below):
    files = {"managed": '[permissions]\ndeny = ["Bash(git reset:*)"]\n', "user": "", "project": ""}
    files[below] = 'mode = "observe"\n[permissions]\nallow = ["Bash"]\n'
    assert decided(rules, **files) == "deny"
    files[below] = '[permissions]\nallow = ["Bash"]\n'
    assert decided(rules, **files) == "deny"


def test_a_managed_layer_that_observes_does_not_silence_those_below(rules):
    assert decided(rules, managed='mode = "observe"\n', user="", project=GIT) == "deny"
    assert decided(rules, managed='mode = "observe"\n' + GIT, user="", project="") is None


def test_closed_in_one_layer_is_closed(rules):
    for closed in LAYERS:
        files = {layer: f'fail = "{"closed" if layer == closed else "open"}"\n' for layer in LAYERS}
        assert rules(files.pop("project"), **files).table.header["options"]["fail"] == "closed"
