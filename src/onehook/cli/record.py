"""onehook record: the events of a live session, kept as fixtures."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click


@click.command("record", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("agent", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--output",
    default="onehook-record",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to keep them in.",
)
@click.option("--no-mask", is_flag=True, help="Keep credentials as they are. Default: each is replaced by the name of its rule.")
@click.option("--rules", is_flag=True, help="List the rules that find credentials, and exit.")
def command(agent: tuple[str, ...], output: Path, no_mask: bool, rules: bool) -> None:
    """Start an agent, and keep each event that its hooks see: the payload and the answer, one JSON line, a file for each session.

    A policy must be installed (`onehook install`), and is obeyed as ever. An agent that is not started from a terminal records too if
    ONEHOOK_RECORD names the folder in its environment.

    \b
    Examples:
      onehook record -- claude
      onehook record --output fixtures -- codex exec "mend the test"
      onehook replay onehook-record new-policy.py
    """
    if rules:
        from onehook.policies.rules import SECRETS

        click.echo("\n".join(SECRETS))
        return
    if not agent:
        raise click.UsageError("name the agent to start: onehook record -- claude")
    folder = output.absolute()
    before = _lines(folder)
    variables = {**os.environ, "ONEHOOK_RECORD": str(folder), "ONEHOOK_RECORD_MASK": "off" if no_mask else "on"}
    try:
        exit_code = subprocess.run(list(agent), env=variables, check=False).returncode
    except OSError as error:
        raise click.ClickException(f"{agent[0]} cannot be started: {error.strerror}") from None
    except KeyboardInterrupt:
        exit_code = 130
    _report(before, _lines(folder), folder)
    raise SystemExit(exit_code)


def _lines(folder: Path) -> dict[str, int]:
    return {path.name: path.read_bytes().count(b"\n") for path in sorted(folder.glob("*.jsonl"))}


def _report(before: dict[str, int], after: dict[str, int], folder: Path) -> None:
    new = {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}
    for name, count in new.items():
        click.echo(f"{count} event{'s' if count != 1 else ''} in {folder / name}", err=True)
    if not new:
        click.echo("no event was recorded: is a policy installed for this agent? `onehook status` and `onehook doctor` say", err=True)
