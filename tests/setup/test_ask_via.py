"""Where a person may be asked, install gives the agent enough time, for those events only; doctor reports if it has not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onehook.cli.install import _wish
from onehook.hostkit.config import DEFAULT_EVENTS, Wish
from onehook.hosts import entry_hosts, wire_of
from onehook.policy import load_policy
from onehook.setup.command import read
from onehook.setup.doctor import examine
from onehook.setup.installed import config_files
from onehook.setup.plan import _stoppable, config_of, configurable
from tests.setup.installing import Place, own_scope

HOLDING = Wish(timeout=20, holds=True)
PLUGINS = [host for host in configurable() if config_of(host).TRAITS.own_content is not None]


def entries(place: Place, host: str):
    return [(found, read(found.command)) for file in config_files(place.machine, [host]) for found in file.ours]


@pytest.mark.parametrize("host", [host for host in configurable() if host not in PLUGINS])
def test_only_what_can_be_stopped_is_waited_for(tmp_path: Path, host: str) -> None:
    place = Place(tmp_path)
    place.install([host], own_scope(host), wish=HOLDING)
    config, wire = config_of(host), wire_of(host)
    found = entries(place, host)
    assert len(found) >= len([event for event in DEFAULT_EVENTS if event in config.EVENTS])
    for one, written in found:
        text = json.dumps(one.item)
        longest = min(config_of(id).TRAITS.longest_timeout for id in entry_hosts(host))
        held = _stoppable(host, wire.EVENTS[one.event].event)
        assert written.option("host-timeout") == (str(longest) if held else "")
        assert (str(longest) in text.replace(one.command, "")) == held, text
    assert any(written.option("host-timeout") for _, written in found)


@pytest.mark.parametrize("host", PLUGINS)
def test_a_plugin_waits_as_long(tmp_path: Path, host: str) -> None:
    place = Place(tmp_path)
    place.install([host], own_scope(host), wish=HOLDING)
    (file,) = [file for file in config_files(place.machine, [host]) if file.ours]
    longest = config_of(host).TRAITS.longest_timeout
    assert f'"timeout": {longest}' in file.place.path.read_text(encoding="utf-8")
    assert all(written.option("host-timeout") == str(longest) for _, written in entries(place, host))


@pytest.mark.parametrize("host", configurable())
def test_installing_twice_changes_nothing_and_uninstalling_restores(tmp_path: Path, host: str) -> None:
    place = Place(tmp_path)
    before = place.snapshot()
    place.install([host], own_scope(host), wish=HOLDING)
    once = place.snapshot()
    place.install([host], own_scope(host), wish=HOLDING)
    assert place.snapshot() == once
    place.uninstall([host])
    assert place.snapshot() == before


def test_a_deadline_that_an_agent_does_not_wait_for_is_noted(tmp_path: Path) -> None:
    short = min(
        (host for host in configurable() if config_of(host).TRAITS.longest_timeout > 10), key=lambda h: config_of(h).TRAITS.longest_timeout
    )
    longest = config_of(short).TRAITS.longest_timeout
    assert Place(tmp_path / "a").install([short], wish=Wish(timeout=longest - 10)).notes == []
    (note,) = Place(tmp_path / "b").install([short], wish=Wish(timeout=longest)).notes
    assert f"waits for {longest} s at most" in note


RULE = '[[rule]]\nid = "a"\nreason = "r"\nlevel = "ask"\ncommand = "rm"\n'


@pytest.mark.parametrize(
    ("text", "flag", "holds"),
    [
        (RULE, "", False),
        (RULE, "desk", True),
        (f'ask_via = "desk"\n{RULE}', "", True),
        (f'ask_via = "desk"\n{RULE}', "agent", False),
        (f'{RULE}ask_via = "desk-always"\n', "", True),
    ],
    ids=["no", "flag", "file", "flag against the file", "rule"],
)
def test_it_is_known_from_the_policy_or_the_flag(tmp_path: Path, text: str, flag: str, holds: bool) -> None:
    policy = tmp_path / "onehook.toml"
    policy.write_text(text, encoding="utf-8")
    wish = _wish(load_policy(str(policy)), False, False, None, {}, "", flag)
    assert (wish.holds, wish.ask_via) == (holds, flag)


def test_doctor_warns_of_a_policy_that_came_to_hold_asks_after_its_install(tmp_path: Path) -> None:
    place = Place(tmp_path, variables={"SHELL": "/bin/sh"})
    place.policy.write_text(place.policy.read_text(encoding="utf-8").replace("Hooks()", "Hooks(ask_via='desk')"), encoding="utf-8")

    def warned() -> bool:
        found = examine(place.machine, ["claude"], fire=False)
        return any("holds calls for a person" in report.diagnosis.what for report in found)

    place.install(["claude"])
    assert warned()
    place.install(["claude"], wish=HOLDING)
    assert not warned()
