"""What prevents OpenHands from running hooks, as reported by doctor's checks, and what an import takes from its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onehook.hostkit.config import Found, Machine, Place, matches
from onehook.hosts.openhands import config, imports

OURS = [Found("PreToolUse", ("hooks", "PreToolUse", 0, "hooks", 0), "onehook", {})]
MINE = {"hooks": [{"type": "command", "command": "./mine.sh"}]}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "project").mkdir()
    return Machine(tmp_path / "home", tmp_path / "project", {}, "linux", tmp_path / "system")


def put(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")


def place(machine: Machine, scope: str) -> Place:
    return next(place for place in config.places(machine) if place.scope == scope)


def levels(machine: Machine, scope: str, ours: list[Found] = OURS) -> list[str]:
    return [said.level for said in config.diagnose(machine, place(machine, scope), {}, ours)]


def test_a_repository_with_a_hooks_file_switches_the_users_policy_off(machine: Machine) -> None:
    assert levels(machine, "user") == []
    put(place(machine, "project").path, {})
    (said,) = config.diagnose(machine, place(machine, "user"), {}, OURS)
    assert said.level == "fail" and "the policy does not run here" in said.what
    assert levels(machine, "user", []) == []


def test_a_projects_file_hides_the_hooks_of_the_user(machine: Machine) -> None:
    assert levels(machine, "project") == []
    put(place(machine, "user").path, {"hooks": {"Stop": [MINE]}})
    (said,) = config.diagnose(machine, place(machine, "project"), {}, OURS)
    assert said.level == "warn" and "the 1 hooks of that file do not run here" in said.what


def test_a_variable_that_names_another_folder_is_a_failure(machine: Machine) -> None:
    moved = Machine(machine.home, machine.project, {"OPENHANDS_WORK_DIR": "/elsewhere"}, "linux", machine.system_root)
    assert levels(moved, "project") == ["fail"]
    same = Machine(machine.home, machine.project, {"OPENHANDS_WORK_DIR": str(machine.project)}, "linux", machine.system_root)
    assert levels(same, "project") == []


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([], "not an object"),
        ({"hooks": []}, "not an object"),
        ({"PreCompact": []}, "is not an event"),
        ({"hooks": {"Stop": [], "stop": []}}, "are one event"),
        ({"Stop": {}}, "must be a list"),
        ({"Stop": [{"matcher": 3, "hooks": []}]}, '"matcher" is not a string'),
        ({"Stop": [{"hooks": [{"type": "http", "command": "x"}]}]}, '"type" must be command'),
        ({"Stop": [{"hooks": [{"command": 3}]}]}, 'needs a string "command"'),
        ({"Stop": [{"hooks": [{"command": "x", "timeout": "5"}]}]}, '"timeout" must be a whole number'),
    ],
)
def test_what_openhands_does_not_start_with_is_a_problem(data: Any, text: str) -> None:
    assert any(text in problem for problem in config.problems(data))


@pytest.mark.parametrize(
    "data", [{}, {"hooks": {}}, {"hooks": {"pre_tool_use": [MINE]}, "more": 1}, {"Stop": [{"hooks": [{"command": "x"}]}]}]
)
def test_what_openhands_takes_is_none(data: Any) -> None:
    assert config.problems(data) == []


@pytest.mark.parametrize(
    ("matcher", "tool", "fits"),
    [
        ("*", "terminal", True),
        ("terminal", "terminal", True),
        ("terminal", "terminals", False),
        ("term.*", "terminal", True),
        ("/term/", "terminal", False),
        ("/terminal|task/", "task", True),
    ],
)
def test_a_matcher_is_held_against_a_name_as_openhands_does(matcher: str, tool: str, fits: bool) -> None:
    (entry,) = config.found({"hooks": {"pre_tool_use": [{"matcher": matcher, **MINE}]}})
    assert entry.event == "PreToolUse"
    assert matches(config.TRAITS, entry.matcher, [tool]) is fits


def borrowed(event: str = "PreToolUse", handler: dict[str, Any] | None = None, **group: Any) -> Any:
    (hook,) = imports.handlers({event: [{**group, "hooks": [{"command": "./mine.sh", **(handler or {})}]}]})
    return hook


@pytest.mark.parametrize(
    ("matcher", "tools"),
    [("*", []), ("terminal", ["Bash"]), ("file_editor", ["Edit", "Write", "Read"]), ("/task|think/", ["Agent", "think"])],
)
def test_a_matcher_as_unified_tools(matcher: str, tools: list[str]) -> None:
    hook = borrowed(matcher=matcher)
    assert (hook.refused, hook.tools) == ("", tools)


def test_what_does_not_run_is_not_imported() -> None:
    assert "never matches: OpenHands has no such tool" in borrowed(matcher="Bash").refused
    assert "is not about a tool" in borrowed("Stop", matcher="terminal").refused
    assert "cannot be written as a list" in borrowed(matcher="[a-z]+").refused
    assert list(imports.handlers({"PreCompact": [MINE]})) == []


def test_what_a_hook_says_of_itself_is_carried_over() -> None:
    hook = borrowed("stop", {"timeout": 5, "async": True})
    assert (hook.event, hook.timeout, hook.background, hook.losses) == ("Stop", 5.0, True, [])
    assert hook.run == 'cd "$OPENHANDS_PROJECT_DIR" || exit 1; ./mine.sh'
