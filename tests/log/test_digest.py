"""Counting a large log: the numbers are the same with and without digests, and a digest is invalid once the log has changed."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest
from harness import ANY, HOSTS
from test_logger import entry_of

from onehook.core import Options
from onehook.log import digest
from onehook.log.reader import Quiet, backwards, entries, log_folder, newest, quiet_events
from onehook.log.stats import stats
from onehook.logger import append, stamp

RULE = {"kind": "rule", "name": "git.push-force", "pack": "git", "said": "deny", "reason": 'not "by", ["reason": "force"]'}
HANDLER = {"kind": "handler", "name": "guard", "said": "ask", "reason": "sure?"}
DAY = 86400


@pytest.fixture
def log():
    """Five days of lines of every kind, and events that nothing answered."""
    chance, start = random.Random(7), time.time() - 5 * DAY
    pause = {"until": "2026-11-16T12:00:00.000Z", "rules": [], "reason": ', "approver": null}'}
    for number in range(400):
        at = start + number * DAY / 100
        decision = chance.choice(["deny", "ask", "none", "allow"])
        append(
            entry_of(
                time=stamp(at),
                agent=chance.choice(HOSTS),
                project=chance.choice(["/work/a", '/work/"event": "b', "/work/é"]),
                subject='x", "decision": "deny", "by": [',
                decision=decision,
                would=chance.choice([None, "deny"]) if decision == "none" else None,
                by=chance.choice([[RULE], [HANDLER], [RULE, HANDLER], []]),
                error=chance.choice(["", "", "boom"]),
                pause=chance.choice([None, None, pause]),
                approver=chance.choice([None, None, "Ann"]),
                ms=chance.choice([0, 0.5, 8.71, 120.0]),
                **({"content": {"a": 1}} if number % 50 == 0 else {}),
            ),
            Options(),
        )
        quiet = Path(log_folder(), f"{stamp(at)[:10]}.quiet")
        with quiet.open("a") as file:
            file.write(f"{at:.3f} {ANY} Stop - 2.00 /work/c d\n" + ("half a li\n" if number == 7 else ""))
    return Path(log_folder())


def counted(found):
    """The counts from simply reading every line."""
    groups = {}
    for entry in [*entries(), *quiet_events()]:
        told = entry._asdict() if isinstance(entry, Quiet) else entry
        group = groups.setdefault(told[found], {"events": 0, "denied": 0, "errors": 0})
        group["events"] += 1
        group["errors"] += bool(told.get("error"))
        group["denied"] += told.get("decision") == "deny" and not told["error"]
    return groups


@pytest.mark.parametrize("by", ["agent", "project"])
def test_the_counts_are_those_of_every_line_with_and_without_a_digest(log, by):
    for _ in range(2):
        found = stats(by)["groups"]
        assert {group["name"]: {name: group[name] for name in ("events", "denied", "errors")} for group in found} == counted(by)
    assert len(list(log.glob("*.jsonl.digest"))) >= 3 and len(list(log.glob("*.quiet.digest"))) >= 3
    assert {path.stat().st_mode & 0o777 for path in log.glob("*.digest")} == {0o600}


def test_a_part_of_a_day_is_counted_by_its_lines(log):
    stats()
    middle = sorted(entry["time"] for entry in entries())[217]
    wanted = [entry for entry in entries() if entry["time"] >= middle]
    quiet = [one for one in quiet_events() if one.time >= middle]
    assert stats(since=middle)["total"]["events"] == len(wanted) + len(quiet)


def test_the_newest_file_is_read_each_time(log):
    before = stats()["total"]["events"]
    append(entry_of(), Options())
    assert stats()["total"]["events"] == before + 1


@pytest.mark.parametrize("kept_time", [False, True])
def test_a_digest_of_a_file_that_was_changed_is_not_used(log, kept_time):
    before = stats()["total"]
    path = sorted(log.glob("*.jsonl"))[1]
    state, text = path.stat(), path.read_bytes()
    lines = text.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1].replace(b'"decision": "', b'"decision": "', 1)[:-2] + b"}\n")  # the same bytes
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns if kept_time else state.st_mtime_ns + 1))
    assert stats()["total"] == before
    changed = text.replace(b'"mode": "enforce"', b'"mode": "observe"')[: -len(lines[-1])] if not kept_time else text[: -len(lines[-1])]
    path.write_bytes(changed + b" " * (len(text) - len(changed)))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert stats()["total"]["events"] == before["events"] - 1  # the size and the time are the same, but the end is not


def test_a_damaged_digest_is_made_again_and_a_log_that_is_read_only_is_counted(log, monkeypatch):
    before = stats()
    for path in log.glob("*.digest"):
        path.write_text("{")
    assert stats() == before
    for path in log.glob("*.digest"):
        path.unlink()
    monkeypatch.setattr(digest.os, "replace", lambda *_: (_ for _ in ()).throw(PermissionError))
    assert stats() == before


def test_much_is_read_by_several_processes(log, monkeypatch):
    before = stats()
    for path in log.glob("*.digest"):
        path.unlink()
    monkeypatch.setattr(digest, "_MUCH", 1)
    monkeypatch.setattr(digest.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(digest, "_made", lambda path: pytest.fail(f"{path} was read here"))
    assert stats() == before


def test_lines_are_read_backwards_whatever_the_size_of_a_block(log, monkeypatch):
    (path,) = sorted(log.glob("*.jsonl"))[1:2]
    wanted = path.read_bytes().split(b"\n")[::-1]
    for size in (1, 7, 1000, 1 << 16):
        monkeypatch.setattr("onehook.log.reader._BLOCK", size)
        assert list(backwards(str(path))) == wanted


def test_the_newest_lines_are_found_without_reading_the_rest(log, monkeypatch):
    files = sorted(log.glob("*.jsonl"))
    (last,) = newest(1, lambda _: True)
    assert last == json.loads(files[-1].read_bytes().splitlines()[-1])
    for path in files[:-1]:
        path.chmod(0)
        path.rename(path.with_suffix(".gone"))
    large = files[-1]
    with large.open("r+b") as file:  # a hole at the start, too large to read into memory
        text = file.read().splitlines(keepends=True)
        file.seek(1 << 35)
        file.write(b"\n" + text[-1])  # a single line, after which nothing needs to be searched for
    try:
        assert newest(1, lambda _: True) == [last]
    finally:
        large.unlink()
