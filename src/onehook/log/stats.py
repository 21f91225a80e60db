"""Counts the decision log: how many events, what came of them, by whom, and how long they took.

One pass, and memory for the groups only: times are kept as a histogram with steps of 2 %. Of a line, only the fields that count are read:
to parse all of it takes four times as long.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import exp, log
from typing import Any, NamedTuple

from onehook.codec import loads
from onehook.log.files import parsed
from onehook.log.reader import Entry, Quiet, lines, quiet_events

KINDS = {"rule": ("rule", "permission", "policy"), "handler": ("handler", "program")}
STEP = 0.02
LEAST, LEAST_STEP = 0.01, -230  # ms; what is less counts as this
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_MOST_KEPT = 10_000  # texts that are remembered, since most lines have the same


class Counted(NamedTuple):
    """What of a line counts."""

    time: str
    agent: str
    project: str
    decision: str
    would: str | None
    by: list[Entry]
    failed: bool
    ms: float
    overridden: bool  # a pause, or a person


# What stands before each value in a line as logger.py writes it, in this order. In a string, a quote has a backslash before it.
_MARKS = (
    b', "time": "', b', "agent": "', b', "project": "', b', "decision": "', b', "would": ', b', "by": ', b'], "reason": "', b', "error": "',
    b', "ms": ', b', "policy": "', b', "pause": ', b', "approver": ',
)  # fmt: skip
_kept: dict[bytes, Any] = {}


def _value(raw: bytes) -> Any:
    """A JSON value, which is often the same as in the line before."""
    found = _kept.get(raw, _kept)
    if found is _kept:
        if len(_kept) > _MOST_KEPT:
            _kept.clear()
        found = _kept[raw] = loads(raw.decode("ascii"))
    return found


def counted(line: bytes) -> Counted | None:
    """The fields of a line that count; None if it is not a line of the log."""
    at = [0]
    for mark in _MARKS:
        at.append(line.find(mark, at[-1]))
    if -1 in at or not line.endswith(b"}\n"):
        return _parsed(line)
    try:
        return Counted(
            line[at[1] + 11 : at[1] + 35].decode("ascii"),
            _value(line[at[2] + 11 : line.index(b", ", at[2] + 11)]),
            _value(line[at[3] + 13 : line.index(b', "event": ', at[3])]),
            line[at[4] + 15 : at[5] - 1].decode("ascii"),
            _value(line[at[5] + 11 : at[6]]),
            _value(line[at[6] + 8 : at[7] + 1]),
            line[at[8] + 12 : at[8] + 13] != b'"',
            float(line[at[9] + 8 : at[10]]),
            line[at[11] + 11 : at[11] + 15] != b"null" or line[at[12] + 14 : at[12] + 18] != b"null",
        )
    except Exception:
        return _parsed(line)


def _parsed(line: bytes) -> Counted | None:
    entry = parsed(line)
    return fields_of(entry) if entry is not None else None


def fields_of(entry: Entry) -> Counted:
    return Counted(
        entry["time"], entry["agent"], entry["project"], entry["decision"], entry["would"], entry["by"], bool(entry["error"]), entry["ms"],
        bool(entry["pause"] or entry["approver"]),
    )  # fmt: skip


class Times:
    """A histogram of milliseconds."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def add(self, ms: float) -> None:
        step = int(log(ms) / STEP) if ms > LEAST else LEAST_STEP
        self.counts[step] = self.counts.get(step, 0) + 1

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
    """The counts that a line adds to, beside `events`."""
    found = ["errors"] if one.failed else [_DECIDED[one.decision]] if one.decision != "none" else []
    if one.would == "deny":
        # While the policy is paused, or where a person has allowed it, a deny is overridden; in observe mode nobody did anything.
        found.append("overridden" if one.overridden else "would_deny")
    return found


class Group:
    """The counts of one rule, agent, project, day or handler, or of all of them."""

    FIELDS = ("events", "denied", "asked", "allowed", "would_deny", "overridden", "errors")

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[str, int] = {field: 0 for field in self.FIELDS}
        self.times = Times()

    def add(self, one: Counted) -> None:
        self.counts["events"] += 1
        for mark in marks_of(one):
            self.counts[mark] += 1
        self.times.add(one.ms)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, **self.counts, **{name: self.times.percentile(share) for name, share in SHARES.items()}}


def keys_of(one: Counted, by: str) -> Iterator[str]:
    """The groups that a line counts in. Under rule and handler, one for each that had a say."""
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
        self.authors: dict[str, Entry] = {}  # an example of what each rule and handler said, by its name

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

    def wanted(one: Counted | Quiet) -> bool:
        return (
            one.time >= since
            and (not until or one.time < until)
            and one.agent != "onehook"  # a line about the log itself
            and (not agents or one.agent in agents)
            and (not project or f"{one.project}/".startswith(f"{project}/"))
        )

    for one in filter(None, map(counted, lines(folder, since, until))):
        if wanted(one):
            found.total.add(one)
            for way in ways:
                for name in keys_of(one, way):
                    found.group(way, name, one.by).add(one)
    for quiet in filter(wanted, quiet_events(folder, since, until)):
        named = {"day": quiet.time[:10], "agent": quiet.agent, "project": quiet.project}
        for each in [found.total, *(found.group(way, named[way]) for way in ways if way in named)]:
            each.counts["events"] += 1
            each.times.add(quiet.ms)
    return found


def stats(
    by: str = "rule", since: str = "", until: str = "", folder: str = "", agents: Collection[str] = (), project: str = ""
) -> dict[str, Any]:
    """The counts of the log, as a whole and by group, and the names of the rules that had a say (`fired`)."""
    found = tally(dict.fromkeys([by, "rule"]), since, until, folder, agents, project)
    return {
        "since": since, "until": until, "by": by, "total": found.total.to_dict(), "groups": found.ordered(by),
        "fired": sorted(found.groups["rule"]),
    }  # fmt: skip
