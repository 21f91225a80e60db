"""What the report shows, as one JSON value. The figures are those of `onehook stats`; of individual events, it has the newest."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from datetime import date, timedelta
from typing import Any

from onehook.log.reader import Entry, newest, outcome, selected
from onehook.log.stats import fields_of, marks_of, tally
from onehook.report.story import policy_now, story_of

WAYS = ("day", "agent", "rule", "handler", "project")
_BIN = 12  # steps of 2 %: each bar of the latency chart is 27 % wider than the one before
# Of a line. What most lines have in common is written once, in `contexts`.
_OWN = ("time", "id", "ms", "session")
_SHARED = (
    "agent", "agent_version", "project", "event", "tool", "subject", "decision", "would", "by", "reason", "effects", "dropped", "error",
    "policy", "policy_hash", "mode", "pause", "approver",
)  # fmt: skip


def report(most: int, since: str = "", agents: Collection[str] = (), project: str = "", folder: str = "") -> dict[str, Any]:
    """The figures since then, and the newest events up to this number."""
    found = tally(WAYS, since, folder=folder, agents=agents, project=project)
    rules = [{**group, **_author(found.authors.get(group["name"], {}))} for way in ("rule", "handler") for group in found.ordered(way)]
    return {
        "since": since,
        "agents": list(agents),
        "project": project,
        "total": found.total.to_dict(),
        "days": _without_gaps(found.ordered("day")),
        "by_agent": found.ordered("agent"),
        "rules": sorted(rules, key=lambda rule: (-rule["denied"] - rule["asked"] - rule["would_deny"], -rule["events"])),
        "projects": found.ordered("project"),
        "times": found.total.times.bins(_BIN),
        "fired": sorted(found.groups["rule"]),
        **_events(most, selected(agents, project=project, since=since), since, folder),
    }


def _author(said: Entry) -> Entry:
    return {key: said.get(key) or "" for key in ("kind", "pack", "severity", "reason", "file", "line")}


def _without_gaps(days: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Include days without an event."""
    if not days:
        return []
    known, empty = {day["name"]: day for day in days}, dict.fromkeys(days[0], 0)
    first, last = (date.fromisoformat(days[at]["name"]) for at in (0, -1))
    names = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    return [known.get(name) or {**empty, "name": name} for name in names]


def _events(most: int, wanted: Callable[[Entry], bool], since: str, folder: str) -> dict[str, Any]:
    """The newest events, each as its own fields and the number of its context; and whether there are older ones."""
    entries = newest(most + 1, lambda entry: entry["agent"] != "onehook" and wanted(entry), folder, since)
    contexts: dict[str, int] = {}
    told: list[dict[str, Any]] = []
    read = functools.cache(policy_now)
    rows = []
    for entry in entries[-most:] if most else []:
        shared = {name: entry[name] for name in _SHARED}
        key = repr(shared)
        if key not in contexts:
            contexts[key] = len(told)
            told.append({**shared, "outcome": outcome(entry), "marks": marks_of(fields_of(entry)), "story": _short(story_of(entry, read))})
        rows.append([*(entry[name] for name in _OWN), contexts[key]])
    return {"events": rows[::-1], "contexts": told, "older": len(entries) > most}


def _short(story: dict[str, Any]) -> dict[str, Any]:
    """The parts of a story that the page shows."""
    keys = {"parts": ("command", "via"), "findings": ("rule", "record", "file", "line")}
    return {name: [{key: one[key] for key in keys[name]} for one in value] if name in keys else value for name, value in story.items()}
