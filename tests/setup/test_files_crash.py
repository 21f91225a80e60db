"""A run that is killed at any step leaves every file old or new; two runs at once never mix."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onehook.lock import Lock, LockError
from onehook.setup.files import TEMP_PREFIX, FileEdit, StaleError, write
from tests.setup.killing import killed_at

SOURCE = Path(__file__).resolve().parents[2] / "src"
BIG = b"x" * 150_000
OLD: dict[str, bytes | None] = {"a.json": b"old", "new/deep/b.json": None, "c.json": b"old", "big": b"old"}
NEW: dict[str, bytes | None] = {"a.json": b"new", "new/deep/b.json": b"new b", "c.json": None, "big": BIG}

COUNTS_UP = """
import sys
from pathlib import Path
from onehook.setup.files import FileEdit, StaleError
from onehook.lock import Lock
from tests.setup.test_files_crash import written
scope = Path(sys.argv[1])
done = 0
while done < 25:
    before = (scope / "n").read_bytes()
    after = str(int(before) + 1).encode()
    try:
        with Lock(str(scope.parent / "locks" / "lock"), wait=30):
            written(scope, [FileEdit(scope / "n", before, after), FileEdit(scope / "m", before, after)])
        done += 1
    except StaleError:
        pass
"""


def written(scope: Path, edits: list[FileEdit]) -> None:
    write(edits, roots={edit.path: scope for edit in edits}, ready=lambda: None)


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


@pytest.mark.skipif(sys.platform == "win32", reason="fork and SIGKILL")
def test_killed_at_every_step_each_file_is_old_or_new_and_the_next_run_finishes(tmp_path: Path) -> None:
    step = 0
    while True:
        step += 1
        scope = fresh_scope(tmp_path / str(step))
        killed = killed_at(step, functools.partial(written, scope, [FileEdit(scope / name, OLD[name], NEW[name]) for name in OLD]))
        now = {name: content_of(scope / name) for name in OLD}
        if not killed:
            assert now == NEW
            break
        for name, content in now.items():
            assert content in (OLD[name], NEW[name]), f"{name} is torn after step {step}"
        written(scope, [FileEdit(scope / name, now[name], NEW[name]) for name in OLD])
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


SAVES = """
import os, sys, time
from pathlib import Path
path, saved, end = Path(sys.argv[1]), 0, time.monotonic() + 20
vanished = 0
while saved < 400 and time.monotonic() < end:
    for _ in range(100):  # what was exchanged at the wrong moment is put back at once
        found = path.read_bytes().split()[0] == str(saved).encode()
        if found:
            break
        time.sleep(0.01)
    vanished += not found
    saved += 1
    (path.parent / "saving").write_bytes(str(saved).encode())
    os.replace(path.parent / "saving", path)
    time.sleep(0.002)
sys.exit(1 if vanished else 0)
"""


def test_no_save_of_another_program_vanishes_while_files_are_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"0")
    saving = child(SAVES, str(path))
    written_over = 0
    while saving.poll() is None:
        before = path.read_bytes()
        try:
            written(tmp_path, [FileEdit(path, before, before.split()[0] + b" ours")])
            written_over += 1
        except StaleError:
            pass
    assert saving.returncode == 0, "a save vanished"
    assert written_over


def test_the_waiting_process_names_the_holder(tmp_path: Path) -> None:
    with Lock(f"{tmp_path}/locks/lock", wait=0):
        code = """
import sys
from pathlib import Path
from onehook.lock import Lock, LockError
try:
    with Lock(f"{sys.argv[1]}/locks/lock", wait=0.1):
        pass
except LockError as error:
    sys.exit(0 if f"pid {sys.argv[2]}" in str(error) else 3)
"""
        assert child(code, str(tmp_path), str(os.getpid())).wait(60) == 0


def test_the_lock_is_free_again_after_use_and_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Lock(f"{tmp_path}/locks/lock", wait=0):
        raise KeyError
    with Lock(f"{tmp_path}/locks/lock", wait=0), pytest.raises(LockError), Lock(f"{tmp_path}/locks/lock", wait=0):
        pass
    with Lock(f"{tmp_path}/locks/lock", wait=0):
        pass
