"""onehook status: which policies are installed, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onehook.cli.choices import Verb, configured_hosts, hosts_option, json_option, machine_of, print_json, project_option

if TYPE_CHECKING:
    from onehook.hostkit.config import Machine
    from onehook.setup.installed import InForce, Row


@click.command("status", cls=Verb)
@hosts_option("Agents to show: 'auto' (those found here), 'all' or names", "all")
@json_option
@project_option
def command(hosts: list[str], as_json: bool, project: str | None) -> None:
    """Show every policy that onehook has installed, with its agent, scope, file and events, and any obvious problem."""
    from dataclasses import asdict

    from onehook.pause import entries
    from onehook.setup.installed import absent_hosts, in_force, rows
    from onehook.setup.plan import config_of
    from onehook.setup.resident import servers
    from onehook.setup.versions import agents_here

    machine = machine_of(project)
    chosen = configured_hosts(hosts, machine)
    found = [row for row in rows(machine) if row.host in chosen]
    absent = [host for host in absent_hosts(machine, found) if host in chosen]
    agents = agents_here(machine, chosen)
    if as_json:
        shown = {"installed": [asdict(row) for row in found], "not_installed": absent, "agents": [here.to_dict() for here in agents]}
        more = {"paused": entries(), "resident": [server.to_dict() for server in servers()]}
        print_json({**shown, "layers": [asdict(one) for one in in_force(found)], **more})
        return
    if found:
        _show(found, machine)
    else:
        click.echo("No policy is installed here. Install one with `onehook install POLICY`.")
    _show_layers(in_force(found), machine)
    for pause in entries():
        _show_pause(pause)
    for server in servers():
        click.echo(f"resident: {server.told()}")
    for here in agents:
        if here.proven is False:
            name = f"{config_of(here.host).TITLE} {here.version}"
            click.secho(f"{name} is not one of the releases that onehook is proven on ({here.oldest} to {here.newest})", fg="yellow")
    if absent:
        click.echo(f"Agents found without a policy: {', '.join(config_of(host).TITLE for host in absent)}")


def _show_layers(layers: list[InForce], machine: Machine) -> None:
    """If there is more than one file, show them strongest first: each can only add to those above it."""
    if len(layers) > 1:
        click.echo("In force, strongest layer first; a file cannot weaken the ones above it:")
        width = max(len(_short(one.file, machine)) for one in layers)
        for one in layers:
            count = "" if one.rules is None else f"  {len(one.rules)} rule{'s' if len(one.rules) != 1 else ''}"
            where = ", ".join(one.hosts) or "in addition to every rules file"
            click.echo(f"  {one.layer:<8} {_short(one.file, machine):<{width}}  {where}{count}")
        click.echo("`onehook rules` shows which file sets which rule.")


def _show_pause(pause: dict[str, Any]) -> None:
    from onehook.pause import clock

    what = f"{pause['rule']} is paused" if pause["rule"] else "Everything is paused"
    why = f" ({pause['reason']})" if pause["reason"] else ""
    click.secho(f"{what} until {clock(pause['until'])}{why}; `onehook resume` ends it", fg="yellow")


def _show(found: list[Row], machine: Machine) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("agent", "scope", "policy and config file", "events", "mode", "fail"):
        table.add_column(heading, overflow="fold")
    for row in found:
        traits = ", ".join(
            word for word, holds in (("portable", row.portable), ("pinned", row.pinned), ("resident", row.resident)) if holds
        )
        policy = _short(row.policy, machine) + (f" ({traits})" if traits else "")
        policy += f"\ncopied from {_short(row.source, machine)}" if row.source else ""
        events = "\n".join(f"{event} ({row.matchers[event]})" if event in row.matchers else event for event in row.events)
        rules = "".join(f"\n{count} {severity}" for severity, count in row.rules.items())
        by = f"\nrun by {_short(row.python, machine)}" + (f" with {', '.join(row.packages)}" if row.packages else "") if row.python else ""
        place = Text(f"{policy}\n{_short(row.file, machine)}{by}".lstrip())
        scope = row.scope + (f"\nfor {row.audience}" if row.audience else "")
        table.add_row(row.host, scope, place, Text(events), Text(row.mode + (f"\nrules:{rules}" if rules else "")), row.fail)
    Console().print(table)
    for row in found:
        if row.note:
            click.secho(f"{row.host}, {row.scope}: {row.note}", fg="red")


def _short(path: str, machine: Machine) -> str:
    """Relative to the project or the home folder, where that is shorter."""
    for folder, name in ((machine.project, ""), (machine.home, "~/")):
        if path.startswith(f"{folder}/"):
            return name + path[len(f"{folder}/") :]
    return path
