"""Sends the log to a collector, in a separate process: no event waits, and nothing is lost while the collector is down.

A destination is an endpoint and the policy that names it; only lines of that policy are sent. Its files are next to the log:

otlp-HASH.json    the endpoint, the policy, how much of the log was sent, and the metrics' totals; written once the collector has confirmed
otlp-HASH.awake   touched by the flusher while it runs: an event that finds it fresh starts none. In the future: not before then
otlp-HASH.lock    held by the flusher

A flusher sends what there is, waits a little for more, and ends. While the collector is down it retries with growing intervals, and
ends after ten minutes; five minutes later, an event starts the next.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from onehook.codec import dumps
from onehook.core import OnehookError
from onehook.lock import Lock, LockError
from onehook.log.files import log_files, order, parsed
from onehook.log.otlp import NotSent, Sender, Totals
from onehook.log.reader import Entry, quiet_of
from onehook.places import replace_file
from onehook.system import log_folder, project_of

_LIFE = 600.0  # seconds
_IDLE = 5.0  # that a flusher waits for more lines
_POLL = 0.5
_LONGEST_PAUSE = 20.0  # below logger.AWAKE, or a second flusher would be started
_REST = 300.0
_BATCH, _BATCH_BYTES = 512, 1 << 20


@dataclass
class Destination:
    """What its file stores about it. `places`: for each file extension, the current file and how much of it was sent."""

    name: str  # of its files, without their ending
    url: str
    policy: str
    since: str
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    totals: Totals = field(default_factory=Totals)
    sent: int = 0
    last_sent: str = ""
    metrics_due: bool = False
    problem: str = ""

    @classmethod
    def load(cls, path: str) -> Destination:
        data = json.loads(Path(path).read_text(encoding="ascii"))
        data["places"] = {ending: (name, at) for ending, (name, at) in data.get("places", {}).items()}
        return cls(path.removesuffix(".json"), **{**data, "totals": Totals(data.get("totals"))})

    def save(self) -> None:
        data = {key: value for key, value in vars(self).items() if key != "name"}
        replace_file(f"{self.name}.json", json.dumps({**data, "totals": self.totals.to_dict()}).encode("ascii"))

    @property
    def folder(self) -> str:
        return os.path.dirname(self.name)

    def lock(self, wait: float) -> Lock:
        return Lock(f"{self.name}.lock", wait)

    def behind(self) -> int:
        """How many lines are still to be sent."""
        return sum(1 for _, _, line in self._lines(".jsonl") if self._wanted(line))

    def _wanted(self, line: bytes) -> Entry | None:
        if b'"policy": ' + dumps(self.policy).encode() not in line:
            return None
        entry = parsed(line)
        return entry if entry is not None and entry["policy"] == self.policy and entry["time"] >= self.since else None

    def _lines(self, ending: str) -> Iterator[tuple[str, int, bytes]]:
        """The lines after a position, each with the position after it. An incomplete line is kept back until it is complete, unless there
        is a newer file."""
        name, at = self.places.get(ending, (self.since[:10] + ending, 0))
        files = [path for path in log_files(self.folder, ending) if order(os.path.basename(path)) >= order(name)]
        for path in files:
            current = os.path.basename(path)
            with open(path, "rb") as file:
                offset = at if current == name and at <= os.fstat(file.fileno()).st_size else 0
                file.seek(offset)
                for line in file:
                    if not line.endswith(b"\n") and path == files[-1]:
                        break
                    offset += len(line)
                    yield current, offset, line

    def ship(self, sender: Sender) -> int:
        """Send everything that is new, and keep the place after each batch. Returns how many lines were read; NotSent if that fails."""
        read = 0
        for batch in _batches(self._lines(".jsonl")):
            found = [entry for _, _, line in batch if (entry := self._wanted(line))]
            if found:
                sender.send_logs(found)
                for entry in found:
                    self.totals.add(entry)
                self.sent, self.last_sent, self.metrics_due = self.sent + len(found), found[-1]["time"], True
            self.places[".jsonl"] = batch[-1][:2]
            self.save()
            read += len(batch)
        if self._count_quiet():
            self.metrics_due = True
        if self.metrics_due:
            self._send_metrics(sender)
        return read

    def _count_quiet(self) -> int:
        """Events that nothing answered: those of the policy's project, or all for a policy that is not in a project."""
        project = project_of(os.path.dirname(self.policy))
        in_project = os.path.exists(os.path.join(project, ".git"))
        found = 0
        for name, offset, line in self._lines(".quiet"):
            quiet = quiet_of(line.decode("utf-8", "replace"), 0)
            self.places[".quiet"] = (name, offset)
            if quiet is not None and quiet.time >= self.since and (not in_project or quiet.project == project):
                self.totals.add_quiet(quiet)
                found += 1
        return found

    def _send_metrics(self, sender: Sender) -> None:
        """A collector that accepts no metrics still gets the lines. The next data points include what these would have reported."""
        try:
            sender.send_metrics(self.totals)
            self.metrics_due, self.problem = False, ""
        except NotSent as error:
            self.problem = str(error)
        self.save()

    def to_dict(self) -> dict[str, Any]:
        return {
            "url": self.url, "policy": self.policy, "sent": self.sent, "last_sent": self.last_sent, "behind": self.behind(),
            "running": self.running(), "problem": self.problem,
        }  # fmt: skip

    def running(self) -> bool:
        try:
            with self.lock(0):
                return False
        except LockError:
            return True


