"""How long `onehook stats --from` takes for the table of a fleet.

    python bench/loglines.py --lines 800000 --quiet 1 --machines 800 --rows | clickhouse-client --query "INSERT INTO decisions FORMAT TSV"
    python bench/fleet.py clickhouse://127.0.0.1:8123/onehook --rows 20000000

If the table has fewer rows, the server first copies the existing ones, with other machines, projects, sessions and ids.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

from onehook.cli.stats import BY
from onehook.fleet.clickhouse import Server, parse
from onehook.fleet.stats import stats
from onehook.log.columns import COLUMNS
from onehook.log.reader import moment

OTHER = {
    "machine": "concat('copy{k}-', machine)",
    "prev": "lower(hex(SHA256(concat(prev, '{k}'))))",
    "id": "concat(substring(id, 1, 11), lower(substring(hex(MD5(concat(id, machine, '{k}'))), 1, 6)))",
    "session": "if(session = '', '', lower(hex(MD5(concat(session, '{k}')))))",
    "project": "replaceOne(project, '/home/dev', '/home/copy{k}-dev')",
    "policy": "replaceOne(policy, '/home/dev', '/home/copy{k}-dev')",
    "by_file": "arrayMap(file -> replaceOne(file, '/home/dev', '/home/copy{k}-dev'), by_file)",
}


def multiply(server: Server, wanted: int) -> None:
    """Each copy is made from the original rows."""
    first = count(server)
    names = ", ".join(column.name for column in COLUMNS)
    for k in range(1, -(-wanted // first)):
        values = ", ".join(OTHER.get(column.name, column.name).replace("{k}", str(k)) for column in COLUMNS)
        only = "machine LIKE 'machine-%'"
        begun = time.monotonic()
        server.run(f"INSERT INTO decisions ({names}) SELECT {values} FROM decisions WHERE {only}", min_insert_block_size_rows="262144")
        print(f"copy {k}: {time.monotonic() - begun:.0f} s", flush=True)


def count(server: Server) -> int:
    return int(next(server.rows("SELECT count() AS rows FROM decisions"))["rows"])


def timed(server: Server, by: str, since: str, runs: int) -> tuple[float, int]:
    times, groups = [], 0
    for _ in range(runs):
        begun = time.monotonic()
        groups = len(stats(server, by, since)["groups"])
        times.append(time.monotonic() - begun)
    return statistics.median(times), groups


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    server = parse(given.url)
    multiply(server, given.rows)
    (facts,) = server.rows("SELECT version() AS version, count() AS rows, uniq(machine) AS machines FROM decisions")
    (size,) = server.rows("SELECT sum(bytes_on_disk) AS bytes, count() AS parts FROM system.parts WHERE active AND table = 'decisions'")
    print(f"ClickHouse {facts['version']}: {int(facts['rows']):,} rows of {facts['machines']} machines, {int(size['bytes']) / 1e9:.1f} GB")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; seconds, median of {given.runs}")
    print(f"{'':<12}{'7 days':>9}{'30 days':>9}{'groups':>9}")
    for by in BY:
        week, _ = timed(server, by, moment("7d"), given.runs)
        month, groups = timed(server, by, moment("31d"), given.runs)
        print(f"--by {by:<7}{week:>9.1f}{month:>9.1f}{groups:>9}", flush=True)


if __name__ == "__main__":
    main()
