"""A run that is killed at any step leaves every file old or new; two runs at once never mix."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from onehook.setup.files import TEMP_PREFIX, Change, LockError, apply
from onehook.setup.lock import held

SOURCE = Path(__file__).resolve().parents[2] / "src"
BIG = b"x" * 150_000
OLD: dict[str, bytes | None] = {"a.json": b"old", "new/deep/b.json": None, "c.json": b"old", "big": b"old"}
NEW: dict[str, bytes | None] = {"a.json": b"new", "new/deep/b.json": b"new b", "c.json": None, "big": BIG}

KILLED_AT_STEP = """
import os, signal, sys
from pathlib import Path
from onehook.setup.files import Change, apply
from tests.setup.test_files_crash import plan
scope, step = Path(sys.argv[1]), int(sys.argv[2])
seen = []
def die(name, path):
    seen.append(name)
    if len(seen) == step:
        os.kill(os.getpid(), signal.SIGKILL)
apply(plan(scope), scope_root=scope, lock_folder=scope.parent / "locks", on_write=die)
"""

COUNTS_UP = """
import sys, time
from pathlib import Path
from onehook.setup.files import Change, StaleError, apply
scope = Path(sys.argv[1])
done = 0
while done < 25:
    before = (scope / "n").read_bytes()
    after = str(int(before) + 1).encode()
    try:
        changes = [Change(scope / "n", before, after), Change(scope / "m", before, after)]
        apply(changes, scope_root=scope, lock_folder=scope.parent / "locks", wait=30)
        done += 1
    except StaleError:
        pass
"""


def plan(scope: Path) -> list[Change]:
    return [Change(scope / name, OLD[name], NEW[name]) for name in OLD]


def child(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(SOURCE.parent)])}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], env=environment)


def fresh_scope(folder: Path) -> Path:
    scope = folder / "project"
    scope.mkdir(parents=True)
    for name, content in OLD.items():
        if content is not None:
            (scope / name).write_bytes(content)
    return scope


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_at_every_step_each_file_is_old_or_new_and_the_next_run_finishes(tmp_path: Path) -> None:
    step = 0
    while True:
        step += 1
        scope = fresh_scope(tmp_path / str(step))
        status = child(KILLED_AT_STEP, str(scope), str(step)).wait(60)
        now = {name: content_of(scope / name) for name in OLD}
        if status == 0:
            assert now == NEW
            break
        assert status == -signal.SIGKILL
        for name, content in now.items():
            assert content in (OLD[name], NEW[name]), f"{name} is torn after step {step}"
        changes = [Change(scope / name, now[name], NEW[name]) for name in OLD]
        apply(changes, scope_root=scope, lock_folder=scope.parent / "locks", wait=5)
        assert {name: content_of(scope / name) for name in OLD} == NEW
        assert not list(scope.rglob(f"{TEMP_PREFIX}*"))
    assert step > 15


def test_two_processes_never_lose_an_update_or_mix_files(tmp_path: Path) -> None:
    scope = tmp_path / "project"
    scope.mkdir()
    for name in ("n", "m"):
        (scope / name).write_bytes(b"0")
    children = [child(COUNTS_UP, str(scope)) for _ in range(2)]
    assert [process.wait(120) for process in children] == [0, 0]
    assert {name: (scope / name).read_bytes() for name in ("n", "m")} == {"n": b"50", "m": b"50"}


def test_the_waiting_process_names_the_holder(tmp_path: Path) -> None:
    with held(tmp_path / "locks", wait=0):
        code = """
import sys
from pathlib import Path
from onehook.setup.files import LockError, apply
try:
    apply([], scope_root=Path(sys.argv[1]), lock_folder=Path(sys.argv[1]) / "locks", wait=0.1)
except LockError as error:
    sys.exit(0 if f"pid {sys.argv[2]}" in str(error) else 3)
"""
        assert child(code, str(tmp_path), str(os.getpid())).wait(60) == 0


def test_the_lock_is_free_again_after_use_and_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), held(tmp_path / "locks", wait=0):
        raise KeyError
    with held(tmp_path / "locks", wait=0), pytest.raises(LockError), held(tmp_path / "locks", wait=0):
        pass
    with held(tmp_path / "locks", wait=0):
        pass
