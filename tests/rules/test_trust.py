"""One install for all projects: the project's file applies, but only a user's trust lets it do more than stop something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import fire, reason_of, tool_payload

from onehook.cli import main
from onehook.rules.trust import is_trusted, project_file

USER = 'packs = ["git"]\n[levels]\n"git.push-force" = "deny"\n'
PROJECT = """[permissions]
deny = ["Bash(terraform:*)"]
allow = ["Bash(make:*)"]

[[rule]]
id = "no-psql"
command = "psql"
reason = "use the migrations"

[[hook]]
name = "started"
events = ["PreToolUse"]
run = ["sh", "-c", "echo no from the program >&2; touch started; exit 2"]
speaks = "claude"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with their own rules, and a project with its own file."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "ONEHOOK_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    user = tmp_path / "XDG_CONFIG_HOME" / "onehook" / "onehook.toml"
    user.parent.mkdir(parents=True)
    user.write_text(USER)
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "onehook.toml").write_text(PROJECT)
    monkeypatch.chdir(project)
    return project


def asked(project: Path, command: str, folder: str = "", *more: str):
    user = project.parent / "XDG_CONFIG_HOME" / "onehook" / "onehook.toml"
    payload = {**tool_payload("claude", command), "cwd": str(project / folder)}
    return fire(user, payload, "--host", "claude", *more, cwd=project)


def onehook(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    return result.output


def test_an_untrusted_project_only_adds_what_stops_something(place: Path) -> None:
    assert "terraform" in reason_of(asked(place, "terraform apply"), "claude")
    assert "migrations" in reason_of(asked(place, "psql", "src"), "claude")
    assert "rule git.push-force" in reason_of(asked(place, "git push -f"), "claude")
    assert (asked(place, "make all").stdout, asked(place, "ls").stdout) == ("", "")
    assert not (place / "started").exists()


def test_trust_takes_the_rest_until_the_file_changes_or_it_is_revoked(place: Path) -> None:
    output = onehook("trust")
    assert "starts sh -c" in output and "allows Bash(make:*)" in output and "is trusted in its current state" in output
    assert "no from the program" in reason_of(asked(place, "ls"), "claude") and (place / "started").exists()
    (place / "started").unlink()
    assert json.loads(onehook("trust", "--list", "--json")) == [
        {"file": str(place / "onehook.toml"), "since": json.loads(onehook("trust", "--list", "--json"))[0]["since"], "unchanged": True}
    ]
    (place / "onehook.toml").write_text(PROJECT + "# changed\n")
    assert asked(place, "ls").stdout == "" and not (place / "started").exists()
    assert "CHANGED" in onehook("trust", "--list")
    onehook("trust", "--yes")
    assert asked(place, "ls").exit_code == 2 or asked(place, "ls").stdout
    assert "is no longer trusted" in onehook("trust", "--revoke")
    (place / "started").unlink()
    assert asked(place, "ls").stdout == "" and not (place / "started").exists()
    assert json.loads(onehook("trust", "--list", "--json")) == []


def test_trust_covers_what_the_file_extends(place: Path) -> None:
    (place / "base.toml").write_text("packs = []\n")
    (place / "onehook.toml").write_text('extends = "base.toml"\n')
    onehook("trust", "--yes", "--json")
    assert is_trusted(str(place / "onehook.toml"))
    (place / "base.toml").write_text(PROJECT)
    assert not is_trusted(str(place / "onehook.toml"))


def test_a_broken_file_of_a_project_does_not_switch_off_the_users_rules(place: Path) -> None:
    (place / "onehook.toml").write_text("pakcs = 1\n")
    result = asked(place, "git push -f")
    assert "rule git.push-force" in reason_of(result, "claude")
    assert "is ignored" in asked(place, "ls").stderr


@pytest.mark.parametrize("trusted", [False, True])
def test_a_project_cannot_weaken_what_the_user_set(place: Path, trusted: bool) -> None:
    user = place.parent / "XDG_CONFIG_HOME" / "onehook" / "onehook.toml"
    user.write_text('packs = ["git", "network"]\n[levels]\n"git.push-force" = "deny"\nnetwork = "deny"\n')
    (place / "onehook.toml").write_text(
        'mode = "observe"\ndomains = ["*"]\nfail = "open"\n[levels]\n"git.push-force" = "off"\n[permissions]\nallow = ["Bash"]\n'
        '[[exception]]\nrule = "git.push-force"\ncommand = "git push *"\nreason = "no"\n'
    )
    if trusted:
        onehook("trust", "--yes", "--json")
    assert "rule git.push-force" in reason_of(asked(place, "git push -f"), "claude")
    assert "network" in reason_of(asked(place, "curl https://evil.example/x"), "claude")


def test_the_file_at_the_root_of_the_repository_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "a"):
        (folder / "onehook.toml").write_text("")
    assert project_file(str(tmp_path / "a" / "b"), "/home/x") == str(tmp_path / "onehook.toml")
    (tmp_path / "onehook.toml").unlink()
    assert project_file(str(tmp_path / "a" / "b"), "/home/x") == str(tmp_path / "a" / "onehook.toml")
    assert project_file(str(tmp_path / "a" / "b"), str(tmp_path / "a")) == ""
    assert project_file("", "/home/x") == ""


def test_install_for_the_user_serves_every_project(place: Path) -> None:
    user = place.parent / "XDG_CONFIG_HOME" / "onehook" / "onehook.toml"
    onehook("install", str(user), "--hosts", "claude", "--scope", "user", "--yes")
    installed = json.loads((place.parent / "HOME" / ".claude" / "settings.json").read_text())
    assert str(user) in installed["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert "only its restrictions apply" in " ".join(CliRunner().invoke(main, ["doctor", "--hosts", "claude"]).output.split())
    onehook("trust", "--yes", "--json")
    assert "only its restrictions apply" not in " ".join(CliRunner().invoke(main, ["doctor", "--hosts", "claude"]).output.split())
