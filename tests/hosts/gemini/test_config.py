"""Gemini CLI's config: where it is written, what it contains, and what its owner is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from onehook.cli import install, uninstall
from onehook.hostkit.config import Commands, Found, Machine, Wish
from onehook.hosts.gemini import config
from onehook.setup.trust import untrusted

COMMANDS = Commands("posix", "powershell", "cmd")
SETTINGS = """{
  // mine
  "ui": {"theme": "x"}, /* kept */
  "hooks": {"BeforeTool": [{"matcher": "glob", "hooks": [{"type": "command", "command": "true"}]}]}
}
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home / ".gemini", project):
        folder.mkdir(parents=True)
    return Machine(home, project, system_root=tmp_path / "root")


def with_variables(machine: Machine, **variables: str) -> Machine:
    return Machine(machine.home, machine.project, variables, machine.platform, machine.system_root)


def ours(command: str = "python -I -S /x/onehook/launch.py ./policy.py", **item: Any) -> list[Found]:
    return [Found("BeforeTool", ("hooks", "BeforeTool", 0, "hooks", 0), command, {"command": command, "timeout": 30000, **item})]


def told(machine: Machine, data: Any, entries: list[Found] | None = None, scope: int = 0) -> list[tuple[str, str]]:
    place = config.places(machine)[scope]
    entries = ours() if entries is None else entries
    found = [*config.diagnose(machine, place, data, entries), *untrusted("gemini", machine, place, entries, "install")]
    return [(diagnosis.level, diagnosis.fix) for diagnosis in found]


def trusted(machine: Machine, rules: dict[str, str]) -> list[tuple[str, str]]:
    (machine.home / ".gemini" / "trustedFolders.json").write_text(f"// mine\n{json.dumps(rules)}", encoding="utf-8")
    return told(machine, {})


def test_places_follow_the_variables_that_gemini_follows(machine: Machine) -> None:
    paths = [place.path for place in config.places(machine)]
    assert paths == [
        machine.project / ".gemini" / "settings.json",
        machine.home / ".gemini" / "settings.json",
        machine.system_root / "etc" / "gemini-cli" / "settings.json",
    ]
    moved = with_variables(machine, GEMINI_CLI_HOME="/moved", GEMINI_CLI_SYSTEM_SETTINGS_PATH="/managed/settings.json")
    assert [str(place.path) for place in config.places(moved)][1:] == ["/moved/.gemini/settings.json", "/managed/settings.json"]
    assert {place.format for place in config.places(machine)} == {"jsonc"}


def test_an_entry_has_its_time_out_in_milliseconds_and_a_name() -> None:
    path, group = config.slot("PreToolUse", COMMANDS, Wish(timeout=5), windows=False)
    assert path == ("hooks", "BeforeTool")
    assert group == {"matcher": "*", "hooks": [{"name": "onehook", "type": "command", "command": "posix", "timeout": 15000}]}
    assert config.slot("Stop", COMMANDS, Wish(), windows=True) == (
        ("hooks", "AfterAgent"),
        {"hooks": [{"name": "onehook", "type": "command", "command": "powershell", "timeout": 30000}]},
    )


