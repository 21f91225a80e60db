"""Counts the table of decisions as onehook/log/stats.py counts a log: what is counted, and how, is the same, and so is what comes out.

Percentiles are the same to the last digit. The local ones are of a histogram with steps of 2 %; here the server computes the step of each
row, and quantileExactWeighted takes, as the local code does, the first step up to which the wanted share of the rows lies.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from onehook.fleet.clickhouse import Server, literal
from onehook.fleet.schema import DECISIONS
from onehook.log.stats import KINDS, LEAST, LEAST_STEP, SHARES, STEP, Group, in_order, milliseconds

_OVERRIDDEN = "(isNotNull(pause) OR isNotNull(approver))"
_WOULD = "ifNull(would = 'deny', 0)"
# As in marks_of
COUNTS = {
    "events": "count()",
    "denied": "countIf(error = '' AND decision = 'deny')",
    "asked": "countIf(error = '' AND decision = 'ask')",
    "allowed": "countIf(error = '' AND decision = 'allow')",
    "would_deny": f"countIf({_WOULD} AND NOT {_OVERRIDDEN})",
    "overridden": f"countIf({_WOULD} AND {_OVERRIDDEN})",
    "errors": "countIf(error != '')",
}
_STEPS = f"quantilesExactWeighted({', '.join(map(str, SHARES.values()))})(if(ms > {LEAST}, toInt32(log(ms) / {STEP}), {LEAST_STEP}), 1)"
_PLAIN = {"day": "substring(time, 1, 10)", "agent": "agent", "project": "project"}


def key_of(by: str) -> str:
    """The groups of a row: one, or under rule and handler one for each that had a say."""
    if by in _PLAIN:
        return _PLAIN[by]
    kinds = ", ".join(map(literal, KINDS[by]))
    return f"arrayJoin(arrayDistinct(arrayFilter((name, kind) -> kind IN ({kinds}), by_name, by_kind)))"


def where(since: str = "", until: str = "", agents: Collection[str] = (), project: str = "") -> str:
    """Which rows count, as in onehook/log/stats.py. `day` repeats what `time` says, so that whole months are left out."""
    parts = ["agent != 'onehook'"]  # a line about the log itself
    parts += [f"time >= {literal(since)}", f"day >= toDate({literal(since[:10])})"] if since else []
    parts += [f"time < {literal(until)}", f"day <= toDate({literal(until[:10])})"] if until else []
    parts += [f"agent IN ({', '.join(map(literal, agents))})"] if agents else []
    parts += [f"startsWith(concat(project, '/'), {literal(project + '/')})"] if project else []
    return " AND ".join(parts)


def query(key: str, rows: str) -> str:
    """Counts by a key; without one, of all rows."""
    counts = ", ".join(f"{sql} AS {name}" for name, sql in COUNTS.items())
    named = f"{key} AS name, " if key else ""
    return f"SELECT {named}{counts}, {_STEPS} AS steps FROM {DECISIONS} FINAL WHERE {rows}{' GROUP BY name' if key else ''}"


def stats(
    server: Server, by: str = "rule", since: str = "", until: str = "", agents: Collection[str] = (), project: str = ""
) -> dict[str, Any]:
    """What onehook.log.stats.stats returns."""
    rows = where(since, until, agents, project)
    (total,) = server.rows(query("", rows))
    groups = [_group(row) for row in server.rows(query(key_of(by), rows))]
    fired = groups if by == "rule" else server.rows(f"SELECT DISTINCT {key_of('rule')} AS name FROM {DECISIONS} WHERE {rows}")
    return {
        "since": since, "until": until, "by": by, "total": _group({**total, "name": "all"}), "groups": in_order(by, groups),
        "fired": sorted(row["name"] for row in fired),
    }  # fmt: skip


def _group(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the answer as Group.to_dict makes it. Large numbers arrive as strings."""
    counts = {name: int(row[name]) for name in Group.FIELDS}
    steps = row["steps"] if counts["events"] else [None] * len(SHARES)
    times = {name: None if step is None else milliseconds(int(step)) for name, step in zip(SHARES, steps, strict=True)}
    return {"name": row["name"], **counts, **times}
