"""Coverage reports what was run, and too little coverage fails the run: counting.py and counted_run.py in a separate project."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import PATIENCE, clean_environment

MODULE = """\
def sign(number):
    if number < 0:
        return "-"
    for _ in range(number):
        pass
    return "+"
"""
TESTS = """\
from onehook.signs import sign

def test_plus():
    assert sign(2) == "+"

def test_again_without_the_probes():
    assert sign(0) == "+"
"""
CONFTEST = """\
import counted_run
import counting
import workers

counting.EVERY = -1  # probes are taken out after every test

def pytest_addoption(parser):
    workers.add_option(parser)

def pytest_configure(config):
    counted_run.register(config)
    workers.register(config)
"""
NEGATIVE = "\ndef test_minus():\n    assert sign(-1) == '-'\n"


@pytest.fixture
def run(tmp_path):
    """Run the tests of a project that has six lines and four branches, and two lines that nothing imports."""

    def start(least, more=""):
        for name, text in {
            "src/onehook/__init__.py": "",
            "src/onehook/signs.py": MODULE,
            "src/onehook/unused.py": "def unused():\n    return 1\n",
            "tests/conftest.py": CONFTEST,
            "tests/test_signs.py": TESTS + more,
            "pyproject.toml": f'[tool.slipcover]\nfail-under = {least}\nexclude-also = []\n[tool.pytest]\npythonpath = ["src", "tests"]\n',
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for name in ("counting.py", "counted_run.py", "marking.py", "workers.py"):
            shutil.copy(Path(__file__).with_name(name), tmp_path / "tests")
        without = [word for name in ("onehook", "hypothesispytest", "timeout", "cacheprovider") for word in ("-p", f"no:{name}")]
        command = [sys.executable, "-m", "pytest", "--workers", "2", *without]
        env = clean_environment({"COUNTED_IN": str(tmp_path / "counted")})
        env = {name: value for name, value in env.items() if not name.startswith("PYTEST_") or name == "PYTEST_DEBUG_TEMPROOT"}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)

    return start


def row_of(done, file):
    return next(line.split()[1:] for line in done.stdout.splitlines() if line.startswith(f"src/onehook/{file} "))


def test_what_was_not_run_is_named_and_counted(run):
    done = run(66)
    assert done.returncode == 0, done.stdout + done.stderr
    assert row_of(done, "signs.py") == ["6", "1", "4", "1", "75", "80", "3"]  # lines, missed; branches, missed; percent; which
    assert row_of(done, "unused.py") == ["2", "2", "0", "0", "0", "0", "1-2"]
    assert "\n66.7 % of lines and branches are run by the tests; at least 66 % must be.\n" in done.stdout


def test_too_little_fails_the_run_and_a_test_more_makes_it_pass(run):
    done = run(83)
    assert (done.returncode, "\n66.7 % of lines" in done.stdout) == (1, True), done.stdout + done.stderr
    done = run(83, NEGATIVE)
    assert (done.returncode, "\n83.3 % of lines" in done.stdout) == (0, True), done.stdout + done.stderr
