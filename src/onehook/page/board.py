"""What is going on, for every open page: the requests and the newest decisions, kept up to date by two threads."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from onehook.desk import answers
from onehook.log.reader import ends, following, newest
from onehook.page.views import decision, told_of

KEPT = 200  # decisions
_AGAIN = 1.0  # seconds until a folder is tried again that could not be read


class Board:
    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.version = 0  # of the requests
        self.decisions: deque[tuple[int, dict[str, Any]]] = deque(maxlen=KEPT)  # numbered
        self.stopped = False
        self._told: dict[tuple[str, str], dict[str, Any]] = {}
        self._changed = threading.Condition()

    def start(self) -> None:
        for work in (self._watch_requests, self._watch_decisions):
            threading.Thread(target=self._lasting, args=(work,), daemon=True).start()

    def stop(self) -> None:
        with self._changed:
            self.stopped = True
            self._changed.notify_all()

    def _lasting(self, work: Callable[[], None]) -> None:
        """Whatever is in the folders, and even if they are removed: the page continues once they can be read."""
        while not self.stopped:
            try:
                work()
            except Exception:
                time.sleep(_AGAIN)

    def _watch_requests(self) -> None:
        for listed in answers.watched(lambda: self.stopped):
            found = sorted(listed, key=lambda asked: asked.state != "waiting")
            told = {(asked.id, asked.digest): self._told.get((asked.id, asked.digest)) or told_of(asked) for asked in found}
            self._told = told
            with self._changed:
                self.requests = [{**told[asked.id, asked.digest], "state": asked.state} for asked in found]
                self.version += 1
                self._changed.notify_all()

    def _watch_decisions(self) -> None:
        places = ends()
        known = {entry["id"] for _, entry in self.decisions}
        for entry in newest(KEPT, lambda entry: entry["id"] not in known):
            self._add(decision(entry))
        known = {entry["id"] for _, entry in self.decisions}
        for entry in following(places, stop=lambda: self.stopped):
            if entry["id"] not in known:  # written between the two looks
                self._add(decision(entry))

    def _add(self, entry: dict[str, Any]) -> None:
        with self._changed:
            number = self.decisions[-1][0] + 1 if self.decisions else 1
            self.decisions.append((number, entry))
            self._changed.notify_all()

    def news(self, version: int, number: int, seconds: float) -> tuple[int, list[dict[str, Any]] | None, int, list[dict[str, Any]]]:
        """What is new since this version of the requests and this number of a decision; waits for it, for at most this many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self.stopped or self.version > version or self._last() > number, seconds)
            requests = self.requests if self.version > version else None
            fresh = [entry for at, entry in self.decisions if at > number]
            return self.version, requests, self._last(), fresh

    def _last(self) -> int:
        return self.decisions[-1][0] if self.decisions else 0
