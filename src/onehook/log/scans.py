"""Counts the scans in the decision log: how many, their outcomes, how long they took, and the state of the scanner at the last one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from onehook.log.digest import step_of
from onehook.log.files import parsed
from onehook.log.reader import lines
from onehook.log.stats import SHARES, Times

# What `action` of a scan counts as.
COUNTS = {"block": "blocked", "ask": "asked", "mask": "masked", "allow": "allowed", "skip": "skipped", "error": "errors"}


def scans(since: str = "", until: str = "", folder: str = "", agents: Collection[str] = (), project: str = "") -> list[dict[str, Any]]:
    """The scanners of the log, each with its counts."""
    return counted(_logged(since, until, folder, agents, project))


def _logged(since: str, until: str, folder: str, agents: Collection[str], project: str) -> Iterator[tuple[dict[str, Any], bool]]:
    for line in lines(folder, since, until):
        entry = parsed(line) if b'"scan": {' in line else None
        if entry is None or entry["time"] < since or (until and entry["time"] >= until):
            continue
        if (agents and entry["agent"] not in agents) or (project and not f"{entry['project']}/".startswith(f"{project}/")):
            continue
        yield from ((one["scan"], "observed" in one) for one in entry["by"] if "scan" in one)


def counted(found: Iterable[tuple[dict[str, Any], bool]]) -> list[dict[str, Any]]:
    """The counts of each scanner, from its scans in their order, and whether they were only observed: what counts is what they would
    have been."""
    counts: dict[str, dict[str, Any]] = {}
    times: dict[str, Times] = {}
    for scan, observed in found:
        name = scan["backend"]
        _count(counts.setdefault(name, _blank(name)), scan, observed)
        times.setdefault(name, Times()).add({step_of(scan["ms"]): 1})
    percentiles = {name: {share: times[name].percentile(part) for share, part in SHARES.items()} for name in counts}
    return [{**one, **percentiles[name]} for name, one in sorted(counts.items())]


def _blank(backend: str) -> dict[str, Any]:
    numbers = dict.fromkeys(("scans", *COUNTS.values(), "observed", "requests", "cache_hits"), 0)
    return {"backend": backend, **numbers, "breaker": ""}


def _count(counts: dict[str, Any], scan: dict[str, Any], observed: bool) -> None:
    counts["scans"] += 1
    if scan["action"] in COUNTS:
        counts[COUNTS[scan["action"]]] += 1
    counts["observed"] += observed
    counts["requests"] += scan["requests"]
    counts["cache_hits"] += scan["cached"]
    counts["breaker"] = scan["breaker"]
