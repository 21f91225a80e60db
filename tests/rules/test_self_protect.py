"""self_protect in rules files: on unless a layer says otherwise, and no layer can switch it off for another."""

from __future__ import annotations

import pytest

from onehook.core import UsageError
from onehook.policy import holds_rules, load_policy
from onehook.rules.explain import explain, rules_on, sample_event
from onehook.rules.load import Rules, table_of

OFF = "self_protect = false\n"


@pytest.fixture
def decide(tmp_path):
    """What the layers decide on a command in the project; {rules} is the project's file."""

    def decide(command="echo > {rules}", **layers):
        files = []
        for layer in ("managed", "user", "project"):
            if layer in layers:
                path = tmp_path / layer / "onehook.toml"
                path.parent.mkdir(exist_ok=True)
                path.write_text(layers[layer], encoding="utf-8")
                files.append((layer, str(path)))
        event = sample_event(command.replace("{rules}", files[-1][1]), str(tmp_path / "project"))
        return Rules(table_of(files, cache="")).dispatch(event).decision

    return decide


def test_every_rules_file_protects_itself(decide):
    assert decide(project="") == "deny"
    assert decide(project='packs = ["git"]\n') == "deny"
    assert decide("cat {rules}", project="") is None
    assert decide("echo > .claude/settings.json", project="") == "deny"


def test_it_can_be_switched_off(decide):
    assert decide(project=OFF) is None
    assert decide(project='[levels]\n"policies.self_protect" = "off"\n') is None
    assert decide(project='[levels]\n"policies.self_protect" = "ask"\n') == "ask"


@pytest.mark.parametrize("below", ["user", "project"])
@pytest.mark.parametrize("weaker", [OFF, '[levels]\n"policies.self_protect" = "log"\n', 'mode = "observe"\n'])
def test_no_layer_weakens_what_another_has_on(decide, below, weaker):
    layers = {"managed": "", "user": "", "project": "", below: weaker}
    assert decide(**layers) == "deny"


def test_all_layers_may_switch_it_off_together(decide):
    assert decide(managed=OFF, user=OFF, project=OFF) is None


def test_observe_blocks_nothing(decide):
    assert decide(project='mode = "observe"\n') is None


def test_exceptions_are_options_of_the_policy(decide):
    allowed = '[policies.self_protect]\nallow = ["*/project/onehook.toml"]\n'
    assert decide(project=allowed) is None
    assert decide("echo > .claude/settings.json", project=allowed) == "deny"


def test_what_a_file_extends_and_its_programs_are_covered(tmp_path):
    (tmp_path / "base.toml").write_text("", encoding="utf-8")
    (tmp_path / "check.sh").write_text("", encoding="utf-8")
    hook = '[[hook]]\nspeaks = "onehook"\nevents = ["Stop"]\nrun = ["./check.sh"]\n'
    rules = tmp_path / "onehook.toml"
    rules.write_text(f'extends = "base.toml"\n{hook}', encoding="utf-8")
    hooks = load_policy(str(rules))
    for name in ("base.toml", "check.sh", "onehook.toml"):
        assert hooks.dispatch(sample_event(f"Write({name})", str(tmp_path))).decision == "deny"
    assert hooks.dispatch(sample_event("Write(other.sh)", str(tmp_path))).decision is None


def test_an_untrusted_project_cannot_switch_it_off(decide, tmp_path):
    (tmp_path / "onehook.toml").write_text(OFF, encoding="utf-8")
    rules = Rules(table_of([("untrusted", str(tmp_path / "onehook.toml"))], cache=""))
    assert rules.dispatch(sample_event("echo > .claude/settings.json", str(tmp_path))).decision == "deny"


def test_a_file_that_only_switches_it_off_is_a_rules_file_and_the_key_is_checked(tmp_path):
    assert holds_rules(OFF.encode())
    (tmp_path / "onehook.toml").write_text('self_protect = "no"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="self_protect must be true or false"):
        load_policy(str(tmp_path / "onehook.toml"))


def test_explain_and_the_list_of_rules_show_it(tmp_path):
    (tmp_path / "onehook.toml").write_text('fail = "closed"\n', encoding="utf-8")
    path = str(tmp_path / "onehook.toml")
    assert [row["id"] for row in rules_on(path)] == ["policies.self_protect"]
    told = explain("rm onehook.toml", path, cwd=str(tmp_path))
    assert told.decision == "deny" and told.deciding.rule == "policies.self_protect"
