"""--workers runs every test once, in other processes, and reports the results: in a separate project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import PATIENCE, users_environment

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

CONFTEST = """\
import os, pytest, workers

def pytest_addoption(parser):
    workers.add_option(parser)

def pytest_configure(config):
    workers.register(config)

@pytest.fixture(scope="session", autouse=True)
def session():
    yield
    print("END OF", os.getpid(), file=open("ended", "a"))
"""
MANY = "@pytest.mark.parametrize('n', range(40))\n"


@pytest.fixture
def run(tmp_path):
    def start(tests, *arguments):
        shutil.copy(Path(__file__).with_name("workers.py"), tmp_path)
        (tmp_path / "conftest.py").write_text(CONFTEST)
        (tmp_path / "test_it.py").write_text(f"import os, pytest, sys, time, warnings\n{tests}")
        (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\nmarkers = slow\n")
        command = [sys.executable, "-m", "pytest", "-p", "no:onehook", "-p", "no:cacheprovider", "--workers", "3", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=users_environment(), capture_output=True, text=True, timeout=PATIENCE, check=False)

    return start


def counts(done):
    return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1].partition(" in ")[0])}


def test_each_test_runs_once_and_in_several_processes(run, tmp_path):
    done = run(f"{MANY}def test_it(n):\n    time.sleep(0.02)\n    print(n, os.getpid(), file=open('ran', 'a'))\n")
    assert (done.returncode, counts(done)) == (0, {"passed": 40}), done.stdout + done.stderr
    rows = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert sorted(int(number) for number, _ in rows) == list(range(40))
    processes = {process for _, process in rows}
    assert len(processes) > 1
    assert {line.split()[-1] for line in (tmp_path / "ended").read_text().splitlines()} == processes  # each has torn down its fixtures


def test_what_fails_is_told_as_without_workers(run):
    done = run("""
def test_fails(): print('SAID'); assert 1 == 2
def test_skipped(): pytest.skip('WHY')
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.fixture
def broken(): raise ValueError('BROKEN')
def test_error(broken): pass
def test_warns(): warnings.warn('WARNED')
""", "-ra")  # fmt: skip
    assert done.returncode == 1
    assert counts(done) == {"failed": 1, "skipped": 1, "xfailed": 1, "error": 1, "passed": 1, "warning": 1}
    for told in ("assert 1 == 2", "SAID", "WHY", "BROKEN", "WARNED", "FAILED test_it.py::test_fails"):
        assert told in done.stdout


def test_a_test_whose_process_dies_fails_and_the_others_run(run):
    done = run("def test_dies(): os._exit(7)\n@pytest.mark.parametrize('n', range(20))\ndef test_it(n): pass\n")
    assert (done.returncode, counts(done)) == (1, {"failed": 1, "passed": 20}), done.stdout + done.stderr
    assert "the process of this test has ended: 7" in done.stdout


def test_the_first_failure_can_end_it(run):
    done = run("@pytest.mark.parametrize('n', range(300))\ndef test_it(n):\n    time.sleep(0.01)\n    assert n\n", "-x")
    assert done.returncode == 1 and counts(done)["passed"] < 299


def test_what_a_test_prints_is_its_own(run):
    done = run(f"{MANY}def test_it(n, capfd):\n    os.system(f'echo {{n}}')\n    assert capfd.readouterr().out == f'{{n}}\\n'\n")
    assert (done.returncode, counts(done)) == (0, {"passed": 40}), done.stdout + done.stderr
