"""onehook resume: end a pause."""

from __future__ import annotations

import click

from onehook.cli.choices import Verb, json_option, print_json


@click.command("resume", cls=Verb)
@json_option
def command(as_json: bool) -> None:
    """End every pause: the policies take effect again from the next event."""
    from onehook.log.notes import note
    from onehook.pause import remove

    ended = remove()
    if ended:
        note("Resume", ", ".join(pause["rule"] or "everything" for pause in ended))
    if as_json:
        print_json({"ended": ended})
    else:
        click.echo("The policies take effect again." if ended else "Nothing was paused.")
