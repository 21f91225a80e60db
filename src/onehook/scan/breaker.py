"""A circuit breaker that all processes share: every event is a process, so what one learns about a scanner must be stored.

    closed      the scanner is called
    open        after several failures in a row it is not called for a while: an event then only reads one small file
    half-open   after that, one process calls it again; the others still see it open. Success closes the breaker, failure opens it again

There is no file as long as the scanner works. If the file cannot be written, scans continue.
"""

from __future__ import annotations

import time

from onehook.state import State, StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half-open"


class _File(State):
    def __init__(self, *name: str) -> None:
        super().__init__("scanners", *name)
        self._what = "the state of the scanner"


class Breaker:
    """name: the scanner's; failures: how many in a row open it; pause: seconds that it stays open; probing: seconds for a probe."""

    def __init__(self, name: tuple[str, str], failures: int, pause: float, probing: float) -> None:
        self.failures = failures
        self.pause = pause
        self.probing = probing
        self.state = CLOSED
        self.why = ""  # the failure that opened it
        self._name = name

    def enter(self) -> str:
        """Its state for this process; "half-open" means that this process makes the attempt."""
        known = self._read()
        self.state = self._seen(known)
        if self.state == HALF_OPEN:
            self.state = self._change(self._claim) or HALF_OPEN
        self.why = str(known.get("why", ""))
        return self.state

    def look(self) -> dict[str, Any]:
        """Its state for a person. Changes nothing."""
        known = self._read()
        return {"state": self._seen(known), "failures": known.get("failures", 0), "why": str(known.get("why", ""))}

    def succeeded(self) -> None:
        if self._read():
            self._change(dict.clear)
        self.state = CLOSED

    def failed(self, why: str) -> None:
        def count(known: dict[str, Any]) -> str:
            known["failures"] = known.get("failures", 0) + 1
            known["why"] = why[:300]
            if known["failures"] >= self.failures:
                known["opened"] = time.time()
            known.pop("probe", None)
            return OPEN if "opened" in known else CLOSED

        self.state = self._change(count) or CLOSED

    # ---- the file ----

    def _seen(self, known: dict[str, Any]) -> str:
        opened = known.get("opened")
        if not isinstance(opened, (int, float)):
            return CLOSED
        now = time.time()
        if _within(now, opened, self.pause) or _within(now, known.get("probe"), self.probing):
            return OPEN
        return HALF_OPEN

    def _claim(self, known: dict[str, Any]) -> str:
        """Of the processes that saw it half-open at the same time, the first gets it; another may have closed it by now."""
        state = self._seen(known)
        if state == HALF_OPEN:
            known["probe"] = time.time()
        return state

    def _read(self) -> dict[str, Any]:
        try:
            return dict(_File(*self._name).items())
        except StateError:
            return {}

    def _change(self, change: Any) -> str:
        try:
            return str(_File(*self._name).change(change) or "")
        except StateError:
            return ""


def _within(now: float, then: object, seconds: float) -> bool:
    """Whether a moment is at most this long ago. One in the future does not count: the clock was set back."""
    return isinstance(then, (int, float)) and 0 <= now - then < seconds
