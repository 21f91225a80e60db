"""docs/writing-policies.md is followed to the letter, in an empty folder."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import forks
from harness import users_environment

from tests.host_folders import transcripts, with_folders

PAGE = Path(__file__).resolve().parents[1] / "docs" / "writing-policies.md"
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(line: str, folder: Path, environment: dict[str, str], started: set[str]) -> subprocess.CompletedProcess[str]:
    """Run a console line with the programs of this environment. The first use of a verb starts a process; later ones run in forks."""
    program, *words = shlex.split(line)
    if program == "pytest":
        words = ["-p", "no:cacheprovider", *words]
    verb = f"onehook {words[0]}" if program == "onehook" else program
    if verb in started:
        return forks.run([program, *words], folder, environment)
    argv = [sys.executable, "-m", program, *words] if program in forks.PROGRAMS else [program, *words]
    started |= {verb} if program in forks.PROGRAMS else set()
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


def follow(folder: Path, language: str, rest: str, body: str, environment: dict[str, str], started: set[str]) -> int:
    """Do what one block says; returns how many commands were run."""
    if language == "python":
        (folder / rest.strip().removeprefix("write=")).write_text(body, encoding="utf-8")
        return 0
    lines = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
    for line in lines:
        done = run(line, folder, environment, started)
        failed = done.returncode != 0
        assert failed == (rest.strip() == "fails"), f"$ {line}\n{done.stdout}\n{done.stderr}"
    return len(lines)


def test_every_command_of_the_page_does_what_it_says(tmp_path: Path) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    for host in with_folders("transcripts"):
        shutil.copytree(transcripts(host), home, dirs_exist_ok=True, copy_function=shutil.copyfile)  # as if they had just been written
    environment = users_environment({"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "COLUMNS": "120"})
    started: set[str] = set()
    commands = sum(follow(folder, *block, environment, started) for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    assert commands == 15
    assert started == {"pytest", *(f"onehook {verb}" for verb in ("init", "fire", "lint", "replay", "install", "status", "uninstall"))}
