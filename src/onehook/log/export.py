"""Writes lines of the decision log in the formats that other programs read: JSON lines, CSV, Parquet, OCSF."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from onehook.core import OnehookError
from onehook.log.columns import COLUMNS, Column, json_rows, quiet_entry, rows, this_machine
from onehook.log.reader import Entry, entries, quiet_events

_BATCH = 10_000  # rows that are in memory at once, for Parquet
# A cell that begins with one of these is a formula to a spreadsheet, and a command is what the agent wrote.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def exported(wanted: Callable[[Entry], bool], since: str = "", quiet: bool = False) -> Iterator[Entry]:
    """The wanted lines, oldest first; with `quiet`, also the events that nothing answered."""
    yield from filter(wanted, entries(since=since))
    if quiet:
        yield from filter(wanted, map(quiet_entry, quiet_events(since=since)))


def write_jsonl(found: Iterable[Entry], file: BinaryIO) -> None:
    for entry in found:
        file.write(json.dumps(entry).encode("ascii") + b"\n")


def write_rows(found: Iterable[Entry], file: BinaryIO) -> None:
    for row in json_rows(found):
        file.write(row + b"\n")


def write_ocsf(found: Iterable[Entry], file: BinaryIO) -> None:
    from onehook.log.ocsf import finding

    machine = this_machine()
    write_jsonl((finding(entry, machine) for entry in found), file)


def write_csv(found: Iterable[Entry], file: BinaryIO) -> None:
    """With a heading. Lists are JSON; a cell that a spreadsheet would run as a formula gets a ' in front."""
    import csv
    import io

    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text)
        writer.writerow([column.name for column in COLUMNS])
        writer.writerows(map(_cells, rows(found)))
    finally:
        text.detach()


def _cells(row: tuple[Any, ...]) -> list[Any]:
    return [_cell(value) for value in row]


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return json.dumps(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def write_parquet(found: Iterable[Entry], file: BinaryIO) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise OnehookError("Parquet needs the package pyarrow: pip install 'onehook[parquet]'") from None
    types = {
        "string": pa.string(), "integer": pa.int64(), "number": pa.float64(), "time": pa.timestamp("ms", tz="UTC"), "json": pa.string(),
        "strings": pa.list_(pa.string()), "integers": pa.list_(pa.int64()), "booleans": pa.list_(pa.bool_()),
    }  # fmt: skip
    schema = pa.schema([pa.field(column.name, types[column.kind], nullable=column.nullable) for column in COLUMNS])
    table = rows(found)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := list(islice(table, _BATCH)):
            arrays = [pa.array(_values(column, values), field.type) for column, field, values in zip(COLUMNS, schema, zip(*batch))]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _values(column: Column, values: tuple[Any, ...]) -> Any:
    if column.kind != "time":
        return values
    from datetime import datetime

    return [datetime.fromisoformat(value.replace("Z", "+00:00")) for value in values]


_WRITERS: dict[str, Callable[[Iterable[Entry], BinaryIO], None]] = {
    "jsonl": write_jsonl,
    "rows": write_rows,
    "csv": write_csv,
    "parquet": write_parquet,
    "ocsf": write_ocsf,
}
BINARY = ("parquet",)


def write(form: str, found: Iterable[Entry], output: str | None) -> None:
    """To a file that only its owner can read, or to stdout. The file appears when it is complete."""
    import sys

    if output is None:
        _WRITERS[form](found, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    part = f"{output}.part"
    try:
        with open(part, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            _WRITERS[form](found, file)
        os.replace(part, output)
    except OSError as error:
        raise OnehookError(f"{output} was not written: {error.strerror or error}") from None
    finally:
        if os.path.exists(part):
            os.unlink(part)
