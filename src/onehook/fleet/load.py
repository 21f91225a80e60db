"""Loads the log of this machine into the table of a fleet. Loading it twice leaves one copy (schema.py)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from onehook.fleet import records, schema
from onehook.fleet.clickhouse import Server, parse
from onehook.log.columns import json_rows
from onehook.log.reader import Entry


def load(url: str, found: Iterable[Entry]) -> int:
    """Returns the number of rows."""
    server = parse(url)
    prepare(server)
    return server.insert(schema.DECISIONS, json_rows(found))


def load_records(url: str, paths: Iterable[Path]) -> int:
    """The same for recordings."""
    server = parse(url)
    prepare(server)
    return server.insert(schema.RECORDS, records.rows(paths))


def prepare(server: Server) -> None:
    """Create missing tables. A writer may lack the right to do so; then they have to exist."""
    missing = {schema.DECISIONS: schema.decisions(), schema.RECORDS: schema.records()}
    for row in server.rows("SHOW TABLES"):
        missing.pop(row["name"], None)
    for statement in missing.values():
        server.run(statement, **schema.SETTINGS)
