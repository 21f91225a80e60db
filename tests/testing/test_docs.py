"""docs/testing.md is true: every command in it is run, and its table of codes matches the code."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import forks
import pytest
from harness import users_environment

from onehook.docgen.matrix import codes, with_table
from onehook.lint.codes import CODES
from onehook.testing import Fired

PAGE = Path(__file__).parent.parent.parent / "docs" / "testing.md"
TEXT = PAGE.read_text(encoding="utf-8")
FILES = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [
    line[2:] for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines() if line.startswith("$ ")
]


def is_started(place):
    """Whether the command is run by the shell, exactly as written: the first of each verb. The others are run in forks."""
    return [command.split()[:2] for command in COMMANDS].index(COMMANDS[place].split()[:2]) == place


def shell(command, folder):
    return subprocess.run(
        command, shell=True, cwd=folder, env=users_environment(), capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def project(tmp_path):
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_there_is_something_to_run():
    assert [name for name, _ in FILES] == [".hooks/policy.py", "captured.json", ".hooks/test_policy.py"]
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("place", range(len(COMMANDS)), ids=COMMANDS)
def test_every_command_works(project, place):
    command = COMMANDS[place]
    done = shell(command, project) if is_started(place) else forks.run(shlex.split(command), project, users_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()
    assert "Traceback" not in done.stderr


def test_the_failure_that_is_shown_is_the_one_that_comes(project):
    test = project / ".hooks" / "test_policy.py"
    test.write_text(test.read_text().replace(", or_denied=True", ""))
    done = forks.run(shlex.split("pytest .hooks -k push --onehook-hosts claude,codex"), project, users_environment())
    (shown,) = re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL)
    printed = [
        line.removeprefix("E").strip().removeprefix("AssertionError: ") for line in done.stdout.splitlines() if line.startswith("E ")
    ]
    assert len(printed) == len(shown.splitlines())
    for line, wanted in zip(printed, shown.splitlines()):
        assert line.startswith(wanted.strip().removesuffix("...")), done.stdout


def test_the_table_of_codes_is_up_to_date():
    assert with_table(TEXT, "codes", codes()) == TEXT, "run: python -m onehook.docgen.matrix"
    assert all(f"| {code} |" in TEXT for code in CODES)


def test_every_assertion_is_documented():
    offered = {name for name in vars(Fired) if name.startswith("assert_")}
    assert set(re.findall(r"^\| `(assert_\w+)\(", TEXT, re.MULTILINE)) == offered
