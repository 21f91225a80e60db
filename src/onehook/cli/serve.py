"""onehook serve: the processes that answer events in resident mode."""

from __future__ import annotations

import os
import sys

import click

from onehook.cache import SERVE
from onehook.cli.choices import Verb, existing_policy, json_option, print_json


@click.command("serve", cls=Verb)
@click.argument("policy", required=False)
@click.option("--status", is_flag=True, help="Show the running processes and what they have answered; the default without POLICY.")
@click.option("--stop", is_flag=True, help="Stop the processes, after they have answered the events that they are working on.")
@json_option
def command(policy: str | None, status: bool, stop: bool, as_json: bool) -> None:
    """Start the process that answers the events of POLICY in resident mode, or show or stop the running ones.

    You do not have to start one: the first event of a policy that was installed with --resident does. That event, and any event that finds
    no running process, is answered in the ordinary way. A process ends after 15 minutes without an event.

    \b
    Examples:
      onehook install policy.py --resident   turn resident mode on
      onehook serve                          show what is running, and how fast it answers
      onehook serve --stop                   stop all processes
      onehook serve policy.py                start one now, before the first event
    """
    from onehook.setup.resident import gone, servers
    from onehook.setup.resident import stop as stop_one

    if policy and (status or stop):
        raise click.UsageError("POLICY starts a process; remove it to use --status or --stop")
    if policy:
        _start(str(existing_policy(policy)))
        return
    found = servers()
    for server in found if stop else ():
        stop_one(server)
    if stop and not gone():
        raise click.ClickException("a process has not stopped; try again")
    if as_json:
        print_json({"stopped" if stop else "servers": [server.to_dict() for server in found]})
        return
    for server in found:
        click.echo(f"{'stopped ' if stop else ''}{server.told()}")
        if server.refused:
            click.secho(f"  its packages are loaded for each event: {server.refused}", fg="yellow")
    if not found:
        click.echo("No resident process is running: no policy is installed with --resident, or there was no event in the last 15 minutes.")


def _start(policy: str) -> None:
    """Start the process, as a client does if it finds none for an event."""
    from onehook.setup.command import own_program
    from onehook.setup.resident import folder

    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    program = own_program()
    if sys.platform == "win32":
        from onehook.resident import windows

        command = [program.interpreter, "-I", "-S", program.launcher, policy]
        key = windows.key_of(command, os.getcwd(), os.environ)
        windows.start([*command[:4], SERVE, key, policy])
        click.echo(f"{policy}: started a process, unless one is already running")
        return
    from onehook.resident import asking

    words = [os.fsencode(word) for word in (program.interpreter, "-I", "-S", program.launcher, policy)]
    place = os.open(folder(), os.O_RDONLY)
    asking.start(words, asking.key_of(words, os.getcwdb(), os.environb), place)
    os.close(place)
    click.echo(f"{policy}: started a process, unless one is already running")
