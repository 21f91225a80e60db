"""Copilot together with Claude Code: it runs the entries of both, and one of them answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from harness import process

from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.hosts.copilot import own_entries as own
from onehook.setup.command import LAUNCHER
from tests.setup.installing import CLIENTS, Place

DENIAL = {"permissionDecision": "deny", "permissionDecisionReason": "rm -rf is blocked"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def by_claudes_entry(place: Place, *options: str, variables: dict[str, str] | None = None):  # type: ignore[no-untyped-def]
    """Copilot runs the entry in .claude/settings.json, on a command that the policy denies."""
    event = sample("PreToolUse", "Bash", command="rm -rf x", session_id="s", cwd=str(place.project))
    payload = load("copilot", "reverse").payload(event, "PreToolUse")
    env = {"COPILOT_PROJECT_DIR": str(place.project)} if variables is None else variables
    portable = place.project / ".onehook/launch"
    program = [sys.executable, "-I", "-S", str(portable if portable.exists() else LAUNCHER), str(place.policy)]
    return process([*program, "--host", "claude", "--host", "cursor", "--event", "PreToolUse", *options], payload, env)


def answered(place: Place, *options: str, variables: dict[str, str] | None = None) -> bool:
    result = by_claudes_entry(place, *options, variables=variables)
    if not result.stdout:
        assert result.exit_code == 0, result
        return False
    assert DENIAL.items() <= result.answer.items() and result.exit_code == 2, result
    return True


def test_claudes_entry_is_silent_where_copilot_has_the_same(place: Place) -> None:
    place.install(["claude", "copilot"])
    assert not answered(place)
    place.install(["claude", "copilot"], timeout=3)
    assert not answered(place)


def test_so_it_is_where_names_need_quotes(tmp_path: Path) -> None:
    place = Place(tmp_path, "a $project", "it's a policy.py")
    place.install(["claude", "copilot"])
    assert not answered(place)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("closed", [False, True])
def test_so_it_is_in_resident_mode(place: Place, client: tuple[str, ...], closed: bool) -> None:
    place.install(["claude", "copilot"], client=client, fail_closed=closed)
    assert not answered(place)
    changed(place, entry={"bash": lambda command: command.replace("/onehook/resident/", "/elsewhere/onehook/resident/")})
    assert answered(place)


def test_claudes_entry_answers_where_copilot_has_none(place: Place) -> None:
    place.install(["claude"])
    assert answered(place)


def changed(place: Place, **changes: object) -> None:
    file = place.project / own.FILE
    data = json.loads(file.read_text())
    entry = data["hooks"]["preToolUse"][0]
    data.update({key: value for key, value in changes.items() if key not in ("entry", "event")})
    for key, value in changes.get("entry", {}).items():  # type: ignore[attr-defined]
        entry[key] = value(entry[key]) if callable(value) else value
    if "event" in changes:
        data["hooks"] = {changes["event"]: data["hooks"]["preToolUse"]}
    file.write_text(json.dumps(data))


@pytest.mark.parametrize(
    "change",
    [
        {"disableAllHooks": True},
        {"entry": {"matcher": "view"}},
        {"entry": {"bash": "true"}},
        {"entry": {"bash": "python3 other/launch.py /x/policy.py --host copilot --event PreToolUse"}},
        {"event": "postToolUse"},
        {"entry": {"bash": "true # python3 -I -S x/onehook/launch.py x/policy.py --host copilot --event PreToolUse"}},
        {"entry": {"bash": lambda text: f"true || {text}"}},
        {"entry": {"bash": lambda text: f": {text}"}},
        {"entry": {"bash": lambda text: text.replace("--host copilot", "--host copilot --probe allow")}},
        {"entry": {"bash": lambda text: text.replace(" || true", " --probe allow || true")}},
        {"entry": {"bash": lambda text: text.replace(" || true", "; true")}},
        {"entry": {"bash": lambda text: text.replace("src/onehook", "other/onehook")}},
        {"entry": {"env": {"PATH": "/x"}}},
        {"entry": {"timeoutSec": 0.01}},
        {"entry": {"type": "prompt"}},
        {"hooks": []},
    ],
)
def test_in_doubt_both_answer(place: Place, change: dict[str, object]) -> None:
    place.install(["claude", "copilot"])
    changed(place, **change)
    assert answered(place)


def test_a_file_that_is_not_json_answers_for_nobody(place: Place) -> None:
    place.install(["claude", "copilot"])
    (place.project / own.FILE).write_text("{")
    assert answered(place)


def test_another_policy_is_not_answered_for(place: Place) -> None:
    other = place.project / "other.py"
    other.write_text(place.policy.read_text())
    place.install(["copilot"], policy=other)
    assert answered(place)


def test_without_the_variable_or_outside_of_the_project_both_answer(place: Place) -> None:
    place.install(["claude", "copilot"])
    assert answered(place, variables={})
    assert answered(place, variables={"COPILOT_PROJECT_DIR": "/"})


def test_an_entry_that_fails_closed_is_not_silenced_by_one_that_fails_open(place: Place) -> None:
    place.install(["claude", "copilot"])
    assert answered(place, "--fail", "closed")
    place.install(["claude", "copilot"], fail_closed=True)
    assert not answered(place, "--fail", "closed")


def test_the_portable_runtime_knows_it_too(place: Place) -> None:
    place.install(["claude", "copilot"], portable=True)
    assert not answered(place)


def test_another_launcher_answers_for_nobody(place: Place) -> None:
    """A repository may have its own runtime that allows everything."""
    place.install(["claude"])
    place.install(["copilot"], portable=True)
    (place.project / ".onehook/launch").rename(place.project / "gone.py")
    assert answered(place)
