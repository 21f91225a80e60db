"""onehook doctor: would a deny take effect?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import machine_of

if TYPE_CHECKING:
    from onehook.setup.doctor import Report

MARKS = {"ok": ("ok", "green"), "note": ("note", "cyan"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}


@click.command("doctor")
@click.option("--hosts", default="all", show_default=True, help="claude,cursor,... | auto | all")
@click.option("--no-fire", is_flag=True, help="Do not start the written commands.")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
@click.option("--project", help="The project's folder. Default: here.")
def command(hosts: str, no_fire: bool, as_json: bool, project: str | None) -> None:
    """Check, host by host, that the installed policy would take effect, and say how to mend what would not.

    Exit code 1 if anything would keep a deny from taking effect.
    """
    from onehook.cli.choices import chosen_hosts
    from onehook.setup.doctor import NOT_HERE, examine

    machine = machine_of(project)
    reports: list[Report] = []
    absent: list[str] = []
    for report in examine(machine, chosen_hosts(hosts, machine), fire=not no_fire):
        if report.finding is NOT_HERE:
            absent.append(report.host)
        elif not as_json:
            _show(report, reports[-1] if reports else None)
        reports.append(report)
    failed = any(report.finding.level == "fail" for report in reports)
    if as_json:
        import json

        shown = [{"host": report.host, "file": report.where, **asdict(report.finding)} for report in reports]
        click.echo(json.dumps({"ok": not failed, "findings": shown}, indent=2))
    else:
        if absent:
            click.secho(f"Not here: {', '.join(absent)}", dim=True)
        click.echo("\nA deny would not take effect everywhere: see FAIL above." if failed else "\nA deny takes effect.")
    raise SystemExit(1 if failed else 0)


def _show(report: Report, before: Report | None) -> None:
    """One finding, under its host and its file."""
    if before is None or report.host != before.host:
        click.secho(report.host, bold=True)
    if report.where and (before is None or report.where != before.where):
        click.secho(f"  {report.where}", dim=True)
    mark, colour = MARKS[report.finding.level]
    click.echo(f"  {click.style(f'{mark:<5}', fg=colour)} {report.finding.what}")
    if report.finding.fix:
        click.echo(f"        fix: {report.finding.fix}")
