"""`onehook prove --policy`, as a person runs it: an imported manifest whose program is in the repository, on a real agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from onehook.prove import imports
from onehook.prove.agents import cache_folder, pinned_agents, pins

needs_claude = pytest.mark.skipif(not pinned_agents(["claude"], cache_folder()), reason="Claude Code is not in the cache")


def onehook(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-I", "-m", "onehook", *arguments]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in imports.files("rm -rf is not done here").items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755 if text.startswith("#!") else 0o644)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    assert onehook(folder, "import", "--from", "claude", "--output", "onehook.toml").returncode == 0
    return folder


@needs_claude
def test_a_manifest_is_tried_with_the_programs_of_its_repository(project: Path) -> None:
    options = ("--pinned", "--hosts", "claude", "--policy", "onehook.toml", "--json")
    done = onehook(project, "prove", *options, "--command", "rm -rf precious")
    assert done.returncode == 0, done
    (tried,) = json.loads(done.stdout)["tried"]
    assert "only with the policy: " in tried["difference"] and "precious/kept.txt exists afterwards" in tried["difference"]
    assert "rm -rf is not done here" in tried["difference"]
    assert (project / "precious" / "kept.txt").exists()  # only the copy was touched


@needs_claude
def test_a_policy_that_does_nothing_is_reported_to_do_nothing(project: Path) -> None:
    (project / "policy.py").write_text("from onehook import Hooks\nhooks = Hooks()\n")
    done = onehook(project, "prove", "--pinned", "--hosts", "claude", "--policy", "policy.py", "--command", "true", "--keep", "kept")
    assert (project / "kept" / f"claude-{pins()['claude'].version}" / "with" / "first" / "project" / "policy.py").is_file()
    assert (done.returncode, "no difference: the policy had no effect" in done.stdout) == (1, True), done
