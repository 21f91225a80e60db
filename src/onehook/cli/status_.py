"""onehook status: what is installed where."""

from __future__ import annotations

import click

from onehook.cli.choices import machine_of


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
@click.option("--project", help="The project's folder. Default: here.")
def command(as_json: bool, project: str | None) -> None:
    """Show every policy that onehook has installed: host, scope, file, events, and what is wrong with it at first sight."""
    from dataclasses import asdict

    from onehook.setup.plan import config_of
    from onehook.setup.survey import absent_hosts, rows

    machine = machine_of(project)
    found = rows(machine)
    absent = absent_hosts(machine, found)
    if as_json:
        import json

        click.echo(json.dumps({"installed": [asdict(row) for row in found], "not_installed": absent}, indent=2))
        return
    if found:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for heading in ("host", "scope", "policy", "events", "fail", "file"):
            table.add_column(heading, overflow="fold")
        for row in found:
            policy = Text(row.policy + (" (portable)" if row.portable else ""))
            if row.note:
                policy.append(f"\n{row.note}", style="red")
            table.add_row(row.host, row.scope, policy, ", ".join(row.events), row.fail, Text(row.file))
        Console().print(table)
    else:
        click.echo("No policy is installed here. `onehook install POLICY` does it.")
    if absent:
        click.echo(f"Here, without a policy: {', '.join(config_of(host).TITLE for host in absent)}")
