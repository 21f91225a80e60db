"""Which files of a repository are copied to try a policy, and what counts as a difference."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from onehook.hostkit.trust import root_of
from onehook.prove import own_policy
from onehook.prove.evidence import Evidence
from onehook.prove.own_policy import Tried, difference, files_of, try_policy, weak_control
from onehook.prove.process import Outcome
from onehook.prove.stage import Agent


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    texts = {
        "src/a.py": "", ".claude/hooks/guard.sh": "#!/bin/sh", ".claude/settings.json": "{}", ".claude/settings.local.json": "{}",
        ".cursor/hooks.json": "{}", ".cursor/mcp.json": "{}", ".mcp.json": "{}", ".github/hooks/onehook.json": "{}",
        ".github/workflows/ci.yml": "", ".onehook/launch": "", ".gitignore": "build/\n", "build/out": "",
        "onehook.toml": "", "ünï.txt": "",
    }  # fmt: skip
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def test_the_repositorys_files_are_copied_without_configs_and_what_is_ignored(repository: Path) -> None:
    kept = {".claude/hooks/guard.sh", ".github/workflows/ci.yml", ".gitignore", "onehook.toml", "src/a.py", "ünï.txt"}
    assert set(files_of(repository)) == kept


def test_what_is_staged_and_gone_is_not_copied(repository: Path) -> None:
    subprocess.run(["git", "-C", str(repository), "add", "-A"], check=True)
    (repository / "src" / "a.py").unlink()
    assert "src/a.py" not in files_of(repository)


def test_a_large_repository_is_an_error_that_says_what_to_do(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_policy, "MOST_BYTES", 3)
    with pytest.raises(ValueError, match="try the policy in a small repository of its own"):
        files_of(repository)


def test_the_repository_of_a_policy(repository: Path, tmp_path: Path) -> None:
    assert root_of(repository / ".claude" / "hooks") == repository
    assert root_of(tmp_path) != repository


def world(folder: Path, told: str, *files: str, turns: int = 2) -> Evidence:
    project = folder / "first" / "project"
    project.mkdir(parents=True)
    for name in files:
        (project / name).write_text("")
    return Evidence(project, folder / "home", Outcome(0, "", "", 1.0, False), turns, (told,), "")


def test_nothing_that_every_run_says_otherwise_is_a_difference(tmp_path: Path) -> None:
    with_it = world(tmp_path / "with", f"took 12 ms\n?? .claude/\n M a\n  ├── b\nin {tmp_path / 'with'}", "a")
    assert difference(with_it, world(tmp_path / "without", "took 7 ms", "a")) == ""


def test_what_differs_is_reported(tmp_path: Path) -> None:
    said = difference(world(tmp_path / "with", "denied: no", "kept"), world(tmp_path / "without", "done", "made", turns=3))
    assert said == (
        "only without the policy: made exists afterwards; only with the policy: kept exists afterwards; "
        "the model was told: denied: no; turns: 2 instead of 3"
    )


def test_a_control_that_shows_nothing_is_reported(tmp_path: Path, repository: Path) -> None:
    assert "changed no file either" in weak_control(world(tmp_path / "a", "done"), None, ())
    assert weak_control(world(tmp_path / "b", "done", "made"), None, ()) == ""
    assert "did not ask the model" in weak_control(world(tmp_path / "c", "", turns=0), None, ())
    slow = replace(world(tmp_path / "d", "", "made"), outcome=Outcome(None, "", "", 1.0, True))
    assert "did not end in time" in weak_control(slow, None, ())
    (repository / "text").write_text("before")
    same = world(tmp_path / "e", "done", "text")
    assert weak_control(same, repository, ("text", ".gitignore")) == ""
    (same.project / "text").write_text("before")
    assert "changed no file either" in weak_control(same, repository, ("text", ".gitignore"))


def test_an_agent_that_does_nothing_is_reported_with_its_control_and_progress(tmp_path: Path) -> None:
    binary = tmp_path / "claude"
    binary.write_text("#!/bin/sh\nexit 0\n")
    binary.chmod(0o755)
    policy = tmp_path / "policy.py"
    policy.write_text("from onehook import Hooks\nhooks = Hooks()\n")
    seen: list[object] = []
    (tried,) = try_policy([Agent("claude", binary, "1.0")], policy, "touch x", tmp_path / "kept", seen.append, seen.append)
    assert seen == ["claude 1.0: running without the policy", "claude 1.0: running with the policy", tried]
    assert tried == Tried("claude", "1.0", "", str(tmp_path / "kept/claude-1.0"), tried.control)
    assert "did not ask the model" in tried.control and "control" in tried.to_dict()
