"""onehook doctor: would a deny take effect?"""

from __future__ import annotations

import click

from onehook.cli.choices import machine_of

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
    from onehook.setup.doctor import examine

    machine = machine_of(project)
    failed = False
    shown: list[dict[str, str]] = []
    last = ""
    for report in examine(machine, chosen_hosts(hosts, machine), fire=not no_fire):
        finding = report.finding
        failed = failed or finding.level == "fail"
        shown.append({"host": report.host, "file": report.where, "level": finding.level, "what": finding.what, "fix": finding.fix})
        if as_json:
            continue
        if report.host != last:
            click.secho(report.host, bold=True)
            last = report.host
        mark, colour = MARKS[finding.level]
        click.echo(f"  {click.style(f'{mark:<5}', fg=colour)} {finding.what}" + (f"  ({report.where})" if report.where else ""))
        if finding.fix:
            click.echo(f"        fix: {finding.fix}")
    if as_json:
        import json

        click.echo(json.dumps({"ok": not failed, "findings": shown}, indent=2))
    raise SystemExit(1 if failed else 0)
