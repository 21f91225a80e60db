"""What the user sees: progress during the run, then a table of agents and effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onehook.prove.results import cells
from onehook.prove.scenarios import SCENARIOS
from onehook.prove.verdicts import ABSENT, CLAIMED, DECLARED, MISS, PROVEN

STYLES = {PROVEN: "green", DECLARED: "yellow", CLAIMED: "cyan", ABSENT: "dim", MISS: "bold white on red"}
SHORT = {PROVEN: "proven", DECLARED: "not honoured", CLAIMED: "claimed", ABSENT: "-", MISS: "MISS"}


def columns(results: Sequence[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """The agents of a run, in order: (host, mode, version)."""
    return list(dict.fromkeys((row["host"], row.get("mode", ""), row["version"]) for row in results))


def print_table(document: dict[str, Any], console: Console) -> None:
    results = document["results"]
    by_cell = cells(results)
    agents = columns(results)
    table = Table(title=f"onehook {document['onehook']}, {document['date']}", title_justify="left")
    table.add_column("effect", overflow="fold")
    for host, mode, version in agents:
        table.add_column(f"{host}{' ' + mode if mode else ''}\n{version}", justify="center")
    for scenario in SCENARIOS:
        row = [by_cell.get((*agent, scenario.id)) for agent in agents]
        if any(row):
            table.add_row(scenario.title, *(_cell(cell) for cell in row))
    console.print(table)
    for cell in results:
        if cell["verdict"] == MISS:
            name = f"{cell['host']} {cell.get('mode', '')}".strip()
            console.print(Text(f"MISS {name} {cell['version']} {cell['scenario']}: {cell.get('detail', '')}", style="red"))


def _cell(cell: dict[str, Any] | None) -> Text:
    return Text("") if cell is None else Text(SHORT[cell["verdict"]], style=STYLES[cell["verdict"]])


def summary(results: Sequence[dict[str, Any]]) -> str:
    """One line: `N proven, N not honoured, ...`."""
    counts = {verdict: sum(row["verdict"] == verdict for row in results) for verdict in (PROVEN, DECLARED, CLAIMED, ABSENT, MISS)}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)


def release_lines(document: dict[str, Any]) -> list[str]:
    """What differs between the releases of a run, and what is known about them."""
    lines: list[str] = []
    for row in document["differs"]:
        name = f"{row['host']} {row['mode']}".strip()
        verdicts = ", ".join(f"{version} {verdict}" for version, verdict in row["verdicts"].items())
        details = "; ".join(dict.fromkeys(row["details"].values()))
        lines.append(f"{name} {row['scenario']}: {verdicts}{f' ({details})' if details else ''}")
    several = any(len(versions) > 1 for versions in document["releases"].values())
    none = ["No differences between the releases."] if several else []
    lines = ["Differences between the releases:", *lines] if lines else none
    return lines + [f"Known: {fact['host']} {fact['version']}: {fact['what']}" for fact in document["known"]]
