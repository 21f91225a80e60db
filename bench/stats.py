"""How long `onehook stats` and `onehook log` take for a large log, compared with DuckDB if it is installed.

    python bench/stats.py [LINES | FOLDER]

Counts the log in FOLDER, or one with this many lines (1,000,000) and five events that nothing answered for each, from bench/loglines.py.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onehook.log.reader import newest
from onehook.log.stats import stats

QUERY = """
select name, count(*) as events, count(*) filter (decision = 'deny') as denied, quantile_cont(ms, [0.5, 0.95, 0.99])
from (select unnest("by").name as name, decision, ms from read_json('{folder}/*.jsonl', format='newline_delimited'))
group by name order by denied desc
"""


def processor() -> float:
    """Processor time of this process and of those that it has waited for, in seconds."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def measure(what: str, work: Callable[[], Any]) -> None:
    begun, clock = processor(), time.monotonic()
    work()
    memory = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    print(
        f"{what:<28} {processor() - begun:6.2f} s of processor time, {time.monotonic() - clock:6.2f} s, at most {memory:.0f} MB until now"
    )


def measured(folder: Path) -> None:
    size = sum(path.stat().st_size for path in folder.glob("*.jsonl")) >> 20
    print(f"{size} MB of lines, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for path in folder.glob("*.digest"):
        path.unlink()
    measure("onehook log", lambda: newest(20, lambda _: True, str(folder)))
    measure("stats, the first time", lambda: stats("rule", folder=str(folder)))
    measure("stats, with digests", lambda: stats("rule", folder=str(folder)))
    if importlib.util.find_spec("duckdb"):
        import duckdb

        measure(f"DuckDB {duckdb.__version__}, lines only", lambda: duckdb.sql(QUERY.format(folder=folder)).fetchall())


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else "1000000"
    if not given.isdigit():
        measured(Path(given))
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, Path(__file__).with_name("loglines.py"), "--lines", given, "--output", folder], check=True)
        measured(Path(folder))


if __name__ == "__main__":
    main()
