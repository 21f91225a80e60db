"""Counts the decision log: how many events, their outcomes, which rules decided, and how long they took.

One pass, and memory for the groups only: times are kept as a histogram with steps of 2 %.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import exp
from typing import Any

from onehook.log.digest import LEAST as LEAST
from onehook.log.digest import LEAST_STEP as LEAST_STEP
from onehook.log.digest import STEP as STEP
from onehook.log.digest import Counted, Steps, digests
from onehook.log.digest import fields_of as fields_of
from onehook.log.reader import Entry, log_folder

KINDS = {"rule": ("rule", "permission", "policy"), "handler": ("handler", "program")}
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class Times:
    """A histogram of milliseconds."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def add(self, steps: Steps) -> None:
        for step, count in steps.items():
            self.counts[step] = self.counts.get(step, 0) + count

    def bins(self, steps: int) -> list[tuple[float, float, int]]:
        """Milliseconds from, to, and how many; each bin as wide as so many steps."""
        wide: dict[int, int] = {}
        for step, count in self.counts.items():
            wide[step // steps] = wide.get(step // steps, 0) + count
        first, last = min(wide, default=0), max(wide, default=-1)
        edges = [float(f"{exp(number * steps * STEP):.4g}") for number in range(first, last + 2)]
        return [(edges[at], edges[at + 1], wide.get(first + at, 0)) for at in range(last + 1 - first)]

    def percentile(self, share: float) -> float | None:
        left = sum(self.counts.values()) * share
        for step in sorted(self.counts):
            left -= self.counts[step]
            if left <= 0:
                return milliseconds(step)
        return None


def milliseconds(step: int) -> float:
    """The middle of a step of the histogram."""
    return float(f"{exp((step + 0.5) * STEP):.3g}")


_DECIDED = {"deny": "denied", "ask": "asked", "allow": "allowed"}


def marks_of(one: Counted) -> list[str]:
    """The counts that a line adds to, in addition to `events`."""
    found = ["errors"] if one.failed else [_DECIDED[one.decision]] if one.decision != "none" else []
    if one.would == "deny" and not one.overridden:
        found.append("would_deny")
    elif one.would == "deny" and one.decision != "deny":  # by a pause, by a person who has allowed it, or by an exception
        found.append("overridden")
    return found


class Group:
    """The counts of one rule, agent, project, day or handler, or of all of them."""

    FIELDS = ("events", "denied", "asked", "allowed", "would_deny", "overridden", "errors")

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[str, int] = {field: 0 for field in self.FIELDS}
        self.times = Times()

    def add(self, one: Counted, steps: Steps) -> None:
        count = sum(steps.values())
        for mark in ("events", *marks_of(one)):
            self.counts[mark] += count
        self.times.add(steps)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, **self.counts, **{name: self.times.percentile(share) for name, share in SHARES.items()}}


def keys_of(one: Counted, by: str) -> Iterator[str]:
    """The groups that a line counts in. Under rule and handler, one for each that answered."""
    if by == "day":
        yield one.time[:10]
    elif by in ("agent", "project"):
        yield one.agent if by == "agent" else one.project
    else:
        yield from dict.fromkeys(who["name"] for who in one.by if who["kind"] in KINDS[by])


class Tally:
    """The counts of the log as a whole, and for each way of grouping the groups by name."""

    def __init__(self, ways: Iterable[str]) -> None:
        self.total = Group("all")
        self.groups: dict[str, dict[str, Group]] = {way: {} for way in ways}
        self.authors: dict[str, Entry] = {}  # an example of what each rule and handler answered, by its name

    def group(self, way: str, name: str, by: list[Entry] | None = None) -> Group:
        groups = self.groups[way]
        if name not in groups:
            groups[name] = Group(name)
            self.authors.update({one["name"]: one for one in by or () if one["name"] == name})
        return groups[name]

    def ordered(self, way: str) -> list[dict[str, Any]]:
        return in_order(way, [group.to_dict() for group in self.groups[way].values()])


def in_order(way: str, groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The groups with the most denials first; days in order."""
    return sorted(
        groups, key=lambda one: one["name"] if way == "day" else (-one["denied"] - one["would_deny"], -one["events"], one["name"])
    )


def tally(
    ways: Iterable[str], since: str = "", until: str = "", folder: str = "", agents: Collection[str] = (), project: str = ""
) -> Tally:
    """Count the log in one pass. `project`: a project, or a folder of projects."""
    found = Tally(ways := tuple(ways))

    def wanted(one: Counted) -> bool:
        return (
            one.agent != "onehook"  # a line about the log itself
            and (not agents or one.agent in agents)
            and (not project or f"{one.project}/".startswith(f"{project}/"))
        )

    for one, steps in digests(folder or log_folder(), since, until):
        if wanted(one):
            found.total.add(one, steps)
            for way in ways:
                for name in keys_of(one, way):
                    found.group(way, name, one.by).add(one, steps)
    return found


def stats(
    by: str = "rule", since: str = "", until: str = "", folder: str = "", agents: Collection[str] = (), project: str = ""
) -> dict[str, Any]:
    """The counts of the log, as a whole and by group, and the names of the rules that answered (`fired`)."""
    found = tally(dict.fromkeys([by, "rule"]), since, until, folder, agents, project)
    return {
        "since": since, "until": until, "by": by, "total": found.total.to_dict(), "groups": found.ordered(by),
        "fired": sorted(found.groups["rule"]),
    }  # fmt: skip
