"""Counts the decision log: how many events, what came of them, by whom, and how long they took.

One pass, and memory for the groups only: times are kept as a histogram with steps of 2 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from typing import Any

from onehook.log.reader import Entry, entries, outcome, quiet_events

_RULES, _HANDLERS = ("rule", "permission", "policy"), ("handler", "program")
_STEP = 0.02


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


class Group:
    """The counts of one rule, agent, project, day or handler, or of all of them."""

    FIELDS = ("events", "denied", "asked", "allowed", "would_deny", "overridden", "errors")

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[str, int] = {field: 0 for field in self.FIELDS}
        self.times = Times()

    def add(self, entry: Entry) -> None:
        counts, result = self.counts, outcome(entry)
        counts["events"] += 1
        field = {"deny": "denied", "ask": "asked", "allow": "allowed", "error": "errors"}.get(result)
        if field:
            counts[field] += 1
        if entry["would"] == "deny":
            # While the policy is paused, or where a person has allowed it, a deny is overridden; in observe mode nobody did anything.
            counts["overridden" if entry["pause"] or entry["approver"] else "would_deny"] += 1
        self.times.add(entry["ms"])

    def to_dict(self) -> dict[str, Any]:
        shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        return {"name": self.name, **self.counts, **{name: self.times.percentile(share) for name, share in shares.items()}}


def keys_of(entry: Entry, by: str) -> Iterator[str]:
    """The groups that a line counts in. Under rule and handler, one for each that had a say."""
    if by == "day":
        yield entry["time"][:10]
    elif by in ("agent", "project"):
        yield entry[by]
    else:
        kinds = _RULES if by == "rule" else _HANDLERS
        yield from dict.fromkeys(one["name"] for one in entry["by"] if one["kind"] in kinds)


def stats(by: str = "rule", since: str = "", until: str = "", folder: str = "") -> dict[str, Any]:
    """The counts of the log, as a whole and by group; the groups with the most denials first, days in order."""
    total, groups = Group("all"), dict[str, Group]()

    def group(name: str) -> Group:
        return groups.setdefault(name, Group(name))

    for entry in entries(folder, since, until):
        if entry["agent"] == "onehook":  # a line about the log itself
            continue
        total.add(entry)
        for name in keys_of(entry, by):
            group(name).add(entry)
    for quiet in quiet_events(folder, since, until):
        named = {"day": quiet.time[:10], "agent": quiet.agent, "project": quiet.project}.get(by)
        for one in [total, *([group(named)] if named is not None else [])]:
            one.counts["events"] += 1
            one.times.add(quiet.ms)
    found = [one.to_dict() for one in groups.values()]
    order = (lambda one: one["name"]) if by == "day" else (lambda one: (-one["denied"] - one["would_deny"], -one["events"], one["name"]))
    return {"since": since, "until": until, "by": by, "total": total.to_dict(), "groups": sorted(found, key=order)}
