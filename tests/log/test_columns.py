"""The columns of the log as a table are the fields of its schema."""

from __future__ import annotations

import json
from pathlib import Path

from onehook.log.columns import COLUMNS, quiet_entry, rows
from onehook.log.reader import Quiet

NOT_COLUMNS = ("torn", "recovered")  # they describe the file, not the decision
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "log.json").read_text(encoding="utf-8"))["properties"]
ADDED = {"machine", "outcome", "decided_by"}
KINDS = {"string": "string", "integer": "integer", "number": "number", "object": "json"}
LISTS = {"string": "strings", "integer": "integers", "boolean": "booleans", "object": "json"}
BY = [
    {"kind": "rule", "name": "git.push-force", "said": "warn", "pack": "git", "file": "/p/a.toml", "line": 3, "severity": "high"},
    {"kind": "program", "name": "checker", "said": "deny", "observed": True, "line": None},
]  # fmt: skip
QUIET = Quiet("2026-11-16T12:45:55.402Z", "claude", "PreToolUse", "Bash", 3.5, "/p", 7)


def types_of(field):
    if "enum" in field or "const" in field:
        values = field.get("enum", [field.get("const")])
        return {"boolean" if value is True else "null" if value is None else "string" for value in values}
    return {field["type"]} if isinstance(field["type"], str) else set(field["type"])


def kind_of(field):
    types = types_of(field)
    if field.get("format") == "date-time":
        return "time", False
    if "array" in types:
        (inner,) = types_of(field["items"])
        return LISTS[inner], False
    (one,) = types - {"null"}
    return KINDS[one], "null" in types or field is SCHEMA["content"]


def test_every_field_of_the_schema_is_a_column_of_its_type():
    wanted = {name: kind_of(field) for name, field in SCHEMA.items() if name != "by" and name not in NOT_COLUMNS}
    for name, field in SCHEMA["by"]["items"]["properties"].items():
        (one,) = types_of(field) - {"null"}
        wanted[f"by_{name}"] = (LISTS[one], False)
    columns = {column.name: (column.kind, column.nullable) for column in COLUMNS if column.name not in ADDED}
    assert columns == wanted
    assert {column.name for column in COLUMNS} - set(wanted) == ADDED


def test_a_row_holds_who_said_what_in_lists_of_the_same_length():
    entry = {**quiet_entry(QUIET), "n": 1, "by": BY, "would": "deny", "dropped": [{"fields": ["reason"]}]}
    (row,) = rows([entry], "laptop")
    values = dict(zip([column.name for column in COLUMNS], row, strict=True))
    assert values["machine"] == "laptop" and values["outcome"] == "would deny" and values["decided_by"] == "checker"
    assert values["by_name"] == ["git.push-force", "checker"] and values["by_severity"] == ["high", ""]
    assert values["by_line"] == [3, 0] and values["by_observed"] == [False, True]
    assert json.loads(values["dropped"]) == [{"fields": ["reason"]}] and values["pause"] is None and values["content"] is None


def test_an_event_on_which_nobody_had_a_say_is_a_row_with_the_number_0_and_an_id_of_its_own():
    first, second = quiet_entry(QUIET), quiet_entry(QUIET._replace(line=8))
    assert first["n"] == 0 and first["time"] == QUIET.time and first["id"] != second["id"] and first["id"][:11] == second["id"][:11]
    assert set(first) == set(SCHEMA) - {*NOT_COLUMNS, "content"}
