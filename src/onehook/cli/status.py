"""onehook status: what is installed where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onehook.cli.choices import machine_of

if TYPE_CHECKING:
    from onehook.hostkit.config import Machine
    from onehook.setup.installed import Row


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
@click.option("--project", help="The project's folder. Default: here.")
def command(as_json: bool, project: str | None) -> None:
    """Show every policy that onehook has installed: host, scope, file, events, and what is wrong with it at first sight."""
    from dataclasses import asdict

    from onehook.setup.installed import absent_hosts, rows
    from onehook.setup.plan import config_of

    machine = machine_of(project)
    found = rows(machine)
    absent = absent_hosts(machine, found)
    if as_json:
        import json

        click.echo(json.dumps({"installed": [asdict(row) for row in found], "not_installed": absent}, indent=2))
        return
    if found:
        _show(found, machine)
    else:
        click.echo("No policy is installed here. `onehook install POLICY` does it.")
    if absent:
        click.echo(f"Here, without a policy: {', '.join(config_of(host).TITLE for host in absent)}")


def _show(found: list[Row], machine: Machine) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("host", "scope", "policy, and the file that names it", "events", "fail"):
        table.add_column(heading, overflow="fold")
    for row in found:
        policy = _short(row.policy, machine) + (" (portable)" if row.portable else "")
        table.add_row(row.host, row.scope, Text(f"{policy}\n{_short(row.file, machine)}".lstrip()), "\n".join(row.events), row.fail)
    Console().print(table)
    for row in found:
        if row.note:
            click.secho(f"{row.host}, {row.scope}: {row.note}", fg="red")


def _short(path: str, machine: Machine) -> str:
    """From the project, or from the home, where that is shorter."""
    for folder, name in ((machine.project, ""), (machine.home, "~/")):
        if path.startswith(f"{folder}/"):
            return name + path[len(f"{folder}/") :]
    return path
