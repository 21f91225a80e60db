"""Runs recorded events through one policy, or through two to compare them. Worker processes do the work."""

from __future__ import annotations

import heapq
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from onehook.core import OnehookError
from onehook.record.sources import Source, size_of
from onehook.record.worker import COMMAND, EXITED

Verdict = dict[str, Any]
SMALL = 500_000  # bytes of events: one worker finishes these before a second has started
COMPARED = ("effect", "modified_input", "modified_output", "additional_context")


@dataclass
class Summary:
    """The totals of a replay, filled while its rows are consumed."""

    events: int = 0
    effects: dict[str, int] = field(default_factory=dict)
    lines: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    unusable: dict[str, int] = field(default_factory=dict)
    changed: int = 0

    def add(self, end: dict[str, Any]) -> None:
        self.lines += end["lines"]
        for mine, theirs in ((self.effects, end["tally"]), (self.unknown, end["unknown"]), (self.unusable, end["unusable"])):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count
        self.events += sum(end["tally"].values())


@dataclass(frozen=True)
class Order:
    """What to replay and how."""

    sources: Sequence[Source]
    policy: str
    against: str = ""
    since: str = ""
    everything: bool = False  # also the events that the policy leaves to the agent
    programs: bool = False
    hosts: tuple[str, ...] = ()  # the hosts that events may come from if they do not name theirs
    workers: int = 0
    cluster: str = ""  # the address of a Dask scheduler, instead of processes here


def replay(order: Order, summary: Summary, progress: Callable[[int, int], None] = lambda done, events: None) -> Iterator[dict[str, Any]]:
    """The rows to show, in the order of the events: verdicts, or with `against` pairs {"before", "after"} that differ.

    `against` is the previous policy: a row holds its decision and the new one.
    """
    with ExitStack() as stack:
        if order.cluster:
            from onehook.record.spread import cluster

            group = stack.enter_context(cluster(order.cluster))
            shards, start = group.shards, group.start
        else:
            shards = order.workers or _enough(order)
            start = partial(_started, stack)
        after = _workers(start, order, order.policy, shards)
        before = _workers(start, order, order.against, shards) if order.against else []

        def heard() -> None:
            progress(sum(worker.done for worker in after), sum(worker.seen for worker in after))

        if before:
            found = [_pairs(old, new, number, heard) for number, (old, new) in enumerate(zip(before, after, strict=True))]
        else:
            found = [_rows(worker, number, heard) for number, worker in enumerate(after)]
        for _, _, row in heapq.merge(*found):
            summary.changed += bool(before)
            yield row
        for worker in after:
            summary.add(worker.end)


def _enough(order: Order) -> int:
    """How many local workers to start: two processes, unless there is one processor or little to do."""
    return 1 if order.against or os.cpu_count() == 1 or size_of(order.sources) < SMALL else 2


_Row = tuple[list[int], int, dict[str, Any]]  # the place of an event, the worker, and what to show


def _rows(worker: _Worker, number: int, heard: Callable[[], None]) -> Iterator[_Row]:
    for verdict in worker.verdicts(heard):
        yield verdict["at"], number, verdict


def _pairs(before: _Worker, after: _Worker, number: int, heard: Callable[[], None]) -> Iterator[_Row]:
    for old, new in zip(before.verdicts(), after.verdicts(heard), strict=True):
        if any(old[name] != new[name] for name in COMPARED):
            yield new["at"], number, {"before": old, "after": new}


_Start = Callable[[list[dict[str, Any]]], list[Iterator[bytes]]]


def _workers(start: _Start, order: Order, policy: str, shards: int) -> list[_Worker]:
    told = {
        "policy": os.path.abspath(policy), "sources": [source.to_dict() for source in order.sources], "since": order.since,
        "shards": shards, "all": order.everything or bool(order.against), "programs": order.programs, "hosts": order.hosts,
    }  # fmt: skip
    return [_Worker(policy, output) for output in start([{**told, "shard": shard} for shard in range(shards)])]


def _started(stack: ExitStack, orders: list[dict[str, Any]]) -> list[Iterator[bytes]]:
    """Local processes. Their output is read as it arrives, so that neither side buffers more than a pipe holds."""
    found: list[Iterator[bytes]] = []
    for told in orders:
        process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stack.callback(_ended, process)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(told).encode())
        process.stdin.close()
        found.append(_output(process))
    return found


def _output(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    yield from process.stdout
    yield EXITED % process.wait()


def _ended(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    process.stdout.close()
    if process.poll() is None:  # nobody reads the rest
        process.kill()
    process.wait()


class _Worker:
    """The output of one process, here or elsewhere."""

    def __init__(self, policy: str, output: Iterator[bytes]) -> None:
        self.policy, self.output = policy, output
        self.done = self.seen = 0
        self.end: dict[str, Any] = {}

    def verdicts(self, heard: Callable[[], None] = lambda: None) -> Iterator[Verdict]:
        for line in self.output:
            message = json.loads(line)
            if "fatal" in message:
                raise OnehookError(message["fatal"])
            if "progress" in message:
                self.done, self.seen = message["progress"], message["events"]
                heard()
            elif "end" in message:
                self.end = message
            elif "exited" in message:
                if not self.end:
                    raise OnehookError(f"{self.policy} ended the replay: its process exited with {message['exited']}")
            else:
                yield message
