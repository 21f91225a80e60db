"""Killed at any write, every file is old or new, and the next install or uninstall is correct. Two installs at once both take effect."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from onehook.setup.apply import apply, until_fresh
from onehook.setup.files import TEMP_PREFIX
from onehook.setup.plan import Plan, configurable, plan_install, plan_uninstall
from tests.setup.installing import ALL_SCOPES, Place
from tests.setup.killing import forked, killed_at

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fork and SIGKILL")

HOSTS = configurable()[:3]
Files = dict[str, "bytes | None"]


def fresh(folder: Path) -> Place:
    place = Place(folder)
    (place.project / ".claude").mkdir()
    (place.project / ".claude" / "settings.json").write_bytes(b'{"model": "opus"}')
    return place


def files_of(place: Place) -> Files:
    return {name: content for name, content in place.snapshot().items() if content is not None}


def assert_old_or_new(now: Files, old: Files, new: Files) -> None:
    for name, content in now.items():
        if TEMP_PREFIX not in name:
            assert content in (old.get(name), new.get(name)), f"{name} is torn"
    assert {name for name in old if name in new} <= set(now)


def everything(place: Place) -> frozenset[tuple[str, int, bytes]]:
    """Everything that an install or uninstall may read: every file and folder, with its mode and content, including the journal."""
    found = [path for path in place.root.rglob("*") if path.name != "setup.lock"]  # its content is the process that held it
    return frozenset((str(path), path.lstat().st_mode, path.read_bytes() if path.is_file() else b"") for path in found)


def planned_install(place: Place, options: dict[str, Any]) -> Plan:
    return plan_install(HOSTS, place.request(**options), place.machine, place.journal)


def planned_uninstall(place: Place) -> Plan:
    return plan_uninstall(HOSTS, ALL_SCOPES, None, place.machine, place.journal)


def killed_while(step: int, plan: Plan, place: Place) -> bool:
    """Whether the process that applies the plan was killed before it finished. A plan changes nothing, so it can be made in advance."""
    return killed_at(step, functools.partial(apply, plan, place.journal))


@pytest.mark.parametrize("options", [{}, {"portable": True, "events": ["Stop"]}], ids=["plain", "portable"])
def test_an_install_killed_at_every_write(tmp_path: Path, options: dict[str, Any]) -> None:
    """Always in the same folder, so one plan is enough, and what a killed process left can be restored for the next step."""
    root, left = tmp_path / "place", tmp_path / "left"
    place = fresh(root)
    start = place.snapshot()
    old = files_of(place)
    plan = planned_install(place, options)
    place.install(HOSTS, **options)
    new = files_of(place)
    step, finished, taken_back = 0, False, set()
    while not finished:
        step += 1
        shutil.rmtree(root)
        place = fresh(root)
        finished = not killed_while(step, plan, place)
        assert_old_or_new(files_of(place), old, new)
        shutil.copytree(root, left, symlinks=True)
        place.install(HOSTS, **options)
        assert files_of(place) == new
        if (installed := everything(place)) not in taken_back:  # mostly it is the same as before
            taken_back.add(installed)
            place.uninstall(HOSTS)
            assert place.snapshot() == start
        shutil.rmtree(root)
        left.rename(root)
        place.uninstall(HOSTS)
        assert place.snapshot() == start
    assert step > 20 and taken_back


def test_an_uninstall_killed_at_every_write(tmp_path: Path) -> None:
    step, finished = 0, False
    root, left = tmp_path / "place", tmp_path / "installed"
    place = fresh(root)
    start, old = place.snapshot(), files_of(place)
    place.install(HOSTS)
    new, plan = files_of(place), planned_uninstall(place)
    shutil.copytree(root, left, symlinks=True)
    while not finished:
        step += 1
        shutil.rmtree(root)
        shutil.copytree(left, root, symlinks=True)
        finished = not killed_while(step, plan, place)
        assert_old_or_new(files_of(place), old, new)
        place.uninstall(HOSTS)
        assert place.snapshot() == start
    assert step > 8


def test_a_second_install_killed_at_every_write_still_gives_the_first_bytes_back(tmp_path: Path) -> None:
    step, finished = 0, False
    root, left = tmp_path / "place", tmp_path / "installed"
    place = fresh(root)
    start = place.snapshot()
    place.install(HOSTS)
    plan = planned_install(place, {"timeout": 3})
    shutil.copytree(root, left, symlinks=True)
    while not finished:
        step += 1
        shutil.rmtree(root)
        shutil.copytree(left, root, symlinks=True)
        finished = not killed_while(step, plan, place)
        place.uninstall(HOSTS)
        assert place.snapshot() == start
    assert step > 15


def test_two_installs_at_once_both_take_effect_and_both_can_be_taken_back(tmp_path: Path) -> None:
    for attempt in range(5):
        place = fresh(tmp_path / str(attempt))
        start = place.snapshot()
        policies = [place.project / f"policy{number}.py" for number in range(3)]
        assert _installed_together(place, policies) == [0, 0, 0]
        groups = json.loads((place.project / ".claude" / "settings.json").read_text())["hooks"]["PreToolUse"]
        assert sorted(group["hooks"][0]["command"].split()[4].rpartition("/")[2] for group in groups) == [p.name for p in policies]
        place.uninstall(HOSTS)
        assert place.snapshot() == start


def _installed_together(place: Place, policies: list[Path]) -> list[int]:
    gate, opener = os.pipe()
    children = [forked(functools.partial(_install_when_open, place, policy, gate, opener)) for policy in policies]
    os.close(gate)
    os.close(opener)
    return [os.waitpid(child, 0)[1] for child in children]


def _install_when_open(place: Place, policy: Path, gate: int, opener: int) -> None:
    os.close(opener)
    os.read(gate, 1)  # returns when the parent and all the others have closed their ends, so that they start together

    def plan_and_apply() -> Plan:
        plan = plan_install(HOSTS, place.request(policy=policy), place.machine, place.journal)
        apply(plan, place.journal)
        return plan

    until_fresh(plan_and_apply)
