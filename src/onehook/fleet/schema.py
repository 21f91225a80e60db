"""The tables in ClickHouse, from the one list of columns of the log: python -m onehook.fleet.schema writes schema.sql beside this file.

- A row is a line of a log, or an event that nothing answered. Loading a line twice leaves one row: the key is the day, the machine and
  the id, ReplacingMergeTree keeps one row of a key, and queries read with FINAL, so it does not matter whether it has merged them yet.
- The time is a string, as in the log: it sorts, it compares, it keeps the milliseconds on servers without DateTime64. `day` and `at` are
  derived from it on insert. The key begins with the day, because every query covers a period; a partition is a month, so that old ones can
  be dropped at once.
"""

from __future__ import annotations

from pathlib import Path

from onehook.log.columns import COLUMNS, Column

DECISIONS, RECORDS = "decisions", "records"
FILE = Path(__file__).with_name("schema.sql")
_TYPES = {"string": "String", "integer": "UInt64", "number": "Float64", "time": "String", "json": "String"}
_ITEMS = {"strings": "String", "integers": "UInt32", "booleans": "UInt8"}
_MADE = ("day Date MATERIALIZED toDate(substring(time, 1, 10))", "at DateTime('UTC') MATERIALIZED parseDateTimeBestEffort(time)")
_END = "ENGINE = ReplacingMergeTree\nPARTITION BY toYYYYMM(day)\nORDER BY (day, {key})"
# Debian's server, 18.16, asks for it. Newer ones ignore it.
SETTINGS = {"allow_experimental_low_cardinality_type": "1"}


def type_of(column: Column) -> str:
    one = _TYPES.get(column.kind) or _ITEMS[column.kind]
    one = f"Nullable({one})" if column.nullable else one
    one = f"LowCardinality({one})" if column.few else one
    return f"Array({one})" if column.kind in _ITEMS else one


def decisions() -> str:
    return _table(DECISIONS, [f"{column.name} {type_of(column)}" for column in COLUMNS], "machine, id")


def records() -> str:
    """Lines of `onehook record`, as they are, for `onehook replay`."""
    columns = [
        "machine LowCardinality(String)",
        "file String",
        "line UInt32",
        "time String",
        "host LowCardinality(String)",
        "record String",
    ]
    return _table(RECORDS, columns, "machine, file, line")


def _table(name: str, columns: list[str], key: str) -> str:
    rows = ",\n".join(f"    {column}" for column in [*columns, *_MADE])
    return f"CREATE TABLE IF NOT EXISTS {name} (\n{rows}\n)\n{_END.format(key=key)}"


def sql() -> str:
    head = "-- Generated from the columns of the log: python -m onehook.fleet.schema\n-- docs/fleet.md says how to use it.\n"
    settings = "\n".join(f"SET {key} = {value};" for key, value in SETTINGS.items())
    return f"{head}{settings}\n\n{decisions()};\n\n{records()};\n"


if __name__ == "__main__":
    FILE.write_text(sql(), encoding="utf-8")
