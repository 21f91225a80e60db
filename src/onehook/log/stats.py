"""Counts the decision log: how many events, what came of them, by whom, and how long they took.

One pass, and memory for the groups only: times are kept as a histogram with steps of 2 %. Of a line, only the fields that count are read:
to parse all of it takes four times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from typing import Any, NamedTuple

from onehook.codec import loads
from onehook.log.files import parsed
from onehook.log.reader import Entry, lines, quiet_events

_RULES, _HANDLERS = ("rule", "permission", "policy"), ("handler", "program")
_STEP = 0.02
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
        return _counted(parsed(line))
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
        return _counted(parsed(line))


def _counted(entry: Entry | None) -> Counted | None:
    if entry is None:
        return None
    return Counted(
        entry["time"], entry["agent"], entry["project"], entry["decision"], entry["would"], entry["by"], bool(entry["error"]), entry["ms"],
        bool(entry["pause"] or entry["approver"]),
    )  # fmt: skip


class Times:
    """A histogram of milliseconds."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def add(self, ms: float) -> None:
        step = int(log(ms) / _STEP) if ms > 0.01 else -230
        self.counts[step] = self.counts.get(step, 0) + 1

    def percentile(self, share: float) -> float | None:
        left = sum(self.counts.values()) * share
        for step in sorted(self.counts):
            left -= self.counts[step]
            if left <= 0:
                return float(f"{exp((step + 0.5) * _STEP):.3g}")
        return None


_DECIDED = {"deny": "denied", "ask": "asked", "allow": "allowed"}


class Group:
    """The counts of one rule, agent, project, day or handler, or of all of them."""

    FIELDS = ("events", "denied", "asked", "allowed", "would_deny", "overridden", "errors")

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[str, int] = {field: 0 for field in self.FIELDS}
        self.times = Times()

    def add(self, one: Counted) -> None:
        counts = self.counts
        counts["events"] += 1
        if one.failed:
            counts["errors"] += 1
        elif one.decision != "none":
            counts[_DECIDED[one.decision]] += 1
        if one.would == "deny":
            # While the policy is paused, or where a person has allowed it, a deny is overridden; in observe mode nobody did anything.
            counts["overridden" if one.overridden else "would_deny"] += 1
        self.times.add(one.ms)

    def to_dict(self) -> dict[str, Any]:
        shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        return {"name": self.name, **self.counts, **{name: self.times.percentile(share) for name, share in shares.items()}}


def keys_of(one: Counted, by: str) -> Iterator[str]:
    """The groups that a line counts in. Under rule and handler, one for each that had a say."""
    if by == "day":
        yield one.time[:10]
    elif by in ("agent", "project"):
        yield one.agent if by == "agent" else one.project
    else:
        kinds = _RULES if by == "rule" else _HANDLERS
        yield from dict.fromkeys(who["name"] for who in one.by if who["kind"] in kinds)


def stats(by: str = "rule", since: str = "", until: str = "", folder: str = "") -> dict[str, Any]:
    """The counts of the log, as a whole and by group; the groups with the most denials first, days in order."""
    total, groups = Group("all"), dict[str, Group]()

    def group(name: str) -> Group:
        return groups.setdefault(name, Group(name))

    for one in filter(None, map(counted, lines(folder, since, until))):
        if one.agent == "onehook" or one.time < since or (until and one.time >= until):  # or a line about the log itself
            continue
        total.add(one)
        for name in keys_of(one, by):
            group(name).add(one)
    for quiet in quiet_events(folder, since, until):
        named = {"day": quiet.time[:10], "agent": quiet.agent, "project": quiet.project}.get(by)
        for each in [total, *([group(named)] if named is not None else [])]:
            each.counts["events"] += 1
            each.times.add(quiet.ms)
    found = [each.to_dict() for each in groups.values()]
    order = (lambda one: one["name"]) if by == "day" else (lambda one: (-one["denied"] - one["would_deny"], -one["events"], one["name"]))
    return {"since": since, "until": until, "by": by, "total": total.to_dict(), "groups": sorted(found, key=order)}
