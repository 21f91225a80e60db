"""Qwen Code's config: where it is written, what it contains, and what its owner is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from onehook.cli import install, uninstall
from onehook.hostkit.config import Commands, Found, Machine, Wish
from onehook.hosts.qwen import config
from onehook.setup.trust import untrusted

COMMANDS = Commands("posix", "powershell", "cmd")
SETTINGS = '{\n  "$version": 3,\n  // mine\n  "ui": {"theme": "x"}\n}\n'


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home / ".qwen", project):
        folder.mkdir(parents=True)
    return Machine(home, project, system_root=tmp_path / "root")


def with_variables(machine: Machine, **variables: str) -> Machine:
    return Machine(machine.home, machine.project, variables, machine.platform, machine.system_root)


def told(machine: Machine, data: Any, timeout: int = 30000, scope: int = 0) -> list[tuple[str, str]]:
    entry = Found("PreToolUse", ("hooks", "PreToolUse", 0, "hooks", 0), "x", {"command": "x", "timeout": timeout})
    place = config.places(machine)[scope]
    found = [*config.diagnose(machine, place, data, [entry]), *untrusted("qwen", machine, place, [entry], "install")]
    return [(diagnosis.level, diagnosis.fix) for diagnosis in found]


def test_places_follow_the_variables_that_qwen_follows(machine: Machine) -> None:
    paths = [place.path for place in config.places(machine)]
    assert paths == [
        machine.project / ".qwen" / "settings.json",
        machine.home / ".qwen" / "settings.json",
        machine.system_root / "etc" / "qwen-code" / "settings.json",
    ]
    moved = with_variables(machine, QWEN_HOME="/moved", QWEN_CODE_SYSTEM_SETTINGS_PATH="/managed/settings.json")
    assert [str(place.path) for place in config.places(moved)][1:] == ["/moved/settings.json", "/managed/settings.json"]


def test_an_entry_has_a_time_out_that_old_and_new_versions_read_alike_and_no_name() -> None:
    path, group = config.slot("PreToolUse", COMMANDS, Wish(timeout=0.5), windows=False)
    assert path == ("hooks", "PreToolUse")
    assert group == {"matcher": "*", "hooks": [{"type": "command", "command": "posix", "timeout": 10000}]}
    _, group = config.slot("Stop", COMMANDS, Wish(), windows=True)
    assert group == {"hooks": [{"type": "command", "command": "powershell", "shell": "powershell", "timeout": 30000}]}


@pytest.mark.parametrize(
    ("wanted", "written"),
    [("Bash", "^(run_shell_command|monitor)$"), ("Edit", "^(edit|replace|notebook_edit)$"), ("MCP", "^(mcp__.*)$")],
)
def test_a_matcher_is_anchored_since_qwen_looks_anywhere_in_the_name(wanted: str, written: str) -> None:
    _, group = config.slot("PreToolUse", COMMANDS, Wish(matchers={"": wanted}), windows=False)
    assert group["matcher"] == written


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ([], "not a JSON object"),
        ({"hooks": []}, '"hooks" is not an object'),
        ({"hooks": {"Stop": [{}]}}, 'a group needs a list "hooks"'),
        ({"hooks": {"Stop": [{"matcher": 1, "hooks": []}]}}, '"matcher" is not a string'),
        ({"hooks": {"Stop": [{"hooks": [{"type": "agent"}]}]}}, '"type" must be one of'),
        ({"hooks": {"Stop": [{"hooks": [{"type": "http"}]}]}}, 'a http hook needs a string "url"'),
        ({"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}, 'a command hook needs a string "command"'),
    ],
)
def test_what_qwen_drops_is_reported(data: Any, part: str) -> None:
    assert [problem for problem in config.problems(data) if part in problem]


def test_settings_without_a_fault_have_no_problems() -> None:
    group = {"hooks": [{"type": "command", "command": "x", "timeout": 5}, {"type": "prompt", "prompt": "p"}]}
    assert config.problems({"hooks": {"Stop": [group], "enabled": True}}) == []


def test_switched_off_hooks_are_a_failure_with_the_way_back(machine: Machine) -> None:
    path = machine.project / ".qwen" / "settings.json"
    assert told(machine, {"disableAllHooks": True}) == [("fail", f"set disableAllHooks to false in {path}")]
    assert told(machine, {"disableAllHooks": False}) == []
    assert told(with_variables(machine, QWEN_CODE_SIMPLE="1"), {}) == [("fail", "unset QWEN_CODE_SIMPLE")]
    assert told(with_variables(machine, QWEN_CODE_SAFE_MODE="true"), {}) == [("fail", "unset QWEN_CODE_SAFE_MODE")]
    assert told(with_variables(machine, QWEN_CODE_SAFE_MODE="0"), {}) == []


def test_a_time_out_below_a_thousand_is_too_short_for_older_versions(machine: Machine) -> None:
    assert told(machine, {}, timeout=30) == [("warn", "onehook install POLICY")]


def test_trust_is_asked_for_only_where_it_is_switched_on(machine: Machine) -> None:
    assert told(machine, {}) == []
    (machine.home / ".qwen" / "settings.json").write_text('{"security": {"folderTrust": {"enabled": true}}} // on', encoding="utf-8")
    assert [level for level, _ in told(machine, {})] == ["fail"]
    assert told(machine, {}, scope=1) == []
    rules = machine.home / ".qwen" / "trustedFolders.json"
    rules.write_text(json.dumps({str(machine.project): "TRUST_FOLDER"}), encoding="utf-8")
    assert told(machine, {}) == []
    rules.write_text(json.dumps({str(machine.project): "DO_NOT_TRUST"}), encoding="utf-8")
    assert [level for level, _ in told(machine, {})] == ["fail"]


def test_installing_keeps_comments_and_uninstalling_gives_the_bytes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    policy, settings = tmp_path / "policy.py", tmp_path / ".qwen" / "settings.json"
    policy.write_text("from onehook import Hooks\nhooks = Hooks()\n", encoding="utf-8")
    settings.parent.mkdir()
    settings.write_text(SETTINGS, encoding="utf-8")
    arguments = ["--hosts", "qwen", "--project", str(tmp_path), "--yes"]
    assert CliRunner().invoke(install.command, [str(policy), *arguments]).exit_code == 0
    text = settings.read_text(encoding="utf-8")
    assert "// mine" in text
    assert "./policy.py --host qwen --event PreToolUse" in text
    CliRunner().invoke(install.command, [str(policy), *arguments])
    assert settings.read_text(encoding="utf-8") == text
    assert CliRunner().invoke(uninstall.command, arguments[:-1]).exit_code == 0
    assert settings.read_text(encoding="utf-8") == SETTINGS
