"""What prevents Droid from running hooks, as reported by doctor's checks, and what an import takes from its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onehook.core import Event
from onehook.hostkit.config import Found, Machine, Place
from onehook.hostkit.reverse import sample
from onehook.hosts import load, wire_of
from onehook.hosts.droid import config, imports
from onehook.setup.trust import untrusted

OURS = [Found("PreToolUse", ("PreToolUse", 0, "hooks", 0), "onehook", {})]
MINE = {"hooks": [{"type": "command", "command": "./mine.sh"}]}


def put(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "project").mkdir()
    return Machine(tmp_path / "home", tmp_path / "project", {}, "linux", tmp_path / "system")


def place(machine: Machine, scope: str, name: str = "hooks.json") -> Place:
    base = machine.project if scope == "project" else machine.home
    return Place(scope, base / ".factory" / name, "jsonc", base)


def failures(machine: Machine, where: Place, data: Any, ours: list[Found] | None = None) -> list[str]:
    diagnoses = config.diagnose(machine, where, data, OURS if ours is None else ours)
    return [diagnosis.what for diagnosis in diagnoses if diagnosis.level == "fail"]


def test_hooks_that_are_switched_off_in_any_file_are_reported(machine: Machine) -> None:
    assert "hooksDisabled is on" in failures(machine, place(machine, "project"), {"hooksDisabled": True})[0]
    assert "hooksDisabled is on" in failures(machine, place(machine, "user", "settings.json"), {"hooks": {"hooksDisabled": True}}, [])[0]
    assert failures(machine, place(machine, "user", "settings.json"), {"hooksDisabled": True}) == []  # not read there
    assert failures(machine, place(machine, "project"), {"hooksDisabled": False}) == []


def test_the_projects_word_counts_before_the_users(machine: Machine) -> None:
    put(machine.project / ".factory" / "hooks.json", {"hooksDisabled": False})
    assert failures(machine, place(machine, "user"), {"hooksDisabled": True}) == []


def test_entries_that_a_hooks_file_hides_are_reported(machine: Machine) -> None:
    settings = place(machine, "project", "settings.json")
    assert failures(machine, settings, {}) == []
    put(machine.project / ".factory" / "hooks.json", {"PreToolUse": [MINE]})
    assert "Droid runs those instead" in failures(machine, settings, {})[0]


def test_managed_hooks_alone(machine: Machine) -> None:
    system = Place("enterprise", machine.system_root / "etc/factory/settings.json", "jsonc", machine.system_root)
    assert "only its hooks run" in failures(machine, system, {"allowManagedHooksOnly": True}, [])[0]
    assert failures(machine, system, {"allowManagedHooksOnly": True}) == []


def test_a_folder_without_trust_is_a_note_and_one_with_is_none(machine: Machine) -> None:
    def notes() -> list[str]:
        return [found.what for found in untrusted("droid", machine, place(machine, "project"), OURS, "install") if found.level == "note"]

    (machine.project.parent / ".git").mkdir()
    assert "does not trust this folder" in notes()[0]
    for folder in (machine.project.parent.resolve(), machine.project.parent.parent.resolve()):
        put(machine.home / ".factory" / "settings.json", {"trustedFolders": {str(folder): {"trustedAt": "x"}}})
        assert notes() == []


def test_a_policy_for_prompts_is_told_that_exec_has_none(machine: Machine) -> None:
    ours = [Found("UserPromptSubmit", ("UserPromptSubmit", 0, "hooks", 0), "onehook", {})]
    assert any("droid exec PROMPT" in diagnosis.what for diagnosis in config.diagnose(machine, place(machine, "user"), {}, ours))


def handler(**more: Any) -> dict[str, Any]:
    return {"Stop": [{"hooks": [{"type": "command", "command": "x", **more}]}]}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([], "not a JSON object"),
        ({"hooks": []}, '"hooks" is not an object'),
        (handler(type="http"), '"type" must be one of command'),
        (handler(command=3), 'needs a string "command"'),
        (handler(timeout="20"), '"timeout" must be a number'),
        ({"Stop": [{"matcher": None, "hooks": []}]}, '"matcher" is not a string'),
        ({"Stop": {}}, 'a group needs a list "hooks"'),
        ({"PreToolUse": [{"matcher": "(", **MINE}]}, "Droid never runs its hooks"),
        ({"hooks": handler(type="http")}, '"type" must be one of command'),
        ({"hooksDisabled": "yes"}, '"hooksDisabled" must be true or false'),
    ],
)
def test_what_droid_does_not_take_is_a_problem(data: Any, text: str) -> None:
    assert any(text in problem for problem in config.problems(data))


@pytest.mark.parametrize("data", [{}, handler(timeout=20.5), {"PreToolUse": [{"matcher": "*", **MINE}]}, {"Foo": 1, "description": "x"}])
def test_what_droid_takes_is_none(data: Any) -> None:
    assert config.problems(data) == []


def borrowed(event: str = "PreToolUse", **group: Any) -> Any:
    (hook,) = imports.handlers({event: [{**group, **MINE}]})
    return hook


MATCHERS: list[tuple[str | None, list[str]]] = [
    (None, []), ("*", []), ("Execute", ["Bash"]), ("Exec", ["Bash"]), ("^(Create|Edit)$", ["Write", "Edit"]),
    ("github___.*", ["mcp__*github__*"]), ("^github___create$", ["mcp__github__create"]), (".*___.*", ["MCP"]), ("___", ["MCP"]),
    ("Execute|Bash", ["Bash"]), ("^TodoWrite$", ["TodoWrite"]),
]  # fmt: skip


@pytest.mark.parametrize(("matcher", "tools"), MATCHERS)
def test_a_matcher_as_unified_tools(matcher: str | None, tools: list[str]) -> None:
    hook = borrowed() if matcher is None else borrowed(matcher=matcher)
    assert (hook.refused, hook.tools) == ("", tools)


@pytest.mark.parametrize("matcher", ["Bash", "Bash|NotebookEdit", "[^r].*", "(?!x)y", "^___x$"])
def test_a_matcher_that_fits_nothing_here_does_not_come_alive_elsewhere(matcher: str) -> None:
    assert "its matcher" in borrowed(matcher=matcher).refused


def test_a_name_that_is_no_tool_of_droids_is_a_loss() -> None:
    assert "'Bash' in its matcher is not a tool of Droid" in borrowed(matcher="Execute|Bash").losses


def test_the_commands_that_a_group_is_for() -> None:
    hook = borrowed(matcher="Execute", commandRegex="^git push")
    assert (hook.tools, hook.commands, hook.timeout) == (["Bash"], ["git push*"], 60.0)
    assert hook.run == 'cd "$FACTORY_PROJECT_DIR" || exit 1; ./mine.sh'
    assert "has no equivalent in a manifest" in borrowed(commandRegex="a(b)+c").refused
    assert "exclude each other" in borrowed(matcher="Create", commandRegex="^git").refused


def test_why_a_session_starts() -> None:
    assert borrowed("SessionStart", matcher="startup|resume").sources == ["startup", "resume"]
    assert "never matches" in borrowed("SessionStart", matcher="begin").refused
    assert "has no equivalent in a manifest" in borrowed("SessionStart", matcher="(").refused
    assert borrowed("PreCompact", matcher="manual").refused == ""  # not compared with anything there


def test_what_does_not_run_is_not_imported(machine: Machine) -> None:
    hooks, settings = place(machine, "project"), place(machine, "project", "settings.json")
    (unread,) = imports.handlers({"hooks": {"Stop": [MINE]}}, hooks)
    assert 'does not read "hooks" in this file' in unread.refused
    (read,) = imports.handlers({"hooks": {"Stop": [MINE]}}, settings)
    assert (read.refused, read.path) == ("", ("hooks", "Stop", 0, "hooks", 0))
    put(hooks.path, {"Stop": [MINE]})
    (hidden,) = imports.handlers({"hooks": {"Stop": [MINE]}}, settings)
    assert "Droid runs only those" in hidden.refused
    (off, *_) = imports.handlers({"Stop": [MINE], "hooksDisabled": True})
    assert "hooksDisabled" in off.refused
    (unknown,) = imports.handlers({"hooks": {"PostToolUseFailure": [MINE]}})
    assert "Droid has no event" in unknown.refused
    (odd,) = imports.handlers({"Stop": [{"hooks": [{"type": "http", "url": "https://hooks.example"}]}]})
    assert "not a command" in odd.refused


def test_a_rewritten_prompt_stays_on_droid_and_is_refused_elsewhere() -> None:
    reverse = load("droid", "reverse")
    said = '{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "updatedInput": {"prompt": "***"}}}'
    own: Event = wire_of("droid").parse(reverse.payload(sample("UserPromptSubmit", prompt="p", session_id="s", cwd="/p")), "")
    assert reverse.answer(own, said, "", 0).native == {"droid": json.loads(said)}
