"""onehook fire: an event at a policy, and what each host would do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from onehook.core import Event
    from onehook.testing.shots import Shot


@click.command("fire")
@click.argument("policy")
@click.argument("words", nargs=-1, metavar="[EVENT [TOOL] [KEY=VALUE]...]")
@click.option("--host", "hosts", default="", help="claude,cursor,... | all. Default: all; with --payload, the host that sent it.")
@click.option("--payload", help="A captured payload (a JSON file, or - for stdin) instead of EVENT.")
@click.option("--json", "as_json", is_flag=True, help="For scripts: everything, the payloads included.")
def command(policy: str, words: tuple[str, ...], hosts: str, payload: str | None, as_json: bool) -> None:
    """Fire one event at POLICY on every host, through the launcher that install writes, and show what each host would do.

    KEY=VALUE is the tool's input in unified keys (command, file_path, content ...), or a field of the event (prompt, cwd, source ...).
    KEY:=JSON gives a value that is no text. No agent is needed and none is started.

    \b
    Examples:
      onehook fire policy.py PreToolUse Bash command="rm -rf /"
      onehook fire policy.py Write file_path=.env content=x --host claude,codex
      onehook fire policy.py UserPromptSubmit prompt="use AKIA..."
      onehook fire policy.py Stop stop_hook_active:=true
      onehook fire policy.py --payload captured.json

    Exit code 1 if the policy has an error.
    """
    from onehook.cli.choices import existing_policy
    from onehook.core import OnehookError
    from onehook.testing.fire import Fire

    try:
        event, chosen = _captured(payload, words, hosts) if payload else _made_up(words, hosts)
        shots = Fire(existing_policy(policy), processes=True).at(event, chosen)
    except OnehookError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        import json

        click.echo(json.dumps([shot.to_dict() for shot in shots], indent=2))
    else:
        _show(shots)
    raise SystemExit(1 if any(shot.error for shot in shots) else 0)


def _named(hosts: str) -> list[str]:
    from onehook.testing.shots import chosen

    return chosen([name.strip() for name in hosts.split(",") if name.strip()])


def _made_up(words: Sequence[str], hosts: str) -> tuple[Event, list[str]]:
    import os

    from onehook.core import EVENTS, EXTENDED_EVENTS, TOOLS, UsageError
    from onehook.testing.shots import made_up, tool_note

    names = [word for word in words if "=" not in word]
    if not names:
        raise UsageError("name an event, for example: onehook fire policy.py PreToolUse Bash command=ls (or give --payload FILE)")
    if len(names) > 2:
        raise UsageError(f"{names[2]!r} is neither EVENT, TOOL nor KEY=VALUE; quote values with blanks: command='rm -rf /'")
    event, tool = names[0], names[1] if len(names) == 2 else ""
    if not tool and event not in (*EVENTS, *EXTENDED_EVENTS) and (event in TOOLS or event.startswith("mcp__")):
        event, tool = "PreToolUse", event
    note = tool_note(tool)
    if note:
        click.echo(f"note: {note}", err=True)
    fields = dict(_field(word) for word in words if "=" in word)
    return made_up(event, tool, fields, os.getcwd()), _named(hosts)


def _field(word: str) -> tuple[str, Any]:
    import json

    from onehook.core import UsageError

    key, _, value = word.partition("=")
    if not key.endswith(":"):
        return key, value
    try:
        return key[:-1], json.loads(value)
    except ValueError as error:
        raise UsageError(f"{word}: what follows := must be JSON ({error}); for a text write {key[:-1]}={value}") from None


def _captured(file: str, words: Sequence[str], hosts: str) -> tuple[Event, list[str]]:
    from onehook.codec import loads, text_of
    from onehook.core import UsageError
    from onehook.testing.shots import captured

    if words:
        raise UsageError(f"--payload says what happened; leave {words[0]!r} away")
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"--payload {file}: {error.strerror}") from None
    payload = loads(text_of(data))
    if isinstance(payload, dict) and isinstance(payload.get("stdin"), dict):  # a line of a recording
        payload = payload["stdin"]
    if not isinstance(payload, dict):
        raise UsageError(f"--payload {file}: this is no JSON object")
    named = _named(hosts) if hosts else []
    host, event = captured(payload, named if len(named) == 1 else [])
    return event, named or [host]


def _show(shots: Sequence[Shot]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lossy = any(shot.lost for shot in shots)
    table = Table(show_lines=True)
    for heading, ratio in (("host", 2), ("effect", 3), ("the host is told", 7), *([("lost", 5)] if lossy else [])):
        table.add_column(heading, ratio=ratio, overflow="fold")
    for shot in shots:
        if shot.absent:
            table.add_row(shot.label, Text(f"not fired: {shot.absent}", style="dim"))
        else:
            lost = [Text("\n".join(_short(shot, loss.text) for loss in shot.lost), style="yellow")] if lossy else []
            table.add_row(shot.label, Text(shot.effect, style=_style(shot)), _told(shot), *lost)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    for message in dict.fromkeys(shot.error for shot in shots if shot.error):
        click.secho(f"error in the policy: {message}", fg="red", err=True)


def _short(shot: Shot, text: str) -> str:
    """A warning without the host and the event that stand in the same row."""
    native = shot.event.native_event if shot.event else ""
    return text.removeprefix(f"{shot.host} ").removeprefix(f"{native}: ")


def _told(shot: Shot) -> Any:
    from rich.text import Text

    text = Text(shot.stdout or "(nothing on stdout)", style="" if shot.stdout else "dim")
    text.append(f"\nexit {shot.exit_code}", style="bold")
    said = "\n".join(line for line in shot.stderr.splitlines() if not any(loss.text in line for loss in shot.lost))
    if said:
        text.append(f"\nstderr: {said}", style="dim")
    return text


def _style(shot: Shot) -> str:
    main = shot.effect.partition(",")[0]
    if shot.error:
        return "bold red"
    return {"blocked": "red", "refused": "red", "asked": "yellow", "runs rewritten": "cyan"}.get(main, "green")
