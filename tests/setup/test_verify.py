"""`onehook verify`: the configs are compared with what install wrote, and each difference is reported with its repair."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from onehook.cli import main
from onehook.setup.plan import configurable
from onehook.system import state_folder

POLICY = 'from onehook import Hooks, deny\nhooks = Hooks(fail="closed")\n\n@hooks.on("PreToolUse")\ndef guard(event):\n    return None\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    (folder / "policy.py").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def onehook(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def installed(*hosts: str, more: tuple[str, ...] = ()) -> None:
    result = onehook("install", "policy.py", "--hosts", ",".join(hosts), "--yes", *more)
    assert result.exit_code == 0, result.output


def differences() -> list[dict[str, str]]:
    result = onehook("verify", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == (0 if document["ok"] else 1) and document["ok"] is not bool(document["differences"])
    found: list[dict[str, str]] = document["differences"]
    return found


def test_what_was_just_installed_is_as_installed_on_every_agent(project):
    installed(*configurable(), more=("--trust",))
    assert differences() == []
    assert "all are as installed" in onehook("verify").output


def test_the_persons_own_settings_are_not_a_difference(project):
    installed("claude")
    path = project / ".claude" / "settings.json"
    path.write_text(json.dumps({"model": "x", **json.loads(path.read_text())}, indent=4), encoding="utf-8")
    assert differences() == []


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def without_event(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["hooks"]["PreToolUse"]
    path.write_text(json.dumps(data), encoding="utf-8")


TAMPERED = {
    "the file is removed": (lambda p: (p / ".claude/settings.json").unlink(), "the file was deleted, with 5 entries"),
    "the file does not parse": (lambda p: edited(p / ".claude/settings.json", '"hooks"', '"hooks'), "settings.json"),
    "an entry is removed": (lambda p: without_event(p / ".claude/settings.json"), "the PreToolUse entry was deleted"),
    "a time-out is shorter": (lambda p: edited(p / ".claude/settings.json", '"timeout": 30', '"timeout": 1'), "timeout was 30 and is 1"),
    "a failure lets it pass": (
        lambda p: edited(p / ".claude/settings.json", '"onFailure": "block"', '"onFailure": "continue"'),
        "onFailure was 'block' and is 'continue'",
    ),
    "a matcher is narrower": (
        lambda p: edited(p / ".claude/settings.json", '"matcher": "*"', '"matcher": "Read"'),
        "matcher was '*' and is 'Read'",
    ),
    "the command is another": (lambda p: edited(p / ".claude/settings.json", "--fail closed", "--fail open"), "its command was changed"),
    "the command is neutralised": (lambda p: edited(p / ".claude/settings.json", " -I -S", " -c pass -I -S"), "its command was changed"),
    "hooks are switched off": (lambda p: edited(p / ".claude/settings.json", "{\n", '{\n  "disableAllHooks": true,\n'), "disableAllHooks"),
    "the policy is removed": (lambda p: (p / "policy.py").unlink(), "is gone"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_what_was_changed_or_removed_is_named_with_its_repair(project, case):
    tamper, text = TAMPERED[case]
    installed("claude")
    tamper(project)
    found = differences()
    assert found and any(text in one["what"] for one in found), found
    assert all(one["fix"] for one in found) and {one["host"] for one in found} == {"claude"}


def test_the_repair_repairs(project):
    installed("claude", "codex")
    without_event(project / ".claude" / "settings.json")
    (project / ".codex" / "hooks.json").unlink()
    assert "since the install: the PreToolUse entry was deleted" in onehook("doctor", "--no-fire").output
    for fix in dict.fromkeys(one["fix"] for one in differences()):
        assert onehook(*fix.split()[1:], "--yes").exit_code == 0
    assert differences() == []


def test_a_change_of_a_pinned_policy_is_a_difference(project):
    installed("claude", more=("--pin",))
    edited(project / "policy.py", "return None", "return None  #")
    assert any("changed after it was pinned" in one["what"] and one["fix"].startswith("onehook trust") for one in differences())
    assert onehook("trust", "--yes").exit_code == 0
    assert differences() == []


def test_trust_that_is_withdrawn_is_a_difference(project, tmp_path):
    installed("gemini", more=("--trust",))
    store = tmp_path / "home" / ".gemini" / "trustedFolders.json"
    assert differences() == []
    store.unlink()
    (found,) = differences()
    assert found["what"].startswith(f"what install wrote to {store} is missing") and found["fix"].endswith(" --trust")
    assert onehook(*found["fix"].split()[1:], "--yes").exit_code == 0 and differences() == []


def test_other_projects_of_the_user_are_looked_at_too(project, tmp_path, monkeypatch):
    installed("claude")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert differences() == []
    (project / ".claude" / "settings.json").unlink()
    assert [one["file"] for one in differences()] == [str(project / ".claude" / "settings.json")]
    assert json.loads(onehook("verify", "--json", "--project", str(elsewhere)).stdout)["checked"] == 0
    shutil.rmtree(project)  # a removed project is not a difference
    assert json.loads(onehook("verify", "--json").stdout) == {"ok": False, "checked": 0, "differences": []}


def test_in_a_clone_entries_and_runtime_must_be_what_onehook_writes(project):
    installed("claude", more=("--portable",))
    shutil.rmtree(state_folder())  # CI has no record
    assert differences() == []
    edited(project / ".claude" / "settings.json", "--timeout 20", "--timeout 2")
    (project / ".onehook" / "launch").write_text("pass\n", encoding="utf-8")
    assert [one["what"] for one in differences() if "the runtime in" in one["what"]]
    edited(project / ".claude" / "settings.json", "|| exit 2", "|| exit 0")
    assert onehook("verify").exit_code == 1


def test_uninstalling_leaves_nothing_to_compare(project):
    installed("claude", "opencode")
    onehook("uninstall")
    assert json.loads(onehook("verify", "--json").stdout)["checked"] == 0
