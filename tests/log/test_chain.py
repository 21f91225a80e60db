"""The chain of the decision log: many writers at once, some of them killed, and all kinds of later changes to the files."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import PACKAGE
from test_logger import entry_of

from onehook import logger
from onehook.core import Options
from onehook.log import repair
from onehook.log.chain import verify
from onehook.log.files import log_files
from onehook.log.reader import entries, find, log_folder, newest, quiet_events
from onehook.system import digest

WRITER = f"""
import os, sys, time
sys.path.insert(0, {str(PACKAGE.parent)!r})
from onehook.core import Options
from onehook.logger import append, stamp, new_id
fields = {entry_of()!r}
while not os.path.exists(sys.argv[1]):
    time.sleep(0.005)
    now = time.time()
    append({{**fields, "time": stamp(now), "id": new_id(now), "subject": "x" * int(now * 1e6 % 9000)}}, Options())
"""


def write(count, **fields):
    for number in range(count):
        logger.append(entry_of(subject=str(number), **fields), Options())


def today():
    return Path(log_files(log_folder())[-1])


def test_what_was_written_verifies():
    write(5)
    checked = verify()
    assert (checked.lines, checked.files, checked.problems, checked.notes) == (5, 1, [], [])
    assert [entry["n"] for entry in entries()] == [1, 2, 3, 4, 5]


def test_an_empty_log_verifies():
    assert verify().problems == []


def crowd(seconds, stop, writers=64):
    """Many writers at once, which are killed and replaced one by one all the time. Returns how many were killed."""

    def start():
        return subprocess.Popen([sys.executable, "-I", "-S", "-c", WRITER, str(stop)], stderr=subprocess.PIPE)

    running = [start() for _ in range(writers)]
    killed, end = 0, time.time() + seconds
    while time.time() < end:
        time.sleep(0.02)
        victim = running.pop(random.randrange(len(running)))
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        killed += 1
        running.append(start())
    stop.touch()
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    return killed


def test_64_writers_of_which_some_are_killed_make_one_chain(tmp_path):
    killed = crowd(float(os.environ.get("ONEHOOK_CROWD_SECONDS", "3")), tmp_path / "stop")
    checked = verify()
    assert killed and checked.lines > 64
    assert checked.problems == []
    assert [entry["n"] for entry in entries()] == list(range(1, checked.lines + 1))
    print(f"{checked.lines} lines, {killed} killed, {len(checked.notes)} half lines: {checked.notes[:3]}")


# --- a writer that was killed ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_half_a_line_is_marked_and_the_next_starts_again(newline):
    write(2)
    with today().open("ab") as file:
        file.write(b'{"n": 3, "prev": "12' + newline)
    assert verify().problems == [] or newline
    write(2)
    checked = verify()
    assert checked.problems == [] and checked.lines == 4
    (note,) = checked.notes
    assert "half a line" in note and f"{today().name}:3" in note


@pytest.mark.parametrize("sizes", [[150], [400], [30, 400], [400, 30], [400, 200, 300]])
def test_a_line_that_was_cut_anywhere_is_known_from_one_that_was_changed(sizes):
    """The beginning of a line looks like a line. If the next writers are killed too, there are several of them."""
    write(2)
    head = Path(log_folder(), "head").read_bytes()
    before = today().read_bytes()
    write(1)
    line = today().read_bytes()[len(before) :]
    assert len(line) > max(sizes)
    today().write_bytes(before + b"\n".join(line[:size] for size in sizes))
    Path(log_folder(), "head").write_bytes(head)
    assert verify().problems == []
    write(2)
    checked = verify()
    assert (checked.problems, checked.lines) == ([], 4)
    (note,) = checked.notes
    assert f"{today().name}:3: half a line" in note
    today().write_bytes(today().read_bytes().replace(line[: sizes[-1]] + b"\n", b"", 1))
    assert verify().problems, "a half line that somebody removed is missing"


def test_a_line_that_head_does_not_know_of_is_taken_into_the_chain():
    write(2)
    head = Path(log_folder(), "head").read_bytes()
    write(2)
    Path(log_folder(), "head").write_bytes(head)
    assert verify().problems == []
    write(1)
    assert (verify().problems, verify().notes, verify().lines) == ([], [], 5)


def test_a_process_that_keeps_the_lock_does_not_keep_others_forever(monkeypatch):
    write(1)
    code = f"import os, sys, time; d = os.open({str(Path(log_folder(), 'head'))!r}, os.O_RDWR); os.lockf(d, os.F_LOCK, 0)"
    with subprocess.Popen([sys.executable, "-c", f"{code}; print(flush=True); time.sleep(60)"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        monkeypatch.setattr(repair, "_PATIENCE", 0.1)
        with pytest.raises(OSError, match="lock"):
            write(1)
        holder.kill()
    write(1)
    assert verify().problems == [] and verify().lines == 2


def test_without_lockf_the_lock_of_the_platform_is_used(monkeypatch):
    monkeypatch.delattr(logger.os, "lockf")
    monkeypatch.delattr(os, "lockf", raising=False)
    write(3)
    assert verify().problems == [] and verify().lines == 3


def test_without_the_c_module_hashlib_is_used(monkeypatch):
    before = digest(b"x")
    name = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "_json", None)
    assert digest(b"x") == before


# --- what verify finds -------------------------------------------------------------------------------------------------------------


def remove(lines):
    del lines[2]


def remove_several(lines):
    del lines[1:4]


def change(lines):
    lines[2] = lines[2].replace(b'"decision": "deny"', b'"decision": "allow"')


def change_last(lines):
    lines[-1] = lines[-1].replace(b'"decision": "deny"', b'"decision": "allow"')


def swap(lines):
    lines[1], lines[2] = lines[2], lines[1]


def cut(lines):
    del lines[-2:]


def cut_in_the_middle(lines):
    lines[-1] = lines[-1][:40]


def repeat(lines):
    lines.insert(2, lines[1])


def garble(lines):
    lines[2] = b"nothing\n"


def forge_a_half_line(lines):
    lines[2] = b'{"n": 3, "pre\n'


TAMPERING = {
    remove: "line 3 is missing before line 4",
    remove_several: "lines 2 to 4 are missing before line 5",
    change: "line 3, before this one, was changed",
    change_last: "line 6 was changed after it was written",
    swap: "line 2 is missing before line 3",
    cut: "lines 5 to 6 are missing at the end",
    cut_in_the_middle: "not a line of the log",
    repeat: "line 2 comes after line 2",
    garble: "not a line of the log",
    forge_a_half_line: "not a line of the log",
}


@pytest.mark.parametrize("tamper, found", TAMPERING.items(), ids=[tamper.__name__ for tamper in TAMPERING])
@pytest.mark.parametrize("written_after", [False, True])
def test_tampering_is_found(tamper, found, written_after):
    write(6)
    lines = today().read_bytes().splitlines(keepends=True)
    tamper(lines)
    today().write_bytes(b"".join(lines))
    if written_after:
        write(1)
        assert verify().problems, "a line that is written afterwards must not hide it"
    else:
        assert any(found in problem for problem in verify().problems), verify().problems


def test_a_file_that_is_gone_is_found(monkeypatch):
    for day in ("2026-11-01", "2026-11-02", "2026-11-03"):
        logger.append(entry_of(time=f"{day}T10:00:00.000Z"), Options())
    assert verify().problems == [] and verify().files == 3
    Path(log_folder(), "2026-11-02.jsonl").unlink()
    assert "line 2 is missing before line 3" in verify().problems[0]


def test_the_first_file_that_is_gone_is_found():
    for day in ("2026-11-01", "2026-11-02"):
        logger.append(entry_of(time=f"{day}T10:00:00.000Z"), Options())
    Path(log_folder(), "2026-11-01.jsonl").unlink()
    assert "begins with line 2" in verify().problems[0]


def test_head_that_is_gone_is_found_before_and_after_the_next_line():
    write(3)
    Path(log_folder(), "head").unlink()
    assert "`head` is missing" in verify().problems[0]
    write(1)
    assert "`head` was missing" in verify().problems[0] and verify().lines == 4


# --- files -------------------------------------------------------------------------------------------------------------------------


def test_a_new_day_is_a_new_file_that_continues_the_chain():
    logger.append(entry_of(time="2026-11-01T23:59:59.000Z"), Options())
    logger.append(entry_of(time="2026-11-02T00:00:01.000Z"), Options())
    logger.append(entry_of(time="2026-11-01T23:59:59.000Z"), Options())  # the clock was set back
    assert [Path(path).name for path in log_files(log_folder())] == ["2026-11-01.jsonl", "2026-11-02.jsonl"]
    assert [entry["n"] for entry in entries()] == [1, 2, 3] and verify().problems == []


def test_a_day_with_more_than_a_file_may_hold_has_several(monkeypatch):
    monkeypatch.setattr(logger, "MAX_FILE", 2000)
    write(50)
    names = [Path(path).name for path in log_files(log_folder())]
    assert len(names) > 9, names
    assert names[0].count(".") == 1 and names[-1].endswith(f".{len(names)}.jsonl")
    assert [entry["n"] for entry in entries()] == list(range(1, 51)) and verify().problems == []
    assert [entry["n"] for entry in newest(7, lambda entry: True)] == list(range(44, 51))


def test_old_files_are_swept_and_the_log_says_so():
    options = Options({"log_keep": 30})
    for day in ("2026-08-01", "2026-10-30"):
        logger.append(entry_of(time=f"{day}T10:00:00.000Z"), options)
    quiet = Path(log_folder(), "2026-08-01.quiet")
    quiet.write_text("1785000000.000 claude Stop - 1.00 /p\n")
    for path in (Path(log_folder(), "2026-08-01.jsonl"), quiet):
        os.utime(path, (time.time() - 31 * 86400,) * 2)
    logger.append(entry_of(time="2026-11-01T10:00:00.000Z"), options)
    assert sorted(os.listdir(log_folder()))[:1] == ["2026-10-30.jsonl"] and not list(quiet_events())
    swept = newest(1, lambda entry: True)[0]
    assert (swept["event"], swept["subject"], swept["agent"]) == ("LogSwept", "2026-08-01.jsonl", "onehook")
    checked = verify()
    assert checked.problems == [] and "begins with line 2" in checked.notes[0]


def test_the_size_of_all_files_is_bounded(monkeypatch):
    monkeypatch.setattr(logger, "MAX_FILE", 20_000)
    options = Options({"log_size": 0.1})
    for number in range(400):
        logger.append(entry_of(subject="x" * 400, n_th=number), options)
    total = sum(os.path.getsize(path) for path in log_files(log_folder()))
    assert total < 0.15 * (1 << 20)
    assert verify().problems == []


def test_a_decision_is_found_by_the_end_of_its_id():
    write(3)
    last = newest(1, lambda entry: True)[0]
    assert find(last["id"][-6:]) == last == find(last["id"])
