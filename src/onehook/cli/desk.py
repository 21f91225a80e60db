"""onehook desk: the page where a person sees their agents and answers what they ask."""

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
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port, on loopback; 0 takes a free one.")
@click.option("--open/--no-open", "open_it", default=None, help="Open it in the browser. [default: where there is a desktop]")
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="Another name that it is reached by, behind a proxy of yours; may be repeated."
)
@click.option("--json", "as_json", is_flag=True, help="Print the link as one line of JSON, for scripts.")
@project_option
def command(port: int, open_it: bool | None, names: tuple[str, ...], as_json: bool, project: str | None) -> None:
    """Open the desk: a page on this machine's loopback with what your agents ask, to approve, deny or rewrite, and what they were allowed.

    The link that is printed lets a browser in to look. Answers need your PIN (`onehook approve --set-pin`), which the page asks for.
    It ends with Ctrl-C; agents go on as before, and requests can be answered with `onehook approve` as well.

    Only a person can open it: it is refused if an agent runs it.

    \b
    Examples:
      onehook desk
      onehook desk --no-open --port 9000
      ssh -t -L 8377:127.0.0.1:8377 devbox onehook desk  on your own machine, for the agents of another
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
                "No PIN is set, so nothing can be answered there yet: run `onehook approve --set-pin` in another terminal.", fg="yellow"
            )
        click.echo("Whoever has this link can look; answers need your PIN. Ctrl-C closes it.")
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
    """Whether a browser would open before the person's eyes, and not in the terminal."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
