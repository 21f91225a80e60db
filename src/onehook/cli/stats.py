"""onehook stats: how often each rule, agent, project, day or handler decided, and how long events took."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from onehook.cli.choices import (
    RULES_FILE,
    Verb,
    json_option,
    log_options,
    machine_of,
    nearest,
    print_json,
    rules_option,
    selection,
)

BY = ("rule", "agent", "project", "day", "handler")
COUNTS = ("events", "denied", "asked", "would_deny", "overridden", "errors")
ALWAYS = ("events", "denied")
SOON = 14  # days


@click.command("stats", cls=Verb)
@log_options("count", since="7d")
@click.option("--by", type=click.Choice(BY), default="rule", show_default=True, help="What to group the counts by.")
@click.option(
    "--from", "server", metavar="URL", help="Read a fleet's table instead of the local log: clickhouse://user@host:8123/database."
)
@rules_option
@json_option
def command(since: str, hosts: list[str], project: str, by: str, server: str | None, rules_path: str | None, as_json: bool) -> None:
    """Summarise the decision log: events, denials, what observe mode would have denied, errors, and how long events took.

    \b
    Examples:
      onehook stats                       the last 7 days, rule by rule
      onehook stats --since 30d --by day
      onehook stats --hosts codex,claude --project . --by handler
      onehook stats --by project --json
      onehook stats --from clickhouse://reader@db.example/onehook

    Times run from the start of the hook's own code to its answer; they do not include starting the interpreter.
    """
    found = _counted(server, by, selection(since, hosts, project))
    found |= about_rules(rules_path, found.pop("fired"))
    found["agents_without_policy"] = without_policy()
    if as_json:
        print_json(found)
        return
    if not found["total"]["events"]:
        click.echo(f"No event has been logged since {found['since']}.")
    else:
        _table(found, by)
    _scanners(found.get("scanners", []))
    _remarks(found)


def _counted(url: str | None, by: str, chosen: dict[str, Any]) -> dict[str, Any]:
    if url is None:
        from onehook.log.scans import scans
        from onehook.log.stats import stats

        return {**stats(by, **chosen), "scanners": scans(**chosen)}
    from onehook.fleet import stats as fleet
    from onehook.fleet.clickhouse import parse

    server = parse(url)
    return {**fleet.stats(server, by, **chosen), "scanners": fleet.scans(server, **chosen)}


def about_rules(rules_path: str | None, fired: Collection[str]) -> dict[str, Any]:
    """From the rules file here: active rules that never fired, and exceptions that end soon."""
    from onehook.cli.choices import rules_file

    if rules_path is None and nearest([RULES_FILE]) is None:
        return {"rules_file": None, "never_fired": [], "exceptions": []}
    from onehook.rules.explain import ending_exceptions, rules_on
    from onehook.rules.load import layers_beside

    path = rules_file(rules_path)
    layers = layers_beside(path)
    silent = [rule["id"] for rule in rules_on(path, layers) if rule["id"] not in fired]
    keys = ("rule", "until", "reason", "file", "line")
    ending = [{key: one.get(key) for key in keys} for one in ending_exceptions([*layers, ("project", path)], SOON)]
    return {"rules_file": path, "never_fired": silent, "exceptions": ending}


def without_policy() -> list[str]:
    from onehook.setup.installed import absent_hosts, rows

    machine = machine_of()
    return absent_hosts(machine, rows(machine))


def _table(found: dict[str, Any], by: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    groups = [*found["groups"], found["total"]]
    table = Table(box=None, pad_edge=False)
    table.add_column(by, overflow="fold")
    headings = {"would_deny": "would\ndeny", "overridden": "over-\nridden"}
    # A count that is 0 everywhere is left out: a line then fits a terminal of 80 columns.
    counts = [count for count in COUNTS if count in ALWAYS or any(group[count] for group in groups)]
    for heading in (*(headings.get(count, count) for count in counts), "p50\nms", "p95\nms", "p99\nms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for group in groups:
        name = Text("all events" if group is found["total"] else group["name"] or "-", style="bold" if group is found["total"] else "")
        table.add_row(
            name,
            *(str(group[count] or "") for count in counts),
            *(_milliseconds(group[percentile]) for percentile in ("p50", "p95", "p99")),
        )
    Console().print(table)


def _scanners(found: list[dict[str, Any]]) -> None:
    if not found:
        return
    from rich.console import Console
    from rich.table import Table

    counts = ("scans", "blocked", "masked", "asked", "observed", "errors", "cache_hits")
    shown = [count for count in counts if count in ("scans", "blocked", "masked", "cache_hits") or any(one[count] for one in found)]
    table = Table(box=None, pad_edge=False)
    table.add_column("scanner")
    for heading in (*(count.replace("_", "\n") for count in shown), "p50\nms", "p95\nms", "p99\nms"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("breaker")
    for one in found:
        times = (_milliseconds(one[share]) for share in ("p50", "p95", "p99"))
        table.add_row(one["backend"], *(str(one[count] or "") for count in shown), *times, one["breaker"])
    click.echo()
    Console().print(table)


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _remarks(found: dict[str, Any]) -> None:
    silent = found["never_fired"]
    if silent:
        shown = ", ".join(silent[:5]) + (f" and {len(silent) - 5} more (--json lists them)" if len(silent) > 5 else "")
        click.echo(f"\n{len(silent)} of the active rules never fired: {shown}")
    for one in found["exceptions"]:
        click.secho(f"The exception for {one['rule']} ends on {one['until']} ({one['file']}:{one['line']}): {one['reason']}", fg="yellow")
    if found["agents_without_policy"]:
        click.echo(f"Agents found without a policy: {', '.join(found['agents_without_policy'])}")
