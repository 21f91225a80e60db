"""Installed configs on the real agents, if they are in the cache: no event is handled twice, and trust is what the host reports."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from onehook.hostkit.config import Machine
from onehook.hostkit.live import Sandbox
from onehook.hosts.codex import asking
from onehook.hosts.copilot import live as copilot
from onehook.hosts.cursor import live
from onehook.prove.agents import cache_folder, pins
from onehook.prove.model import ScriptedModel
from onehook.prove.process import run_agent
from onehook.setup.doctor import examine
from onehook.setup.plan import config_of
from tests.setup.installing import Place

COUNTING = """from onehook import Hooks
hooks = Hooks()

def note(event):
    with open({log!r}, "a") as file:
        file.write(event.event + " " + event.host + "\\n")

for name in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
    hooks.on(name)(note)
"""


def program(host: str) -> Path:
    return pins()[host].program(cache_folder())


def has(host: str) -> bool:
    return host in pins() and program(host).exists() and shutil.which("node") is not None


needs_cursor = pytest.mark.skipif(not has("cursor"), reason="Cursor's package is not in the cache: onehook prove --hosts cursor")
needs_copilot = pytest.mark.skipif(not has("copilot"), reason="Copilot is not in the cache: onehook prove --hosts copilot")
needs_codex = pytest.mark.skipif(not has("codex"), reason="Codex is not in the cache: onehook prove --hosts codex")


# Copilot unpacks itself into its user's cache folder, 235 MB, which is half of the time that it takes here: once is enough.
ALREADY_UNPACKED = {"XDG_CACHE_HOME": str(pins()["copilot"].folder(cache_folder()) / "unpacked")} if has("copilot") else {}


@needs_cursor
@pytest.mark.parametrize("hosts", [["claude", "cursor"], ["claude"], ["cursor"]], ids="+".join)
def test_cursor_handles_each_event_once(tmp_path: Path, hosts: list[str]) -> None:
    place = Place(tmp_path)
    log = tmp_path / "log"
    place.policy.write_text(COUNTING.format(log=str(log)), encoding="utf-8")
    place.install(hosts)
    steps = (live.shell("touch ran.txt"), {"say": "done"})
    sandbox = Sandbox(home=place.home, project=place.project, model_url="", prompt="do it", binary=program("cursor"), steps=steps)
    outcome = run_agent(live.prepare(sandbox), timeout=60)
    assert json.loads(outcome.stdout)["ended"] == "completed" and (place.project / "ran.txt").exists(), outcome
    seen = log.read_text().splitlines()
    assert sorted(seen) == sorted(f"{event} cursor" for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"))


@needs_copilot
@pytest.mark.parametrize("hosts", [["claude", "copilot"], ["claude"], ["copilot"]], ids="+".join)
def test_copilot_handles_each_event_once(tmp_path: Path, hosts: list[str]) -> None:
    place = Place(tmp_path)
    log = tmp_path / "log"
    place.policy.write_text(COUNTING.format(log=str(log)), encoding="utf-8")
    place.install(hosts)
    with ScriptedModel([copilot.shell("touch ran.txt"), {"say": "done"}]) as model:
        sandbox = Sandbox(place.home, place.project, model.url, "do it", program("copilot"))
        launch = copilot.prepare(sandbox)
        outcome = run_agent(replace(launch, env={**launch.env, **ALREADY_UNPACKED}), timeout=60)
    assert (place.project / "ran.txt").exists(), outcome
    seen = log.read_text().splitlines()
    assert sorted(seen) == sorted(f"{event} copilot" for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"))


def codex_machine(place: Place) -> Machine:
    (place.home / ".codex").mkdir(exist_ok=True)
    place.variables["PATH"] = os.pathsep.join([str(program("codex").parent), os.environ["PATH"]])
    return place.machine


def trust(place: Place, machine: Machine) -> None:
    """What a person does in /hooks: store the hash of every hook that is there now, by its position."""
    lines = [f'[projects."{place.project}"]', 'trust_level = "trusted"']
    config = place.home / ".codex" / "config.toml"
    config.write_text("\n".join(lines) + "\n")
    listed = asking.listed(machine)
    assert listed
    lines += [f'[hooks.state."{key}"]\ntrusted_hash = "{hook["currentHash"]}"' for key, hook in listed.items()]
    config.write_text("\n".join(lines) + "\n")


def trust_words(place: Place, machine: Machine) -> dict[str, str]:
    listed = asking.listed(machine)
    assert listed is not None
    return {re.sub(r".*hooks.json:", "", key): hook["trustStatus"] for key, hook in listed.items()}


@needs_codex
def test_the_trust_of_codex_survives_what_install_does(tmp_path: Path) -> None:
    place = Place(tmp_path)
    file = place.project / ".codex" / "hooks.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}))
    machine = codex_machine(place)
    trust(place, machine)
    place.install(["codex"], events=["PreToolUse"])
    assert trust_words(place, machine) == {"pre_tool_use:0:0": "trusted", "pre_tool_use:1:0": "untrusted"}
    failures = [report.diagnosis.what for report in examine(machine, ["codex"]) if report.diagnosis.level == "fail"]
    assert failures == ["Codex CLI does not trust the PreToolUse hook: it silently skips the hooks"]
    trust(place, machine)
    assert not [report for report in examine(machine, ["codex"]) if report.diagnosis.level == "fail"]
    place.install(["codex"], events=["PreToolUse"])
    assert set(trust_words(place, machine).values()) == {"trusted"}
    place.install(["codex"], events=["PreToolUse"], timeout=5)
    failures = [report.diagnosis.what for report in examine(machine, ["codex"]) if report.diagnosis.level == "fail"]
    assert failures == ["Codex CLI does not trust the PreToolUse hook: it silently skips the hooks"]
    place.uninstall(["codex"])
    assert trust_words(place, machine) == {"pre_tool_use:0:0": "trusted"}


@needs_codex
def test_codex_itself_says_that_it_trusts_what_install_wrote(tmp_path: Path) -> None:
    place = Place(tmp_path)
    machine = codex_machine(place)
    events = tuple(config_of("codex").EVENTS)
    place.install(["codex"], events=events, fail_closed=True, matchers={"": "Bash|Write"}, trust=True)
    place.install(["codex"], "user", events=("PreToolUse",), trust=True)
    trusted = asking.trusted(machine)
    assert trusted is not None and len(trusted) == len(events) + 1 and all(trusted.values())
    place.install(["codex"], events=events, timeout=5)
    trusted = asking.trusted(machine)
    assert trusted and all(trusted.values())
    place.uninstall(["codex"])
    assert asking.trusted(machine) == {}
