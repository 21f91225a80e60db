"""doctor reports what an agent could still do to switch the policy off, and nothing if a policy protects itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from onehook.cli import main

PLAIN = 'from onehook import Hooks\n{more}\nhooks = Hooks()\n{use}\n\n@hooks.on("PreToolUse")\ndef guard(event):\n    return None\n'
PYTHON = PLAIN.format(more="", use="")
PROTECTED = PLAIN.format(more="from onehook.policies import self_protect", use="hooks.use(self_protect())")
RULES = 'packs = ["git"]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def told(name: str, text: str, *more: str, hosts: str = "claude") -> list[dict[str, str]]:
    Path(name).write_text(text, encoding="utf-8")
    assert CliRunner().invoke(main, ["install", name, "--hosts", hosts, "--yes", *more]).exit_code == 0
    findings = json.loads(CliRunner().invoke(main, ["doctor", "--no-fire", "--json", "--hosts", hosts]).stdout)["findings"]
    return [one for one in findings if "disabling this policy" in one["what"]]


@pytest.mark.parametrize(
    "name, text",
    [("policy.py", PYTHON), ("onehook.toml", f"self_protect = false\n{RULES}"), ("onehook.toml", f'mode = "observe"\n{RULES}')],
)
def test_a_policy_that_nothing_protects_is_reported_with_what_closes_it(project, name, text):
    (found,) = told(name, text)
    assert found["level"] == "note"
    assert (
        all(str(path) in found["what"] for path in (project / name, project / ".claude" / "settings.json"))
        and "onehook's own" in found["what"]
    )
    assert "self_protect" in found["fix"] and "--pin" in found["fix"]


@pytest.mark.parametrize("name, text", [("policy.py", PROTECTED), ("onehook.toml", RULES)])
def test_one_that_protects_itself_is_fine(project, name, text):
    assert told(name, text, hosts="claude,codex,droid,opencode") == []


def test_beside_one_that_protects_itself_another_is_fine_too(project):
    told("onehook.toml", RULES)
    assert told("policy.py", PYTHON) == []


def test_a_pinned_policy_is_not_in_reach_and_what_the_agent_reads_again_is_named(project):
    (found,) = told("policy.py", PYTHON, "--pin", hosts="droid")
    assert "the policy" not in found["what"].partition("it can change")[2] and "reads again in the same session" in found["what"]
    (found,) = told("policy.py", PYTHON, hosts="gemini")
    assert "at its next start" in found["what"]
