"""One scan of an event's content: from the cache, or by asking the scanner as the breaker, the deadline and the retries allow."""

from __future__ import annotations

import time

from onehook.scan.breaker import OPEN, Breaker
from onehook.scan.cache import Cache
from onehook.scan.content import fitted
from onehook.scan.model import ScanError
from onehook.scan.settings import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from onehook.scan.model import Backend, Found, Sample, Verdict
    from onehook.scan.settings import Settings

_FIRST_WAIT = 0.1  # seconds before the second attempt; then twice as long each time
_LEAST = 0.02  # the shortest time that an attempt takes


class Outcome:
    """The outcome of a scan: what was found in which sample, or the error that ended it."""

    def __init__(self) -> None:
        self.found: list[tuple[Sample, Found]] = []
        self.error = ""
        self.breaker = "closed"
        self.ids: list[str] = []
        self.requests = 0  # those that the scanner answered
        self.cached = 0
        self.skipped = 0  # samples that were too long, or not of a wanted kind
        self.chars = 0
        self.ms = 0.0

    def to_dict(self) -> dict[str, Any]:
        """For the log, and for `onehook scan --json`: no content."""
        told = {
            "categories": sorted({one.category for _, one in self.found})[:20],
            "gates": sorted({sample.gate for sample, _ in self.found}),
            "requests": self.requests,
            "cached": self.cached,
            "skipped": self.skipped,
            "chars": self.chars,
            "ms": round(self.ms, 2),
            "breaker": self.breaker,
        }
        if self.ids:
            told["ids"] = self.ids[:5]
        return {**told, "error": self.error} if self.error else told


class Engine:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.backend: Backend = load(settings.backend)
        self.cache = Cache(settings.identity, settings.cache)
        self.breaker = Breaker(settings.name, settings.failures, settings.pause, 2 * settings.seconds + 1)

    def scan(self, samples: Iterable[Sample], seconds: float, fresh: bool = False) -> Outcome:
        """Scan all of these within this many seconds. An error ends it, but what was found before is kept.

        fresh: ask the scanner, whatever the cache and the breaker say.
        """
        begun = time.monotonic()
        outcome = Outcome()
        try:
            for sample in samples:
                parts = fitted(sample, self.settings)
                outcome.skipped += not parts
                for part in parts:
                    self._scan(part, begun + seconds, outcome, fresh)
        except ScanError as error:
            outcome.error = str(error)
        outcome.breaker = self.breaker.state
        outcome.ms = (time.monotonic() - begun) * 1000
        return outcome

    def _scan(self, sample: Sample, deadline: float, outcome: Outcome, fresh: bool) -> None:
        outcome.chars += len(sample.text)
        verdict = None if fresh else self.cache.get(sample)
        if verdict is not None:
            outcome.cached += 1
        else:
            if not fresh and self.breaker.enter() == OPEN:
                raise ScanError(
                    f"the scanner is not called for a while after repeated failures; the last one: {self.breaker.why}", counts=False
                )
            verdict = self._asked(sample, deadline)
            outcome.requests += 1
            self.cache.put(sample, verdict)
            if verdict.id:
                outcome.ids.append(verdict.id)
        outcome.found += [(sample, one) for one in verdict.found]

    def _asked(self, sample: Sample, deadline: float) -> Verdict:
        """Ask the scanner, and retry while that may help and there is time to wait and for another attempt like the last one."""
        wait = _FIRST_WAIT
        for left in range(self.settings.retries, -1, -1):
            begun = time.monotonic()
            if begun >= deadline:
                raise ScanError("there was no time left for a scan", counts=False)
            try:
                verdict = self.backend.scan(self.settings, sample, deadline)
                self.breaker.succeeded()
                return verdict
            except ScanError as error:
                if error.counts:
                    self.breaker.failed(str(error))
                pause = max(error.after, wait * _jitter())
                took = max(time.monotonic() - begun, _LEAST)
                if not error.retry or not left or self.breaker.state == OPEN or time.monotonic() + pause + took >= deadline:
                    raise
                time.sleep(pause)
                wait *= 2
        raise AssertionError("not reached")


def _jitter() -> float:
    """A factor from 0.5 to 1.5, so that requests that failed together are not retried together."""
    from os import urandom

    return 0.5 + int.from_bytes(urandom(2), "big") / 65536
