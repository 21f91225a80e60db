"""onehook replay: what a policy would have decided about past events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from onehook.cli.choices import Verb, existing_policy, hosts_option, pick


@click.command("replay", cls=Verb)
@click.argument("words", nargs=-1, required=True, metavar="[LOG]... POLICY")
@click.option("--against", help="The previous policy: show only the decisions that change from it to POLICY.", metavar="OTHER")
@click.option("--transcripts", metavar="AGENTS", help="Read the transcripts of these agents on this machine, comma-separated, or 'all'.")
@click.option("--from", "server", metavar="URL", help="Read the recordings of a fleet from ClickHouse: clickhouse://user@host/database.")
@click.option("--since", default="30d", show_default=True, help="How far to go back with --transcripts or --from: 30d, 12h, 2w, or a date.")
@hosts_option("Agents that LOG may come from, for payloads that do not identify their agent", "", "--host")
@click.option("--all", "everything", is_flag=True, help="Also show events that the policy leaves to the agent.")
@click.option("--run-programs", is_flag=True, help="Let the policy start programs and open connections, as it does live.")
@click.option(
    "--workers", metavar="N|ADDRESS", help="How many processes to use, or the Dask scheduler (tcp://host:8786) to distribute the work with."
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there is something to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, for scripts; the last one is the summary.")
def command(
    words: tuple[str, ...], against: str | None, transcripts: str | None, server: str | None, since: str, hosts: list[str],
    everything: bool, run_programs: bool, workers: str | None, exit_code: bool, as_json: bool,
) -> None:  # fmt: skip
    """Run past events through POLICY and show each decision. Nothing is enforced, and no program is started.

    LOG is a recording made by `onehook record` (a file or the folder), or a file of captured payloads.

    \b
    Examples:
      onehook replay onehook-record policy.py
      onehook replay onehook-record new.py --against policy.py       only the decisions that change
      onehook replay --transcripts claude,codex --since 30d policy.py
      onehook replay --from clickhouse://reader@db.example/onehook policy.py --workers tcp://scheduler.example:8786
    """
    from onehook.hosts import HOSTS
    from onehook.record.replay import Order, Summary, replay

    policy = str(existing_policy(words[-1]))
    other = str(existing_policy(against)) if against else ""
    summary = Summary()
    sources, stamp = _sources(words[:-1], transcripts, server, since)
    count, cluster = _workers(workers)
    order = Order(sources, policy, other, stamp, everything, run_programs, tuple(pick(hosts, HOSTS)), count, cluster)
    with _progress(sources, as_json) as (heard, show):
        shown = 0
        for row in replay(order, summary, heard):
            shown += 1
            show(_json(row) if as_json else _changed(row) if against else _decided(row))
    _conclude(summary, len(sources), bool(against), as_json)
    raise SystemExit(1 if exit_code and shown else 0)


def _workers(given: str | None) -> tuple[int, str]:
    if given is None or given.isdigit():
        return int(given or 0), ""
    if "://" not in given:
        raise click.UsageError("--workers must be a number, or the address of a Dask scheduler such as tcp://host:8786")
    return 0, given


def _sources(logs: tuple[str, ...], agents: str | None, server: str | None, since: str) -> tuple[list[Any], str]:
    from onehook.hosts import load
    from onehook.record import sources

    if bool(logs) + (agents is not None) + (server is not None) > 1:
        raise click.UsageError("give only one of LOG, --transcripts and --from")
    if server is not None:
        begin = sources.parse_since(since)
        return sources.table(server, begin), sources.as_stamp(begin)
    if agents is None:
        if not logs:
            raise click.UsageError("name a LOG before the policy, or use --transcripts all")
        return sources.logs(logs), ""
    names = sources.hosts_with_transcripts() if agents == "all" else [name.strip() for name in agents.split(",") if name.strip()]
    begin = sources.parse_since(since)
    found = sources.transcripts(names, begin, Path.home())
    if not found:
        places = ", ".join(f"~/{load(name, 'transcripts').FOLDER}" for name in names)
        raise click.ClickException(f"no transcript since {since} in {places}")
    return found, sources.as_stamp(begin)


@contextmanager
def _progress(sources: list[Any], as_json: bool) -> Iterator[tuple[Callable[[int, int], None], Callable[[Any], None]]]:
    """A progress bar on a terminal; elsewhere only the rows."""
    from rich.console import Console

    out = Console(soft_wrap=True, highlight=False)
    show = click.echo if as_json else out.print
    if not sys.stderr.isatty():
        yield (lambda done, events: None), show
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from onehook.record.sources import size_of

    console = out if sys.stdout.isatty() else Console(stderr=True)
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=max(1, size_of(sources)))
        yield (lambda done, events: bar.update(task, completed=done, description=f"{events:,} events")), show


def _json(row: dict[str, Any]) -> str:
    import json

    return json.dumps(row)


_STYLES = {
    "blocked": "bold red",
    "asked": "yellow",
    "runs rewritten": "cyan",
    "error": "bold magenta",
    "keeps working": "yellow",
}
# How the summary counts effects: "7 continued, 5 ran"
_PAST = {"runs": "ran", "runs rewritten": "ran rewritten", "continues": "continued", "keeps working": "kept working", "stops": "stopped"}


def _decided(verdict: dict[str, Any]) -> Any:
    line = _head(verdict)
    line.append(f"  {verdict['effect']}", style=_STYLES.get(verdict["effect"].split(",")[0], ""))
    detail = verdict["reason"] or verdict["modified_input"] or verdict["additional_context"]
    return line.append(f": {_short(str(detail))}") if detail else line


def _changed(row: dict[str, Any]) -> Any:
    before, after = row["before"], row["after"]
    line = _head(after)
    for verdict, sign, style in ((before, "-", "red"), (after, "+", "green")):
        detail = verdict["reason"] or verdict["modified_input"] or verdict["additional_context"]
        line.append(f"\n  {sign} {verdict['effect']}" + (f": {_short(str(detail))}" if detail else ""), style=style)
    return line


def _head(verdict: dict[str, Any]) -> Any:
    from rich.text import Text

    when = verdict["time"][:16].replace("T", " ")
    what = " ".join(part for part in (when, verdict["host"], verdict["event"], verdict["tool"]) if part)
    return Text(what, style="dim").append(f"  {_short(verdict['about'])}", style="default not dim")


def _short(text: str, limit: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _past(effect: str) -> str:
    return " and ".join(_PAST.get(part, part) for part in effect.split(", "))


def _conclude(summary: Any, files: int, compared: bool, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        click.echo(_json({"summary": {**asdict(summary), "files": files}}))
        return
    effects = ", ".join(f"{count:,} {_past(name)}" for name, count in sorted(summary.effects.items(), key=lambda pair: -pair[1]))
    click.echo(f"\n{summary.events:,} events in {files} file{'s' if files != 1 else ''}: {effects or 'none'}", err=True)
    if compared:
        click.echo(f"{summary.changed:,} decision{'s' if summary.changed != 1 else ''} changed", err=True)
    for title, counts in (("lines of unknown kinds", summary.unknown), ("unusable events", summary.unusable)):
        if counts:
            named = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items(), key=lambda pair: -pair[1])[:5])
            click.echo(f"{sum(counts.values()):,} {title}: {named}", err=True)
