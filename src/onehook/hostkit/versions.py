"""Versions of agents: their order, and what is known about some of them."""

from __future__ import annotations

import re
from dataclasses import dataclass


def numbers(version: str) -> tuple[int, ...]:
    """What versions are compared by: "0.62.0-nightly.3" is (0, 62, 0); empty for "unknown"."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()


def between(version: str, first: str, last: str) -> bool:
    """Whether a version is in a range; "" means no limit. A version without numbers is in no range."""
    given = numbers(version)
    return bool(given) and numbers(first) <= given and (not last or given <= numbers(last))


@dataclass(frozen=True)
class Fact:
    """Something known about some releases of an agent, whether they are proven or not."""

    what: str
    since: str = ""  # the first release that it is known to apply to; "" for no limit
    until: str = ""  # the last one
    rows: tuple[str, ...] = ()  # the scenarios of prove that show it: their effect does not take place on these releases
    breaks: str = ""  # a config file (the end of its path) whose hooks do not run on these releases

    def holds(self, version: str) -> bool:
        return between(version, self.since, self.until)

    @property
    def releases(self) -> str:
        if self.since and self.until:
            return f"{self.since} to {self.until}"
        return f"{self.since} and newer" if self.since else f"{self.until} and older" if self.until else "all releases"
