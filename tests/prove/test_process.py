from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from onehook.hostkit.live import Launch
from onehook.prove import process
from onehook.prove.process import run_agent


def launch(tmp_path: Path, code: str, **env: str) -> Launch:
    return Launch([sys.executable, "-I", "-c", code], env, tmp_path, tmp_path / "home")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def dies(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_output_and_exit_code_are_captured(tmp_path: Path) -> None:
    code = "import sys, os; print(os.getcwd()); print('err', file=sys.stderr); sys.exit(3)"
    outcome = run_agent(launch(tmp_path, code), 20)
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (3, f"{tmp_path}\n", "err\n")
    assert not outcome.timed_out


def test_the_environment_holds_named_variables_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_KEY", "x")
    outcome = run_agent(launch(tmp_path, "import os; print(*sorted(os.environ))", EXTRA="1"), 20)
    names = set(outcome.stdout.split()) - {"LC_CTYPE"}  # Python itself adds this one in the C locale
    assert names == {"EXTRA", "HOME", "LANG", "PATH", "TERM"}


def test_home_is_the_sandbox_and_the_terminal_is_dumb(tmp_path: Path) -> None:
    outcome = run_agent(launch(tmp_path, "import os; print(os.environ['HOME'], os.environ['TERM'])"), 20)
    assert outcome.stdout == f"{tmp_path / 'home'} dumb\n"


def test_stdin_is_at_its_end(tmp_path: Path) -> None:
    assert run_agent(launch(tmp_path, "import sys; print(repr(sys.stdin.read()))"), 20).stdout == "''\n"


def test_a_run_over_its_time_is_ended_with_its_children(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    outcome = run_agent(launch(tmp_path, code), 1)
    assert (outcome.timed_out, outcome.exit_code) == (True, None)
    assert dies(int(outcome.stdout))


def test_the_time_for_the_work_begins_with_its_first_sign(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    code = "import time; time.sleep(2); open('begun', 'w'); time.sleep(60)"
    outcome = run_agent(launch(tmp_path, code), 1, 60, (tmp_path / "begun").exists)
    assert outcome.timed_out and (tmp_path / "begun").exists()  # it was not stopped after the one second that its work may take


def test_a_start_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    assert run_agent(launch(tmp_path, "import time; time.sleep(60)"), 60, 1, lambda: False).timed_out


def test_children_that_outlive_the_agent_are_ended(tmp_path: Path) -> None:
    code = "import subprocess, sys;print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)"
    outcome = run_agent(launch(tmp_path, code), 20)
    assert outcome.exit_code == 0
    assert dies(int(outcome.stdout))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only /proc tells whose a process is")
def test_a_server_that_an_agent_leaves_behind_is_ended_if_it_is_known_to(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True).pid)"
    )
    kept = run_agent(launch(tmp_path, code), 20)
    assert Path(f"/proc/{int(kept.stdout)}").exists()
    ended = run_agent(replace(launch(tmp_path, code), leaves=True), 20)
    assert dies(int(ended.stdout)) and dies(int(kept.stdout))  # both use the home of this run


def test_a_flood_of_output_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OUTPUT", 10_000)
    outcome = run_agent(launch(tmp_path, "while True: print('x' * 1000)"), 30)
    assert (outcome.flooded, outcome.timed_out, outcome.exit_code) == (True, False, None)
    assert len(outcome.stdout) == 10_000


def test_output_that_is_not_text_is_kept_readable(tmp_path: Path) -> None:
    assert "\ufffd" in run_agent(launch(tmp_path, "import os; os.write(1, b'\\xff')"), 20).stdout
