"""onehook record: record the events of a live session."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click

from onehook.cli.choices import Verb, machine_of


@click.command("record", cls=Verb, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("agent", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), help="The folder to write to. [default: onehook-record in the project]"
)
@click.option("--to", "server", metavar="URL", help="Afterwards, load the folder into a ClickHouse table: clickhouse://user@host/database.")
@click.option("--no-mask", is_flag=True, help="Keep credentials. By default, each is replaced with the name of the rule that found it.")
@click.option("--rules", is_flag=True, help="List the rules that detect credentials, and exit.")
def command(agent: tuple[str, ...], output: Path | None, server: str | None, no_mask: bool, rules: bool) -> None:
    """Start an agent and record each event that its hooks see: the payload and the answer, as one JSON line, in one file per session.

    A policy must be installed (`onehook install`), and applies as usual. To record an agent that you do not start from a terminal, set
    ONEHOOK_RECORD to the folder in its environment. Exits with the agent's exit code.

    \b
    Examples:
      onehook record -- claude
      onehook record --output fixtures -- codex exec "fix the test"
      onehook replay onehook-record new-policy.py
      onehook record --to clickhouse://writer@db.example/onehook      load existing recordings
    """
    if rules:
        from onehook.policies.secret_formats import FORMATS
        from onehook.policies.secret_places import PLACES

        click.echo("\n".join(dict.fromkeys([*FORMATS, *PLACES])))
        return
    folder = output.absolute() if output else machine_of().project / "onehook-record"
    if not agent and server is not None:
        _load(server, folder)
        return
    if not agent:
        raise click.UsageError("name the agent to start, for example: onehook record -- claude")
    before = _lines(folder)
    variables = {**os.environ, "ONEHOOK_RECORD": str(folder), "ONEHOOK_RECORD_MASK": "off" if no_mask else "on"}
    try:
        exit_code = subprocess.run(list(agent), env=variables, check=False).returncode
    except OSError as error:
        raise click.ClickException(f"cannot start {agent[0]}: {error.strerror}") from None
    except KeyboardInterrupt:
        exit_code = 130
    _report(before, _lines(folder), folder)
    if server is not None:
        _load(server, folder)
    raise SystemExit(exit_code)


def _load(server: str, folder: Path) -> None:
    from onehook.fleet.load import load_records

    click.echo(f"{load_records(server, sorted(folder.glob('*.jsonl'))):,} events sent", err=True)


def _lines(folder: Path) -> dict[str, int]:
    return {path.name: path.read_bytes().count(b"\n") for path in sorted(folder.glob("*.jsonl"))}


def _report(before: dict[str, int], after: dict[str, int], folder: Path) -> None:
    new = {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}
    for name, count in new.items():
        click.echo(f"{count} event{'s' if count != 1 else ''} in {folder / name}", err=True)
    if not new:
        click.echo("no event was recorded: is a policy installed for this agent? Run `onehook doctor` to check", err=True)