@pytest.mark.parametrize(
    ("wanted", "written"),
    [
        ("Bash", "^(run_shell_command)$"),
        ("Write|Edit", "^(write_file|replace)$"),
        ("MCP", "^(mcp_.*)$"),
        ("Grep", "^(grep_search|search_file_content)$"),
    ],
)
def test_a_matcher_is_anchored_since_gemini_looks_anywhere_in_the_name(wanted: str, written: str) -> None:
    _, group = config.slot("PreToolUse", COMMANDS, Wish(matchers={"": wanted}), windows=False)
    assert group["matcher"] == written


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ([], "not a JSON object"),
        ({"hooks": []}, '"hooks" is not an object'),
        ({"hooks": {"BeforeTool": {}}}, 'a group needs a list "hooks"'),
        ({"hooks": {"BeforeTool": [{"matcher": "x"}]}}, 'a group needs a list "hooks"'),
        ({"hooks": {"BeforeTool": [{"matcher": 1, "hooks": []}]}}, '"matcher" is not a string'),
        ({"hooks": {"BeforeTool": [{"hooks": [{"type": "http"}]}]}}, '"type" must be one of'),
        ({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": ""}]}]}}, 'a string "command"'),
        ({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x", "timeout": "30s"}]}]}}, '"timeout" must be a number'),
    ],
)
def test_what_gemini_drops_is_reported(data: Any, part: str) -> None:
    assert [problem for problem in config.problems(data) if part in problem]


def test_settings_without_a_fault_have_no_problems() -> None:
    group = {"matcher": "*", "sequential": True, "hooks": [{"type": "command", "command": "x", "timeout": 1000, "env": {}}]}
    assert config.problems({"hooks": {"BeforeTool": [group], "enabled": True, "disabled": ["x"]}, "ui": {}}) == []


def test_switched_off_hooks_are_a_failure_with_the_way_back(machine: Machine) -> None:
    trusted(machine, {str(machine.project): "TRUST_FOLDER"})
    path = machine.project / ".gemini" / "settings.json"
    assert told(machine, {"hooksConfig": {"enabled": False}}) == [("fail", f"set hooksConfig.enabled to true in {path}")]
    assert told(machine, {"hooksConfig": {"disabled": ["other", "onehook"]}}) == [("fail", "gemini, then: /hooks enable onehook")]
    assert told(machine, {"hooksConfig": {"enabled": True, "disabled": ["other"]}}) == []


def test_a_time_out_in_seconds_is_a_failure(machine: Machine) -> None:
    trusted(machine, {str(machine.project): "TRUST_FOLDER"})
    assert told(machine, {}, ours(timeout=30)) == [("fail", "onehook install POLICY")]


def test_a_folder_that_nobody_trusted_runs_no_hooks(machine: Machine) -> None:
    (found,) = told(machine, {})
    assert found[0] == "fail" and "GEMINI_CLI_TRUST_WORKSPACE=true" in found[1]
    assert [level for level, _ in told(machine, {}, scope=1)] == ["note"]
    assert told(machine, {}, entries=[]) == []


def test_the_rule_with_the_longest_path_decides_about_trust(machine: Machine) -> None:
    project, parent = str(machine.project), str(machine.project.parent)
    assert trusted(machine, {project: "TRUST_FOLDER"}) == []
    assert trusted(machine, {parent: "TRUST_FOLDER"}) == []
    assert trusted(machine, {str(machine.project.parent / "other"): "TRUST_PARENT"}) == []
    assert [level for level, _ in trusted(machine, {parent: "TRUST_FOLDER", project: "DO_NOT_TRUST"})] == ["fail"]
    assert [level for level, _ in trusted(machine, {project + "2": "TRUST_FOLDER"})] == ["fail"]


def test_trust_may_be_settled_by_a_variable_or_switched_off_by_settings(machine: Machine) -> None:
    assert told(with_variables(machine, GEMINI_CLI_TRUST_WORKSPACE="true"), {}) == []
    assert told(with_variables(machine, GEMINI_CLI_TRUST_WORKSPACE="false"), {}) == [("fail", "unset GEMINI_CLI_TRUST_WORKSPACE")]
    assert told(with_variables(machine, GEMINI_RESTRICTED_MODE="true"), {}) == [("fail", "unset GEMINI_RESTRICTED_MODE")]
    (machine.home / ".gemini" / "settings.json").write_text('{"security": {"folderTrust": {"enabled": false}}} // off', encoding="utf-8")
    assert told(machine, {}) == []


def test_installing_keeps_comments_and_uninstalling_gives_the_bytes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    policy, settings = tmp_path / "policy.py", tmp_path / ".gemini" / "settings.json"
    policy.write_text("from onehook import Hooks\nhooks = Hooks()\n", encoding="utf-8")
    settings.parent.mkdir()
    settings.write_text(SETTINGS, encoding="utf-8")
    arguments = ["--hosts", "gemini", "--project", str(tmp_path), "--yes"]
    assert CliRunner().invoke(install.command, [str(policy), *arguments]).exit_code == 0
    text = settings.read_text(encoding="utf-8")
    assert "// mine" in text and "/* kept */" in text
    assert "./policy.py --host gemini --event PreToolUse" in text
    CliRunner().invoke(install.command, [str(policy), *arguments])
    assert settings.read_text(encoding="utf-8") == text
    assert CliRunner().invoke(uninstall.command, arguments[:-1]).exit_code == 0
    assert settings.read_text(encoding="utf-8") == SETTINGS
