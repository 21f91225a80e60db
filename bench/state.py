"""What event.session costs per event, compared with SQLite: a new process each time, as with real hooks.

    python bench/state.py [ROUNDS]

Prints the median time on top of starting the interpreter with what an event loads anyway, and
how long 8 processes at once take for 100 increments each.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
HEAD = f"import sys; sys.path.append({str(SOURCE)!r}); times = int(sys.argv[2])\nimport onehook.codec, onehook.core\n"
WAYS = {
    "start": HEAD,
    "JSON file, flock, rename": HEAD
    + """
import os; os.environ["ONEHOOK_STATE_DIR"] = sys.argv[1]
from onehook.state import State
state = State("sessions", "host", "one")
for _ in range(times): state.increment("n")
""",
    "SQLite, rollback journal": HEAD
    + """
import sqlite3
db = sqlite3.connect(sys.argv[1] + "/a.db", timeout=60, isolation_level=None)
db.execute("create table if not exists kept (name text primary key, value)")
for _ in range(times):
    db.execute("insert into kept values ('n', 1) on conflict (name) do update set value = value + 1 returning value").fetchall()
""",
    "SQLite, WAL, no sync": HEAD
    + """
import sqlite3
db = sqlite3.connect(sys.argv[1] + "/b.db", timeout=60, isolation_level=None)
db.execute("pragma journal_mode=wal"); db.execute("pragma synchronous=off")
db.execute("create table if not exists kept (name text primary key, value)")
for _ in range(times):
    db.execute("insert into kept values ('n', 1) on conflict (name) do update set value = value + 1 returning value").fetchall()
""",
}


def start(code: str, folder: str, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", code, folder, str(times)])


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as folder:
        taken: dict[str, list[float]] = {name: [] for name in WAYS}
        for _ in range(rounds):  # interleaved, so that a busy moment affects all
            for name, code in WAYS.items():
                begun = time.perf_counter()
                assert start(code, folder, 1).wait() == 0
                taken[name].append(time.perf_counter() - begun)
        bare = statistics.median(taken["start"])
        for name in WAYS:
            begun = time.perf_counter()
            crowd = [start(WAYS[name], folder, 100) for _ in range(8)]
            failed = sum(process.wait() != 0 for process in crowd)
            together = time.perf_counter() - begun
            one = (statistics.median(taken[name]) - bare) * 1000
            print(f"{name:<26} one increment {one:+6.2f} ms   8 x 100 increments {together:5.2f} s, {failed} failed")


if __name__ == "__main__":
    main()
