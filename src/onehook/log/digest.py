"""What the statistics need from a log file: for lines that count the same, how often they took how long.

The digest of a file that is no longer appended to is stored next to it, in FILE.digest, and is used while the file has the same size, the
same time and the same end. Only the fields that count are searched for in a line: parsing all of it takes several times as long.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from math import log
from typing import Any, NamedTuple

from onehook.codec import loads
from onehook.log.files import log_files, parsed
from onehook.log.reader import Entry, epoch
from onehook.places import replace_file

STEP = 0.02  # of the histogram, so that percentiles are exact to 2 %
LEAST, LEAST_STEP = 0.01, -230  # ms; what is less counts as this
_VERSION = 1
_MUCH = 64 << 20  # bytes
_MOST_WORKERS = 8
_MOST_KEPT = 10_000  # strings that are remembered, since most lines have the same ones
_END = 4096


class Counted(NamedTuple):
    """The fields of a line that count. `time`: the day, for lines that are counted together."""

    time: str
    agent: str
    project: str
    decision: str
    would: str | None
    by: list[Entry]
    failed: bool
    overridden: bool  # by a pause, a person, or an exception


Steps = dict[int, int]
Digest = list[tuple[Counted, Steps]]


def digests(folder: str, since: str = "", until: str = "") -> Iterator[tuple[Counted, Steps]]:
    """The lines of the log and the events that nothing answered, with those that count the same grouped."""
    whole: list[str] = []
    partly: list[str] = []
    for ending in _READERS:
        files = log_files(folder, ending)
        for path in files:
            day = os.path.basename(path)[:10]
            if since[:10] <= day and (not until or day <= until[:10]):
                (partly if path == files[-1] or day in (since[:10], until[:10]) else whole).append(path)
    _make_together([path for path in whole if not _is_fresh(path)])
    for path in whole:
        for one, steps in _kept(path) if _is_fresh(path) else _made(path):
            if since[:10] <= one.time and (not until or one.time <= until[:10]):  # if the clock was set back, the newest file is continued
                yield one, steps
    for path in partly:
        yield from _read(path, since, until)


def _read(path: str, since: str = "", until: str = "") -> Digest:
    return _READERS[os.path.splitext(path)[1]](path, since, until)


def step_of(ms: float) -> int:
    return int(log(ms) / STEP) if ms > LEAST else LEAST_STEP


# --- lines -----------------------------------------------------------------------------------------------------------------------


class _Memory:
    """Values of strings that occur again and again."""

    def __init__(self, value: Callable[[bytes], Any]) -> None:
        self.value = value
        self.known: dict[bytes, Any] = {}

    def __call__(self, raw: bytes) -> Any:
        found = self.known.get(raw)
        if found is None:
            if len(self.known) > _MOST_KEPT:
                self.known.clear()
            found = self.known[raw] = self.value(raw)
        return found


def _told(raw: bytes) -> tuple[Any, ...]:
    """Of `"decision": ..., "would": ..., "by": [...]`: what counts the same for other lines, and which rules or handlers answered."""
    told = loads(f"{{{raw.decode('ascii')}}}")
    return told["decision"], told["would"], tuple((one["kind"], one["name"]) for one in told["by"]), told["by"]


def _lines_of(path: str, since: str, until: str) -> Digest:
    found: dict[tuple[Any, ...], tuple[Counted, Steps]] = {}
    told_of, step_at, text_of = _Memory(_told), _Memory(lambda raw: step_of(float(raw))), _Memory(lambda raw: loads(raw.decode("ascii")))
    first, last = since.encode(), until.encode()
    with open(path, "rb", buffering=1 << 20) as file:
        for line in file:
            try:
                # What precedes each value, in the order of logger.py. In a string, a quote has a backslash before it.
                time = line.index(b'"time": "') + 9
                agent = line.index(b', "agent": "', time) + 11
                project = line.index(b', "project": "', agent) + 13
                event = line.index(b', "event": "', project)
                decision = line.index(b', "decision": "', event) + 2
                reason = line.index(b'], "reason": "', decision)
                error = line.index(b', "error": "', reason) + 12
                ms = line.index(b', "ms": ', error) + 8
                policy = line.index(b', "policy": "', ms)
                usual = line.endswith(b', "pause": null, "approver": null}\n')
                if not usual and not line.endswith(b"}\n"):
                    raise ValueError
                decided, would, names, by = told_of(line[decision : reason + 1])
                step = step_at(line[ms:policy])
                key = (
                    line[time : time + 10], line[agent : line.index(b'"', agent + 1) + 1], line[project:event], decided, would, names,
                    line[error] != 34, any("exception" in one for one in by) or (not usual and _overridden(line, policy)),
                )  # fmt: skip
                if not first <= line[time : time + 24] or (last and line[time : time + 24] >= last):
                    continue
            except Exception:
                _add_parsed(line, since, until, found)
                continue
            known = found.get(key)
            if known is None:
                one = Counted(key[0].decode(), text_of(key[1]), text_of(key[2]), decided, would, by, key[6], key[7])
                known = found[key] = (one, {})
            known[1][step] = known[1].get(step, 0) + 1
    return list(found.values())


def _overridden(line: bytes, start: int) -> bool:
    pause = line.index(b', "pause": ', start) + 11
    approver = line.index(b', "approver": ', pause) + 14
    return line[pause : pause + 4] != b"null" or line[approver : approver + 4] != b"null"


def fields_of(entry: Entry) -> Counted:
    overridden = bool(entry["pause"] or entry["approver"] or any("exception" in one for one in entry["by"]))
    return Counted(
        entry["time"], entry["agent"], entry["project"], entry["decision"], entry["would"], entry["by"], bool(entry["error"]), overridden
    )


def _add_parsed(line: bytes, since: str, until: str, found: dict[tuple[Any, ...], tuple[Counted, Steps]]) -> None:
    """A line in an unusual format, if it is a line of the log."""
    entry = parsed(line)
    if entry is None or entry["time"] < since or (until and entry["time"] >= until):
        return
    one = fields_of(entry)
    _, steps = found.setdefault((line,), (one._replace(time=one.time[:10]), {}))
    step = step_of(entry["ms"])
    steps[step] = steps.get(step, 0) + 1


# --- events that nothing answered -------------------------------------------------------------------------------------------------


def _quiet_of(path: str, since: str, until: str) -> Digest:
    first, last = epoch(since) if since else 0.0, epoch(until) if until else float("inf")
    found: dict[tuple[bytes, bytes, int], Steps] = {}
    step_at = _Memory(lambda raw: step_of(float(raw)))
    with open(path, "rb", buffering=1 << 20) as file:
        for line in file:
            try:
                at, agent, _, _, ms, project = line.split(b" ", 5)
                moment, step = float(at), step_at(ms)
            except ValueError:  # half a line, of a process that was killed
                continue
            if first <= moment < last:
                key = (agent, project, int(moment) // 86400)
                steps = found.get(key)
                if steps is None:
                    steps = found[key] = {}
                steps[step] = steps.get(step, 0) + 1
    return [
        (Counted(_day(day), agent.decode(), project.decode("utf-8", "replace").rstrip("\n"), "none", None, [], False, False), steps)
        for (agent, project, day), steps in found.items()
    ]


def _day(number: int) -> str:
    from onehook.logger import stamp

    return stamp(number * 86400.0)[:10]


# --- digests that are kept -------------------------------------------------------------------------------------------------------


def _is_fresh(path: str) -> bool:
    """Whether there is a digest of a file, and the file was not changed since."""
    try:
        with open(f"{path}.digest", encoding="ascii") as file:
            return bool(json.loads(file.readline()) == _mark(path))
    except (OSError, ValueError):
        return False


def _kept(path: str) -> Digest:
    with open(f"{path}.digest", encoding="ascii") as file:
        file.readline()
        return [(Counted(*one), {int(step): count for step, count in steps.items()}) for one, steps in map(json.loads, file)]


def _made(path: str) -> Digest:
    mark, found = _mark(path), _read(path)
    try:
        replace_file(f"{path}.digest", "".join(f"{json.dumps(line)}\n" for line in (mark, *found)).encode("ascii"))
    except OSError:
        pass  # a log that can only be read
    return found


def _make_together(paths: list[str]) -> None:
    """Make missing digests with all processors, if there is much to read."""
    workers = min(os.cpu_count() or 1, len(paths), _MOST_WORKERS)
    if workers < 2 or sum(map(os.path.getsize, paths)) < _MUCH:
        return
    from subprocess import DEVNULL, Popen

    largest = sorted(paths, key=os.path.getsize, reverse=True)
    words = [sys.executable, "-I", "-m", "onehook.log.digest"]
    started = [Popen([*words, *largest[at::workers]], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL) for at in range(workers)]
    for process in started:
        process.wait()


def _mark(path: str) -> list[Any]:
    state = os.stat(path)
    return [_VERSION, state.st_size, state.st_mtime_ns, _hash_of_end(path)]


def _hash_of_end(path: str) -> str:
    """The last line of a log file contains the hash of the line before it."""
    with open(path, "rb") as file:
        file.seek(-min(_END, os.fstat(file.fileno()).st_size), os.SEEK_END)
        return sha256(file.read()).hexdigest()


_READERS: dict[str, Callable[[str, str, str], Digest]] = {".jsonl": _lines_of, ".quiet": _quiet_of}

if __name__ == "__main__":
    for each in sys.argv[1:]:
        _made(each)
