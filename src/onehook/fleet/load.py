"""Loads the log of this machine into the table of a fleet. What is loaded twice is there once (schema.py)."""

from __future__ import annotations

from collections.abc import Iterable

from onehook.fleet import schema
from onehook.fleet.clickhouse import Server, parse
from onehook.log.columns import json_rows
from onehook.log.reader import Entry


def load(url: str, found: Iterable[Entry]) -> int:
    """Returns the number of rows."""
    server = parse(url)
    prepare(server)
    return server.insert(schema.DECISIONS, json_rows(found))


def prepare(server: Server) -> None:
    """Make the tables that are missing. A writer may lack the right to; then they have to be there."""
    missing = {schema.DECISIONS: schema.decisions(), schema.RECORDS: schema.records()}
    for row in server.rows("SHOW TABLES"):
        missing.pop(row["name"], None)
    for statement in missing.values():
        server.run(statement, **schema.SETTINGS)
