"""onehook fire: send an event to a policy, and show what each agent would do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onehook.cli.choices import Verb, existing_policy, hosts_option, print_json

if TYPE_CHECKING:
    from onehook.core import Event
    from onehook.testing.shots import Shot


@click.command("fire", cls=Verb)
@click.argument("policy")
@click.argument("words", nargs=-1, metavar="[EVENT [TOOL] [KEY=VALUE]...]")
@hosts_option("Agents to show: 'all' or names; default: all, or with --payload the agent that sent it", "", "--host")
@click.option("--payload", metavar="FILE", help="A captured payload (a JSON file, or - for stdin) instead of EVENT.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts; includes the payloads.")
def command(policy: str, words: tuple[str, ...], hosts: list[str], payload: str | None, as_json: bool) -> None:
    """Send one event to POLICY as each agent would, through the launcher that install configures, and show what the agent would do.

    KEY=VALUE sets the tool's input, in unified keys (command, file_path, content ...), or a field of the event (prompt, cwd, source ...).
    Use KEY:=JSON for a value that is not a string. No agent is needed, and none is started.

    \b
    Examples:
      onehook fire policy.py PreToolUse Bash command="rm -rf /"
      onehook fire policy.py Write file_path=.env content=x --hosts claude,codex
      onehook fire policy.py UserPromptSubmit prompt="use AKIA..."
      onehook fire policy.py Stop stop_hook_active:=true
      onehook fire policy.py --payload captured.json

    Exits with 1 if the policy raises an error.
    """
    from onehook.testing.fire import Fire

    event, chosen = _captured(payload, words, hosts) if payload else _made_up(words, hosts)
    shots = Fire(existing_policy(policy), processes=True).at(event, chosen)
    if as_json:
        print_json([shot.to_dict() for shot in shots])
    else:
        _show(shots)
    raise SystemExit(1 if any(shot.error for shot in shots) else 0)


def _made_up(words: Sequence[str], hosts: Sequence[str]) -> tuple[Event, list[str]]:
    import os

    from onehook.core import EVENTS, EXTENDED_EVENTS, TOOLS, UsageError
    from onehook.testing.shots import check_keys, chosen, made_up, tool_note

    names = [word for word in words if "=" not in word]
    if not names:
        raise UsageError("name an event, for example: onehook fire policy.py PreToolUse Bash command=ls (or give --payload FILE)")
    if len(names) > 2:
        raise UsageError(f"{names[2]!r} is not an EVENT, TOOL or KEY=VALUE; quote values that contain spaces: command='rm -rf /'")
    event, tool = names[0], names[1] if len(names) == 2 else ""
    if not tool and event not in (*EVENTS, *EXTENDED_EVENTS) and (event in TOOLS or event.startswith("mcp__")):
        event, tool = "PreToolUse", event
    note = tool_note(tool)
    if note:
        click.echo(f"note: {note}", err=True)
    fields = dict(_field(word) for word in words if "=" in word)
    check_keys(tool, fields)
    return made_up(event, tool, fields, os.getcwd()), chosen(hosts)


def _field(word: str) -> tuple[str, Any]:
    import json

    from onehook.core import UsageError

    key, _, value = word.partition("=")
    if not key.endswith(":"):
        return key, value
    try:
        return key[:-1], json.loads(value)
    except ValueError as error:
        raise UsageError(f"{word}: the value after := must be JSON ({error}); for a string write {key[:-1]}={value}") from None


def _captured(file: str, words: Sequence[str], hosts: Sequence[str]) -> tuple[Event, list[str]]:
    from onehook.codec import loads, text_of
    from onehook.core import UsageError
    from onehook.testing.shots import captured, chosen

    if words:
        raise UsageError(f"--payload already gives the event; remove {words[0]!r}")
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"--payload {file}: {error.strerror}") from None
    payload = loads(text_of(data))
    if isinstance(payload, dict) and isinstance(payload.get("stdin"), dict):  # a line of a recording
        payload = payload["stdin"]
    if not isinstance(payload, dict):
        raise UsageError(f"--payload {file} is not a JSON object")
    named = chosen(hosts) if hosts else []
    host, event = captured(payload, named if len(named) == 1 else [])
    return event, named or [host]


def _show(shots: Sequence[Shot]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lossy = any(shot.lost for shot in shots)
    table = Table(show_lines=True)
    for heading, ratio in (("agent", 2), ("effect", 3), ("answer to the agent", 7), *([("lost", 5)] if lossy else [])):
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
    """A warning without the agent and the event, which are in the same row."""
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
    if shot.error:
        return "bold red"
    return {"blocked": "red", "refused": "red", "asked": "yellow", "runs rewritten": "cyan"}.get(shot.main, "green")
