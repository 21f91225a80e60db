"""The decision log as a table: one list of columns for CSV, Parquet and databases.

for row in rows(entries()): ...   a tuple for each line, in the order of COLUMNS

The columns are the fields of docs/schema/log.json. `by` is split into parallel lists: the second element of `by_name` answered the second
element of `by_said`. There are also the machine, and what `onehook log` shows of a decision: `outcome` and `decided_by`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from onehook.log.reader import Entry, Quiet, deciding, epoch, outcome


class Column(NamedTuple):
    """`kind`: string, integer, number, time (with milliseconds, UTC), json (a string), and strings, integers and booleans for lists."""

    name: str
    kind: str
    nullable: bool = False
    few: bool = False  # few different values: worth a dictionary


COLUMNS = (
    Column("machine", "string", few=True),
    Column("n", "integer"),  # 0: an event that nothing answered
    Column("prev", "string"),
    Column("time", "time"),
    Column("id", "string"),
    Column("agent", "string", few=True),
    Column("agent_version", "string", few=True),
    Column("session", "string"),
    Column("project", "string", few=True),
    Column("event", "string", few=True),
    Column("tool", "string", few=True),
    Column("subject", "string"),
    Column("decision", "string", few=True),
    Column("would", "string", nullable=True, few=True),
    Column("outcome", "string", few=True),
    Column("decided_by", "string", few=True),
    Column("by_kind", "strings", few=True),
    Column("by_name", "strings", few=True),
    Column("by_pack", "strings", few=True),
    Column("by_file", "strings", few=True),
    Column("by_line", "integers"),  # 0: not known
    Column("by_said", "strings", few=True),
    Column("by_reason", "strings", few=True),
    Column("by_severity", "strings", few=True),
    Column("by_observed", "booleans"),
    Column("by_exception", "strings", few=True),
    Column("by_exception_at", "strings", few=True),
    Column("by_scan", "json"),  # of those who scanned, and whether that was only observed
    Column("reason", "string"),
    Column("effects", "strings", few=True),
    Column("dropped", "json"),
    Column("error", "string"),
    Column("ms", "number"),
    Column("policy", "string", few=True),
    Column("policy_hash", "string", few=True),
    Column("mode", "string", few=True),
    Column("pause", "json", nullable=True),
    Column("approver", "string", nullable=True, few=True),
    Column("content", "json", nullable=True),
)
_MISSING: dict[str, Any] = {"strings": "", "integers": 0, "booleans": False}


def rows(entries: Iterable[Entry], machine: str = "") -> Iterator[tuple[Any, ...]]:
    """The lines of the log as rows. Times stay strings (RFC 3339); a json column contains a JSON string, or None."""
    import json

    machine = machine or this_machine()
    spread = {
        column.name: (column.name[3:], _MISSING[column.kind])
        for column in COLUMNS
        if column.name.startswith("by_") and column.kind in _MISSING
    }
    encoded = {column.name for column in COLUMNS if column.kind == "json" and column.name != "by_scan"}
    for entry in entries:
        decided = deciding(entry)
        known = {"machine": machine, "outcome": outcome(entry), "decided_by": decided["name"] if decided else ""}
        for name, (field, missing) in spread.items():
            known[name] = [one.get(field) or missing for one in entry["by"]]
        known["by_scan"] = json.dumps([{**one["scan"], "observed": "observed" in one} for one in entry["by"] if "scan" in one])
        for name in encoded:
            known[name] = None if entry.get(name) is None else json.dumps(entry[name])
        yield tuple(known[column.name] if column.name in known else entry[column.name] for column in COLUMNS)


def this_machine() -> str:
    import platform

    return platform.node()


def quiet_entry(quiet: Quiet) -> Entry:
    """An event that nothing answered, as a line: number 0, and an id derived from its time and its position in the file."""
    fields = {name: value for name, value in quiet._asdict().items() if name != "line"}
    blank = dict.fromkeys(("prev", "agent_version", "session", "subject", "reason", "error", "policy", "policy_hash", "mode"), "")
    return {
        "n": 0, **blank, **fields, "id": f"{round(epoch(quiet.time) * 1000):011x}{quiet.line:06x}", "decision": "none",
        "would": None, "by": [], "effects": [], "dropped": [], "pause": None, "approver": None,
    }  # fmt: skip


def json_rows(entries: Iterable[Entry], machine: str = "") -> Iterator[bytes]:
    """The rows as JSON objects, one on each line: what databases call JSONEachRow."""
    import json

    names = [column.name for column in COLUMNS]
    for row in rows(entries, machine):
        yield json.dumps(dict(zip(names, row))).encode("ascii")
