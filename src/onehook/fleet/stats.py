"""Counts the table of decisions as onehook/log/stats.py counts a log: what is counted, and how, is the same, and so is what comes out.

Percentiles are the same to the last digit. The local ones are of a histogram with steps of 2 %; here the server computes the step of each
row, and quantileExactWeighted takes, as the local code does, the first step up to which the wanted share of the rows lies.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from onehook.fleet.clickhouse import Server, literal
from onehook.fleet.schema import DECISIONS
from onehook.log.scans import counted
from onehook.log.stats import KINDS, LEAST, LEAST_STEP, SHARES, STEP, Group, in_order, milliseconds

_MARK = "="
_OVERRIDDEN = "(isNotNull(pause) OR isNotNull(approver) OR arrayExists(reason -> reason != '', by_exception))"
_WOULD = "ifNull(would = 'deny', 0)"
# As in marks_of
COUNTS = {
    "events": "count()",
    "denied": "countIf(error = '' AND decision = 'deny')",
    "asked": "countIf(error = '' AND decision = 'ask')",
    "allowed": "countIf(error = '' AND decision = 'allow')",
    "would_deny": f"countIf({_WOULD} AND NOT {_OVERRIDDEN})",
    "overridden": f"countIf({_WOULD} AND {_OVERRIDDEN} AND decision != 'deny')",
    "errors": "countIf(error != '')",
}
_STEPS = f"quantilesExactWeighted({', '.join(map(str, SHARES.values()))})(if(ms > {LEAST}, toInt32(log(ms) / {STEP}), {LEAST_STEP}), 1)"
_PLAIN = {"day": "substring(time, 1, 10)", "agent": "toString(agent)", "project": "toString(project)"}


def keys_of(by: str) -> str:
    """The groups of a row, as an array: one, or under rule and handler one for each that answered."""
    if by in _PLAIN:
        return f"[{_PLAIN[by]}]"
    kinds = ", ".join(map(literal, KINDS[by]))
    return f"arrayDistinct(arrayFilter((name, kind) -> kind IN ({kinds}), by_name, by_kind))"


def where(since: str = "", until: str = "", agents: Collection[str] = (), project: str = "") -> str:
    """Which rows count, as in onehook/log/stats.py. `day` repeats the condition on `time`, so that whole months can be skipped."""
    parts = ["agent != 'onehook'"]  # a line about the log itself
    parts += [f"time >= {literal(since)}", f"day >= toDate({literal(since[:10])})"] if since else []
    parts += [f"time < {literal(until)}", f"day <= toDate({literal(until[:10])})"] if until else []
    parts += [f"agent IN ({', '.join(map(literal, agents))})"] if agents else []
    parts += [f"startsWith(concat(project, '/'), {literal(project + '/')})"] if project else []
    return " AND ".join(parts)


def query(by: str, rows: str) -> str:
    """Counts of all rows, under the name "", and of each group, whose name has a mark in front. One pass: FINAL is what takes long."""
    counts = ", ".join(f"{sql} AS {name}" for name, sql in COUNTS.items())
    names = f"arrayJoin(arrayConcat([''], arrayMap(name -> concat({literal(_MARK)}, name), {keys_of(by)})))"
    fired = f"groupUniqArrayArray({keys_of('rule')})"
    return f"SELECT {names} AS name, {counts}, {_STEPS} AS steps, {fired} AS fired FROM {DECISIONS} FINAL WHERE {rows} GROUP BY name"


def stats(
    server: Server, by: str = "rule", since: str = "", until: str = "", agents: Collection[str] = (), project: str = ""
) -> dict[str, Any]:
    """What onehook.log.stats.stats returns."""
    total, fired, groups = Group("all").to_dict(), [], []
    for row in server.rows(query(by, where(since, until, agents, project))):
        if row["name"]:
            groups.append(_group(row, row["name"][len(_MARK) :]))
        else:
            total, fired = _group(row, "all"), row["fired"]
    return {"since": since, "until": until, "by": by, "total": total, "groups": in_order(by, groups), "fired": sorted(fired)}


def scans(server: Server, since: str = "", until: str = "", agents: Collection[str] = (), project: str = "") -> list[dict[str, Any]]:
    """What onehook.log.scans.scans returns."""
    rows = where(since, until, agents, project)
    found = server.rows(f"SELECT by_scan FROM {DECISIONS} FINAL WHERE {rows} AND by_scan != '[]' ORDER BY time, machine, n")
    return counted((scan, bool(scan.get("observed"))) for row in found for scan in json.loads(row["by_scan"]))


def _group(row: dict[str, Any], name: str) -> dict[str, Any]:
    """A row of the answer as Group.to_dict makes it. Large numbers arrive as strings."""
    times = {share: milliseconds(int(step)) for share, step in zip(SHARES, row["steps"], strict=True)}
    return {"name": name, **{field: int(row[field]) for field in Group.FIELDS}, **times}