def _batches(lines: Iterator[tuple[str, int, bytes]]) -> Iterator[list[tuple[str, int, bytes]]]:
    while batch := list(islice(lines, 1)):
        size = len(batch[0][2])
        for one in islice(lines, _BATCH - 1):
            batch.append(one)
            size += len(one[2])
            if size > _BATCH_BYTES:
                break
        yield batch


def destinations(folder: str = "") -> list[Destination]:
    found = []
    for path in sorted(Path(folder or log_folder()).glob("otlp-*.json")):
        try:
            found.append(Destination.load(str(path)))
        except (OSError, ValueError, TypeError):  # damaged; the next event writes no new one, so that status can show it
            found.append(Destination(str(path).removesuffix(".json"), "?", "?", "", problem=f"{path} is damaged; delete it"))
    return found


def flush(destination: Destination, wait: float) -> int:
    """Send what is there now. Returns how many lines were sent; raises OnehookError if that is not possible."""
    with destination.lock(wait):
        current = Destination.load(f"{destination.name}.json")
        before, sender = current.sent, Sender(current.url)
        try:
            current.ship(sender)
        except OnehookError as error:
            current.problem = str(error)
            current.save()
            raise
        finally:
            sender.close()
        if not current.metrics_due and current.problem:
            current.problem = ""
            current.save()
        return current.sent - before


def main(name: str) -> None:
    """The flusher of a destination, as an event starts it."""
    import logging

    logging.disable()
    try:
        with Lock(f"{name}.lock", 10.0):  # one that is just ending looks once more for what this one was started for
            _Flusher(name).run()
    except LockError:
        pass


class _Flusher:
    def __init__(self, name: str) -> None:
        self.destination = Destination.load(f"{name}.json")
        self.awake = f"{name}.awake"

    def run(self) -> None:
        try:
            sender = Sender(self.destination.url)
        except OnehookError as error:
            self._ended(str(error))
            return
        try:
            problem = self._serve(sender)
            self._ended(problem)
            if not problem:  # what was written before `awake` was gone
                self.destination.ship(sender)
        except NotSent as error:
            self._ended(str(error))
        finally:
            sender.close()

    def _serve(self, sender: Sender) -> str:
        """Send until there is nothing more, or until the flusher's time is up. Returns the last problem, if it persists."""
        end, idle, pause, problem = time.monotonic() + _LIFE, 0.0, _POLL, ""
        while time.monotonic() < end and idle < _IDLE:
            Path(self.awake).touch(mode=0o600)
            try:
                read = self.destination.ship(sender)
                idle, pause, problem = 0.0 if read else idle + _POLL, _POLL, ""
            except NotSent as error:
                problem, pause = str(error), min(pause * 2, _LONGEST_PAUSE)
                if problem != self.destination.problem:
                    self.destination.problem = problem
                    self.destination.save()
            time.sleep(pause)
        return problem

    def _ended(self, problem: str) -> None:
        if problem:
            later = time.time() + _REST
            Path(self.awake).touch(mode=0o600)
            os.utime(self.awake, (later, later))
        else:
            Path(self.awake).unlink(missing_ok=True)
        if problem != self.destination.problem and not self.destination.metrics_due:
            self.destination.problem = problem
            self.destination.save()
