"""onehook hosts: the supported agents, and what their support is based on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import click

from onehook.cli.choices import Verb, json_option, print_json

PROVEN, CAPTURED, DOCUMENTED = "proven", "captured", "documented"
MEANING = {
    PROVEN: "checked on the real agent, with the version and date shown; `onehook prove` repeats it",
    CAPTURED: "tested against payloads captured from the real agent",
    DOCUMENTED: "based on the documentation only",
}


@dataclass(frozen=True)
class Known:
    """An agent, and what its support is based on."""

    host: str
    title: str
    support: str
    versions: tuple[str, ...] = ()
    date: str = ""
    results: dict[str, int] = field(default_factory=dict)  # verdict -> number of scenarios
    events: tuple[str, ...] = ()  # unified
    installable: bool = False


def known_hosts() -> list[Known]:
    from onehook.hosts import HOSTS
    from onehook.prove import results

    document: dict[str, Any] = results.read() if results.COMMITTED.is_file() else {"results": [], "agents": {}, "date": ""}
    return [_known(host, document) for host in HOSTS]


def _known(host: str, document: dict[str, Any]) -> Known:
    from onehook.hostkit.reverse import unified_events
    from onehook.hosts import load, optional, wire_of

    config = optional(host, "config")
    verdicts = [row["verdict"] for row in document["results"] if row["host"] == host]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
    captured = config.TRAITS.captured if config else ()
    support = PROVEN if counts.get(PROVEN) else CAPTURED if captured else DOCUMENTED
    return Known(
        host,
        config.TITLE if config else f"({load(host, 'reverse').LABEL})",
        support,
        (document["agents"][host],) if support == PROVEN else captured,
        document["date"] if support == PROVEN else "",
        counts,
        tuple(unified_events(wire_of(host).EVENTS)),
        config is not None,
    )


@click.command("hosts", cls=Verb)
@json_option
def command(as_json: bool) -> None:
    """List the supported agents, and what the support of each is based on: runs of the real agent, captured payloads, or documentation."""
    found = known_hosts()
    if as_json:
        print_json([asdict(row) for row in found])
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("id", "agent", "support", "proofs", "events"):
        table.add_column(heading, no_wrap=heading in ("id", "support"))
    for row in found:
        style = {PROVEN: "green", CAPTURED: "cyan", DOCUMENTED: "yellow"}[row.support]
        support = Text(row.support, style=style)
        support.append("".join(f" {detail}" for detail in (*row.versions, row.date) if detail), style="")
        proofs = ", ".join(f"{count} {verdict}" for verdict, count in row.results.items())
        table.add_row(row.host, row.title, support, proofs, str(len(row.events)))
    console = Console()
    console.print(table)
    for level in dict.fromkeys(row.support for row in found):
        console.print(f"[bold]{level}[/bold]: {MEANING[level]}", highlight=False)
