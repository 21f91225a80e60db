"""How long `onehook stats` takes for a large log, beside DuckDB if that is installed.

    python bench/stats.py [LINES]

Writes a log with as many lines as asked for (1,000,000), with the fields and sizes of real lines, and as many quiet events.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from onehook.log.stats import stats
from onehook.logger import stamp

RULES = [f"{pack}.rule-{number}" for pack in ("git", "core", "cloud.aws", "docker", "packages") for number in range(16)]
QUERY = """
select name, count(*) as events, count(*) filter (decision = 'deny') as denied, quantile_cont(ms, [0.5, 0.95, 0.99])
from (select unnest("by").name as name, decision, ms from read_json('{folder}/*.jsonl', format='newline_delimited'))
group by name order by denied desc
"""


def write(folder: Path, count: int) -> None:
    days = 7
    for day in range(days):
        at = time.time() - day * 86400
        name = stamp(at)[:10]
        with (folder / f"{name}.jsonl").open("w") as file, (folder / f"{name}.quiet").open("w") as quiet:
            for number in range(count // days):
                file.write(line(number, at) + "\n")
                quiet.write(f"{at:.3f} claude PreToolUse Bash {random.lognormvariate(2, 0.5):.2f} /home/dev/app-{number % 9}\n")


def line(number: int, at: float) -> str:
    decision = random.choices(("deny", "ask", "allow", "none"), (50, 10, 10, 30))[0]
    rule = random.choice(RULES)
    by = {"kind": "rule", "name": rule, "file": "/home/dev/app/onehook.toml", "line": 1, "said": "deny", "reason": "x" * 90, "pack": "git"}
    entry = {
        "n": number, "prev": "0" * 64, "time": stamp(at), "id": f"{number:017x}", "agent": random.choice(("claude", "codex", "cursor")),
        "agent_version": "2.1.325", "session": "0dc8e589-516d-434b-9018-85ebb12efaa6", "project": f"/home/dev/app-{number % 9}",
        "event": "PreToolUse", "tool": "Bash", "subject": "git push --force origin main " + "y" * random.randrange(80),
        "decision": decision,
        "would": "deny" if decision == "none" else None, "by": [by], "reason": "x" * 110, "effects": [], "dropped": [], "error": "",
        "ms": round(random.lognormvariate(2, 0.5), 2), "policy": "/home/dev/app/onehook.toml", "policy_hash": "0" * 64, "mode": "enforce",
        "pause": None, "approver": None,
    }  # fmt: skip
    return json.dumps(entry)


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, count)
        size = sum(path.stat().st_size for path in folder.glob("*.jsonl")) >> 20
        print(f"{count} lines ({size} MB) and as many quiet events, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        begun = time.process_time()
        found = stats("rule", folder=str(folder))
        took = time.process_time() - begun
        print(f"plain Python: {took:.1f} s, {memory():.0f} MB; {found['total']['events']} events, {found['total']['denied']} denied")
        if importlib.util.find_spec("duckdb"):
            import duckdb

            begun = time.process_time()
            rows = duckdb.sql(QUERY.format(folder=folder)).fetchall()
            print(f"DuckDB {duckdb.__version__}: {time.process_time() - begun:.1f} s, {memory():.0f} MB; {len(rows)} rules")


if __name__ == "__main__":
    main()
