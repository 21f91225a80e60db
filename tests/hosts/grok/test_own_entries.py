"""Grok Build together with Claude Code: it runs the entries of both, and one of them answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import process

from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.hosts.grok import own_entries as own
from onehook.setup.command import LAUNCHER
from tests.setup.installing import CLIENTS, Place

PROJECTS, USERS = "project/settings:pre_tool_use[0].hooks[0]", "global/settings:pre_tool_use[0].hooks[0]"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def answered(place: Place, *options: str, hook: str = PROJECTS, **variables: str) -> bool:
    """Grok runs Claude Code's entry, on a command that the policy denies."""
    event = sample("PreToolUse", "Bash", command="rm -rf x", session_id="s", cwd=str(place.project))
    env = {"GROK_WORKSPACE_ROOT": f"{place.project}/", "GROK_HOOK_NAME": hook, "HOME": str(place.home), **variables}
    program = [sys.executable, "-I", "-S", str(LAUNCHER), str(place.policy), "--host", "claude", "--host", "cursor"]
    result = process([*program, "--event", "PreToolUse", *options], load("grok", "reverse").payload(event), env)
    if not result.stdout:
        assert result.exit_code == 0, result
        return False
    assert result.answer == {"decision": "deny", "reason": "rm -rf is blocked"} and result.exit_code == 2, result
    return True


def test_claudes_entry_answers_where_grok_has_none(place: Place) -> None:
    place.install(["claude"])
    assert answered(place) and answered(place, hook=USERS)


def test_it_is_silent_where_the_projects_file_has_the_same_entry_and_is_run(place: Place) -> None:
    place.install(["claude", "grok"])
    assert not answered(place)
    assert answered(place, hook=USERS)  # the folder may not be trusted, in which case only the user's entries run


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("closed", [False, True])
def test_so_it_is_in_resident_mode(tmp_path: Path, client: tuple[str, ...], closed: bool) -> None:
    place = Place(tmp_path, "a $project")
    place.install(["grok"], client=client, fail_closed=closed)
    assert not answered(place)

    def elsewhere(group: dict[str, Any], entry: dict[str, Any]) -> None:
        entry["command"] = entry["command"].replace("/onehook/resident/", "/elsewhere/onehook/resident/")

    changed(place, elsewhere)
    assert answered(place)


@pytest.mark.parametrize("hook", [PROJECTS, USERS])
def test_it_is_silent_where_the_users_file_has_the_same_entry(place: Place, hook: str) -> None:
    place.install(["grok"], "user")
    assert not answered(place, hook=hook)
    assert answered(place, hook=hook, GROK_HOME=str(place.root / "elsewhere"))


def test_a_laxer_entry_does_not_silence_it(place: Place) -> None:
    place.install(["grok"])
    assert answered(place, "--fail", "closed")
    place.install(["grok"], fail_closed=True)
    assert not answered(place, "--fail", "closed") and not answered(place)


def changed(place: Place, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> None:
    file = place.project / own.FILE
    data = json.loads(file.read_text())
    group = data["hooks"]["PreToolUse"][0]
    change(group, group["hooks"][0])
    file.write_text(json.dumps(data))


@pytest.mark.parametrize(
    "change",
    [
        lambda group, entry: group.update(matcher="Read"),
        lambda group, entry: entry.update(command=f"true || {entry['command']}"),
        lambda group, entry: entry.update(command=f"{entry['command']} --probe allow"),
        lambda group, entry: entry.update(command=f"{entry['command']} || true"),
        lambda group, entry: entry.update(env={"PATH": "/x"}),
        lambda group, entry: entry.update(timeout=1),
        lambda group, entry: entry.update(type="http"),
    ],
)
def test_an_entry_that_may_not_answer_does_not_silence_it(place: Place, change: Any) -> None:
    place.install(["claude", "grok"])
    assert not answered(place)
    changed(place, change)
    assert answered(place)


def test_a_file_of_switched_off_hooks_leaves_both_to_answer(place: Place) -> None:
    place.install(["claude", "grok"])
    (place.home / ".grok").mkdir()
    (place.home / ".grok/disabled-hooks").write_text("x\n")
    assert answered(place)


def test_without_grok_to_say_where_it_runs_it_answers(place: Place) -> None:
    place.install(["claude", "grok"])
    assert answered(place, GROK_WORKSPACE_ROOT="")
