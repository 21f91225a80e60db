"""What prevents Grok Build from running hooks, as reported by doctor's checks; trust; and what an import takes from its lists."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from onehook.hostkit.config import Found, Machine, Place
from onehook.hosts.grok import config, live
from onehook.setup.trust import untrusted
from tests.setup.installing import Place as Installed

OURS = [Found("PreToolUse", ("hooks", "PreToolUse", 0, "hooks", 0), "onehook", {})]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "project").mkdir()
    return Machine(tmp_path / "home", tmp_path / "project", {}, "linux", tmp_path / "system")


def place(machine: Machine, scope: str) -> Place:
    return next(one for one in config.places(machine) if one.scope == scope)


def failures(machine: Machine, scope: str) -> list[str]:
    return [one.what for one in config.diagnose(machine, place(machine, scope), {}, OURS) if one.level == "fail"]


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def skipped(machine: Machine, scope: str) -> bool:
    return bool(list(untrusted("grok", machine, place(machine, scope), OURS, "")))


def test_an_entry_that_is_switched_off_by_its_name_is_reported(machine: Machine) -> None:
    assert failures(machine, "user") == failures(machine, "project") == []
    put(machine.home / ".grok/disabled-hooks", "# mine\nglobal/onehook:pre_tool_use[0].hooks[0]\n")
    assert "the PreToolUse hook is switched off in" in failures(machine, "user")[0]
    assert failures(machine, "project") == failures(machine, "enterprise") == []
    put(machine.home / ".grok/disabled-hooks", "project/onehook:pre_tool_use[0].hooks[0]\n")
    assert failures(machine, "user") == [] and len(failures(machine, "project")) == 1


def test_hooks_below_the_root_of_a_repository_are_not_read(machine: Machine) -> None:
    (machine.project.parent / ".git").mkdir()
    assert f"at the root of the repository only: {machine.project.parent}" in failures(machine, "project")[0]
    (machine.project / ".git").mkdir()
    assert failures(machine, "project") == []


@pytest.mark.parametrize("variables", [{"GROK_FOLDER_TRUST": "0"}, {}])
def test_a_project_needs_trust_unless_that_is_switched_off(machine: Machine, variables: dict[str, str]) -> None:
    moved = Machine(machine.home, machine.project, variables, "linux", machine.system_root)
    assert skipped(moved, "project") == (not variables)
    assert not skipped(moved, "user")
    put(machine.home / ".grok/config.toml", "[folder_trust]\nenabled = false\n")
    assert not skipped(moved, "project")


def test_trust_is_about_the_root_of_the_repository_and_no_folder_above(machine: Machine) -> None:
    store = machine.home / ".grok/trusted_folders.toml"
    (machine.project / ".git").mkdir()
    put(store, f'[folders."{machine.project.parent.resolve()}"]\ntrusted = true\n')
    assert skipped(machine, "project")
    put(store, f'[folders."{machine.project.resolve()}"]\ntrusted = true\n')
    assert not skipped(machine, "project")


def test_a_command_has_no_name_of_a_variable_that_grok_would_replace(tmp_path: Path) -> None:
    made = Installed(tmp_path, "a $project ${x}")
    made.install(["grok"], "user", events=["PreToolUse"])
    written = json.loads((made.home / ".grok/hooks/onehook.json").read_text())
    command = written["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert "$p" not in command and "${" not in command
    assert str(made.policy) in shlex.split(command)
    (entry, *_) = config.found(written)
    assert shlex.split(entry.command) == shlex.split(command)


def test_there_is_no_file_of_the_machine_on_windows(machine: Machine) -> None:
    windows = Machine(machine.home, machine.project, {}, "win32", machine.system_root)
    assert [one.scope for one in config.places(windows)] == ["project", "user"]


def test_every_file_with_hooks_is_read_for_an_import(machine: Machine) -> None:
    put(machine.project / ".grok/hooks/a.json", "{}")
    put(machine.project / ".grok/hooks/.hidden.json", "{}")
    read = config.TRAITS.read_from
    assert read is not None
    assert [one.path.name for one in read(machine, "project")] == ["a.json"]
    assert [one.path.name for one in read(machine, "user")] == ["config.toml"]
    assert [one.path.name for one in read(machine, "enterprise")] == ["managed_config.toml", "requirements.toml"]
    assert read(machine, "local") == []


def test_the_program_is_the_one_that_npms_script_unpacks(tmp_path: Path) -> None:
    script = put(tmp_path / "@xai-official/grok/bin/grok", "#!/usr/bin/env node\n")
    assert live.program(script) == script  # there is nothing to unpack
    put(tmp_path / "@xai-official/grok-linux-x64/bin/grok.br", "packed")
    native = put(tmp_path / "@xai-official/grok-linux-x64/bin/grok", "\x7fELF")
    assert live.program(script) == native
    assert live.program(native) == native
