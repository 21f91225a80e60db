"""onehook doctor: would a deny take effect?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import Verb, configured_hosts, hosts_option, json_option, machine_of, print_json, project_option

if TYPE_CHECKING:
    from onehook.setup.doctor import Report

MARKS = {"ok": ("ok", "green"), "note": ("note", "cyan"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}


@click.command("doctor", cls=Verb)
@hosts_option("Agents to check: 'auto' (those found here), 'all' or names", "all")
@click.option("--no-fire", is_flag=True, help="Do not run the installed commands.")
@json_option
@project_option
def command(hosts: list[str], no_fire: bool, as_json: bool, project: str | None) -> None:
    """Check, agent by agent, that the installed policy would take effect, and show how to fix what would not.

    Exits with 1 if anything would keep a deny from taking effect.
    """
    from onehook.setup.doctor import NOT_HERE, examine

    machine = machine_of(project)
    reports: list[Report] = []
    absent: list[str] = []
    chosen = configured_hosts(hosts, machine)
    for report in examine(machine, chosen, fire=not no_fire):
        if report.diagnosis is NOT_HERE:
            absent.append(report.host)
        elif not as_json:
            _show(report, reports[-1] if reports else None)
        reports.append(report)
    failed = any(report.diagnosis.level == "fail" for report in reports)
    if as_json:
        from onehook.setup.versions import agents_here

        shown = [{"host": report.host, "file": report.where, **asdict(report.diagnosis)} for report in reports]
        agents = [here.to_dict() for here in agents_here(machine, chosen, ask=not no_fire)]
        print_json({"ok": not failed, "agents": agents, "findings": shown})
    else:
        if absent:
            click.secho(f"Not found: {', '.join(absent)}", dim=True)
        click.echo(f"\n{_conclusion(failed, no_fire)}")
    raise SystemExit(1 if failed else 0)


def _conclusion(failed: bool, no_fire: bool) -> str:
    if failed:
        return "A deny would not take effect everywhere: see FAIL above."
    return "Nothing was run, so this does not show that a deny takes effect." if no_fire else "A deny takes effect."


def _show(report: Report, before: Report | None) -> None:
    """One finding, under its agent and its file."""
    if before is None or report.host != before.host:
        click.secho(report.host, bold=True)
    if report.where and (before is None or report.where != before.where):
        click.secho(f"  {report.where}", dim=True)
    mark, colour = MARKS[report.diagnosis.level]
    click.echo(f"  {click.style(f'{mark:<5}', fg=colour)} {report.diagnosis.what}")
    if report.diagnosis.fix:
        click.echo(f"        fix: {report.diagnosis.fix}")
