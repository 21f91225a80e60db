"""Recordings (`onehook record`) of many machines in a table, for `onehook replay --from`. The log itself has no payloads to replay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from onehook.fleet.clickhouse import Server, literal
from onehook.fleet.schema import RECORDS
from onehook.log.columns import this_machine

_UNKNOWN = "1970-01-01T00:00:00Z"


class Recording(NamedTuple):
    """A file of a machine: one session."""

    machine: str
    file: str
    size: int  # bytes


def rows(paths: Iterable[Path]) -> Iterator[bytes]:
    machine = this_machine()
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    entry = json.loads(line)
                except ValueError:  # half a line
                    continue
                known = {"time": entry.get("time") or _UNKNOWN, "host": entry.get("host") or ""}
                row = {"machine": machine, "file": path.name, "line": number, **known, "record": line.rstrip("\n")}
                yield json.dumps(row).encode("ascii")


def recordings(server: Server, since: str = "") -> list[Recording]:
    """Those with an event since then, oldest first."""
    later = f" WHERE time >= {literal(since)} AND day >= toDate({literal(since[:10])})" if since else ""
    query = f"SELECT machine, file, sum(length(record) + 1) AS size, min(time) AS begun FROM {RECORDS} FINAL{later} GROUP BY machine, file"
    return [Recording(row["machine"], row["file"], int(row["size"])) for row in server.rows(f"{query} ORDER BY begun, machine, file")]


def fetch(server: Server, machine: str, file: str, path: Path) -> None:
    """Write a recording as the file that it was."""
    query = f"SELECT record FROM {RECORDS} FINAL WHERE machine = {literal(machine)} AND file = {literal(file)} ORDER BY line"
    with path.open("w", encoding="utf-8") as out:
        for row in server.rows(query):
            out.write(row["record"] + "\n")
