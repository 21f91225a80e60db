"""`onehook import` converts the agents' own permission lists to [permissions]: each list as in the agent's documentation or code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from onehook.cli import main
from onehook.hosts import HOSTS, having, load
from onehook.policies.agent_files import NAMED
from tests.host_folders import facts

USER, PROJECT = "user", "project"
CASES = [pytest.param(host, *case, id=f"{host}-{case[0]}") for host in HOSTS for case in facts(host).PERMISSIONS]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (*NAMED, "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "project"
    for made in (folder, tmp_path / "home"):
        made.mkdir()
    monkeypatch.chdir(folder)
    return folder


def onehook(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    return result.output


def place(project: Path, scope: str, name: str, content: object) -> None:
    home = project.parent / "home"
    file = home / name.removeprefix("~/") if scope == USER or name.startswith("~/") else project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text.replace("PROJECT", str(project)), encoding="utf-8")


@pytest.mark.parametrize("host, scope, file, content, kept, refused", CASES)
def test_the_lists_of_an_agent(
    project: Path, host: str, scope: str, file: str, content: object, kept: list[tuple[str, str]], refused: list[str]
) -> None:
    place(project, scope, file, content)
    output = onehook("import", "--from", host, "--scope", scope)
    from onehook.packs import read_toml

    made = (project / "onehook.toml").read_bytes()
    held = read_toml("onehook.toml", made)["permissions"]
    assert [(level, entry) for level in ("deny", "ask", "allow") for entry in held.get(level, [])] == sorted(
        kept, key=lambda pair: ("deny", "ask", "allow").index(pair[0])
    )
    for why in refused:
        assert why in output and why in made.decode().partition("# Not carried over:")[2], why
    assert output.count("NOT imported") == len(refused)
    onehook("test")  # the file is a valid rules file
    told = json.loads(onehook("import", "--from", host, "--scope", scope, "--output", "other.toml", "--dry-run", "--json"))
    assert [(one["level"], one["entry"]) for one in told["permissions"] if "entry" in one] and told["would_write"]


def test_every_agent_with_lists_of_its_own_has_a_case() -> None:
    assert {case.values[0] for case in CASES} == set(having("permissions"))


def test_the_page_says_which_lists_are_read_of_each_agent() -> None:
    page = (Path(__file__).parents[2] / "docs" / "permissions.md").read_text(encoding="utf-8")
    described = {line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")}
    assert {load(host, "config").TITLE for host in having("permissions")} <= described


def test_what_one_agent_holds_is_held_by_all_and_the_originals_stay(project: Path) -> None:
    text = {"permissions": {"deny": ["Shell(terraform)"]}}
    place(project, PROJECT, ".cursor/cli.json", text)
    place(project, PROJECT, ".claude/settings.json", {
        "permissions": {"deny": ["Bash(terraform:*)"]},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./done"}]}]},
    })  # fmt: skip
    output = onehook("import", "--from", "cursor", "--from", "claude", "--take-over")
    made = (project / "onehook.toml").read_text()
    assert made.count("Bash(terraform:*)") == 2 and "cursor: Shell(terraform)" in made and "[[hook]]" in made
    assert "3 imported, 0 not imported" in output
    assert json.loads((project / ".cursor" / "cli.json").read_text()) == text
    assert json.loads((project / ".claude" / "settings.json").read_text())["permissions"] == {"deny": ["Bash(terraform:*)"]}
    assert json.loads(onehook("explain", "sudo terraform apply", "--json"))["decision"] == "deny"
    onehook("install", "onehook.toml", "--hosts", "all", "--yes")


def test_nothing_but_refused_entries_writes_nothing(project: Path) -> None:
    place(project, PROJECT, ".claude/settings.json", {"permissions": {"deny": ["Skill(x)"]}})
    assert "no permission to import" in onehook("import", "--from", "claude", code=1)
    assert not (project / "onehook.toml").exists()
