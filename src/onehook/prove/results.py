"""The results of a run as data: write, read, compare, and lay out as a table."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from onehook.prove.verdicts import Verdict
from onehook.version import VERSION

COMMITTED = Path(__file__).with_name("results.json")


def document(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "onehook": VERSION,
        "date": time.strftime("%Y-%m-%d"),
        "agents": {verdict.host: verdict.version for verdict in verdicts},
        "results": [_stable(verdict) for verdict in verdicts],
    }


def _stable(verdict: Verdict) -> dict[str, Any]:
    """The results without what varies between runs, so that a committed file changes only when a result does."""
    return {name: value for name, value in verdict.to_dict().items() if name not in ("seconds", "kept")}


def write(path: Path, verdicts: Sequence[Verdict]) -> None:
    path.write_text(json.dumps(document(verdicts), indent=1) + "\n", encoding="utf-8")


def read(path: Path = COMMITTED) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return given


Cell = tuple[str, str, str]  # host, mode, scenario


def cells(results: Iterable[dict[str, Any]]) -> dict[Cell, dict[str, Any]]:
    return {(row["host"], row.get("mode", ""), row["scenario"]): row for row in results}


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What changed, cell by cell; only agents in both runs are compared."""
    old, new = cells(before["results"]), cells(after["results"])
    both = {host for host, _, _ in old} & {host for host, _, _ in new}
    lines = [
        f"{host}: {before['agents'][host]} -> {after['agents'][host]}"
        for host in sorted(both)
        if before["agents"][host] != after["agents"][host]
    ]
    for cell in sorted(set(old) & set(new)):
        was, now = old[cell]["verdict"], new[cell]["verdict"]
        if was != now:
            host, mode, scenario = cell
            lines.append(f"{f'{host} {mode}'.strip()} {scenario}: {was} -> {now}. {new[cell].get('detail', '')}".rstrip())
    return lines
