"""onehook desk: a page where a person sees their agents and answers their requests."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import Verb, machine_of, project_option

if TYPE_CHECKING:
    from onehook.page.server import Desk

PORT = 8377


@click.command("desk", cls=Verb)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port on loopback; 0 chooses a free one.")
@click.option("--open/--no-open", "open_it", default=None, help="Open the page in the browser. [default: yes if there is a desktop]")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A further host name to accept, for a reverse proxy of your own; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the link as one line of JSON, for scripts.")
@project_option
def command(port: int, open_it: bool | None, names: tuple[str, ...], as_json: bool, project: str | None) -> None:
    """Open the desk: a page, served on loopback, to approve, deny or rewrite what your agents ask for, and to see what they were allowed to
    do.

    The printed link gives a browser read access. Answers need your PIN (`onehook approve --set-pin`), which the page asks for.
    Press Ctrl-C to close the desk; agents keep running, and requests can also be answered with `onehook approve`.

    Only a person can open the desk: the command refuses to run for an agent.

    \b
    Examples:
      onehook desk
      onehook desk --no-open --port 9000
      ssh -t -L 8377:127.0.0.1:8377 devbox onehook desk  a page on your own machine for the agents on another one
    """
    from onehook.desk import pin
    from onehook.setup.person import require

    require("run onehook desk")
    desk = _opened(port, names, project)
    pin.keep_private()
    if as_json:
        import json

        click.echo(json.dumps({"link": desk.link, "url": desk.url, "port": desk.port, "pin": pin.is_set()}))
    else:
        click.echo(f"The desk is open:\n\n  {desk.link}\n")
        if not pin.is_set():
            click.secho(
                "No PIN is set, so requests cannot be answered there yet: run `onehook approve --set-pin` in another terminal.", fg="yellow"
            )
        click.echo("Anyone with this link can view the page; answers need your PIN. Press Ctrl-C to close the desk.")
    if _has_desktop() if open_it is None else open_it:
        import webbrowser

        webbrowser.open(desk.link)
    try:
        desk.serve()
    except KeyboardInterrupt:
        click.echo("\nThe desk is closed." if not as_json else "", err=as_json)


def _opened(port: int, names: tuple[str, ...], project: str | None) -> Desk:
    from onehook.cli.approve import user
    from onehook.page.server import Desk

    machine = machine_of(project)
    try:
        return Desk(machine, user(), port, names)
    except OSError as error:
        raise click.ClickException(
            f"port {port} cannot be used ({error.strerror}): another desk may be open, or another program listens there; "
            "choose another with --port, or --port 0 for a free one"
        ) from None


def _has_desktop() -> bool:
    """Whether a browser would open in a window, and not in the terminal."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
