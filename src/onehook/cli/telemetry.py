"""onehook telemetry: how much of the decision log its collector has received."""

from __future__ import annotations

import click

from onehook.cli.choices import Verb, VerbGroup, json_option, print_json


@click.command("telemetry", cls=VerbGroup, invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show how much of the decision log has been sent to each collector that a policy names.

    \b
    In the rules file:
      [telemetry]
      otlp = "http://localhost:4318"     OTLP over HTTP; grpc://localhost:4317 for gRPC

    A background process, which an event starts and does not wait for, sends the log (docs/log.md). Needs pip install 'onehook[otlp]'.
    """
    if ctx.invoked_subcommand:
        return
    from onehook.log.flusher import destinations

    found = [one.to_dict() for one in destinations()]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("Nothing is being sent: no policy with [telemetry] otlp has made a decision yet.")
    for one in found:
        click.secho(one["url"], bold=True)
        click.echo(f"  policy   {one['policy']}")
        click.echo(f"  sent     {one['sent']} lines" + (f", the last of {one['last_sent']}" if one["last_sent"] else ""))
        click.echo(f"  waiting  {one['behind']} lines; {'being sent now' if one['running'] else 'the next event starts sending'}")
        if one["problem"]:
            click.secho(f"  problem  {one['problem']}", fg="red")


@command.command("flush", cls=Verb)
@click.option(
    "--wait", type=click.FloatRange(min=0), default=30.0, show_default=True, help="Seconds to wait for another process that is sending."
)
@click.pass_context
def flush(ctx: click.Context, wait: float) -> None:
    """Send unsent lines now. Exits with 1 if a collector does not confirm them."""
    from onehook.core import OnehookError
    from onehook.log.flusher import destinations
    from onehook.log.flusher import flush as flushed

    failed = False
    for one in destinations():
        try:
            sent = flushed(one, wait)
            click.echo(f"{one.url}: {sent} line{'s' if sent != 1 else ''} sent")
        except OnehookError as error:
            failed = True
            click.secho(f"{one.url}: {error}", fg="red", err=True)
    ctx.exit(1 if failed else 0)
