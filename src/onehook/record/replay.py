"""Runs recorded events through one policy, or through two to compare them. Worker processes do the work."""

from __future__ import annotations

import heapq
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from onehook.core import OnehookError
from onehook.record.sources import Source

Verdict = dict[str, Any]
COMPARED = ("effect", "modified_input", "additional_context")


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
    hosts: tuple[str, ...] = ()  # that events may come from if they do not name their host
    workers: int = 0


def replay(order: Order, summary: Summary, progress: Callable[[int, int], None] = lambda done, events: None) -> Iterator[dict[str, Any]]:
    """The rows to show, in the order of the events: verdicts, or with `against` pairs {"before", "after"} that differ.

    `against` is the previous policy: a row holds its decision and the new one.
    """
    shards = 1 if order.against else max(1, order.workers or min(2, os.cpu_count() or 1))
    with ExitStack() as stack:
        if order.against:
            before = _Worker(stack, order, order.against, 0, 1, True)
            after = _Worker(stack, order, order.policy, 0, 1, True)
            for old, new in zip(before.verdicts(), after.verdicts(), strict=True):
                progress(after.done, after.seen)
                if any(old[name] != new[name] for name in COMPARED):
                    summary.changed += 1
                    yield {"before": old, "after": new}
            summary.add(after.end)
            return
        workers = [_Worker(stack, order, order.policy, shard, shards, order.everything) for shard in range(shards)]
        for _, _, verdict in heapq.merge(*(_ordered(worker, number, workers, progress) for number, worker in enumerate(workers))):
            yield verdict
        for worker in workers:
            summary.add(worker.end)


def _ordered(
    worker: _Worker, number: int, workers: list[_Worker], progress: Callable[[int, int], None]
) -> Iterator[tuple[list[int], int, Verdict]]:
    for verdict in worker.verdicts(lambda: progress(sum(w.done for w in workers), sum(w.seen for w in workers))):
        yield verdict["at"], number, verdict


class _Worker:
    """One process. Its output is read as it arrives, so that neither side buffers more than a pipe holds."""

    def __init__(self, stack: ExitStack, order: Order, policy: str, shard: int, shards: int, everything: bool) -> None:
        self.policy = policy
        self.done = self.seen = 0
        self.end: dict[str, Any] = {}
        told = {
            "policy": os.path.abspath(policy), "sources": [source.to_dict() for source in order.sources], "since": order.since,
            "shard": shard, "shards": shards, "all": everything, "programs": order.programs, "hosts": order.hosts,
        }  # fmt: skip
        argv = [sys.executable, "-I", "-m", "onehook.record.worker"]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stack.callback(self._close)
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(told).encode())
        self.process.stdin.close()

    def verdicts(self, heard: Callable[[], None] = lambda: None) -> Iterator[Verdict]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "fatal" in message:
                raise OnehookError(message["fatal"])
            if "progress" in message:
                self.done, self.seen = message["progress"], message["events"]
                heard()
            elif "end" in message:
                self.end = message
            else:
                yield message
        if not self.end:
            raise OnehookError(f"{self.policy} ended the replay: its process exited with {self.process.wait()}")

    def _close(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()
        if not self.end:
            self.process.kill()
        self.process.wait()
