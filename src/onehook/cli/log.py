"""onehook log: what was decided, by whom and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onehook.cli.choices import F, Verb, VerbGroup, json_option, log_options, print_json, selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from onehook.log.reader import Entry

OUTCOMES = (
    "deny", "ask", "allow", "would-deny", "would-ask", "would-warn", "excepted", "warn",
    "mask", "rewrite", "context", "log", "scan", "error",
)  # fmt: skip
FORMATS = ("jsonl", "rows", "csv", "parquet", "ocsf")
_COLOURS = {"deny": "red", "error": "red", "ask": "yellow", "warn": "yellow", "allow": "green"}


def _colour(result: str) -> str | None:
    return "magenta" if result.startswith("would ") else _COLOURS.get(result)


def filters(verb: str) -> Callable[[F], F]:
    """Which lines of the log. `chosen` turns the options into a filter."""

    def decorated(function: F) -> F:
        function = click.option("--session", default="", metavar="ID", help="The id of an agent's session, or the beginning of it.")(
            function
        )
        function = click.option("--decision", type=click.Choice(OUTCOMES), help="The outcome of the event.")(function)
        function = click.option("--rule", default="", help="A rule, a pack, a handler or a program; * and ? are wildcards.")(function)
        return log_options(verb)(function)

    return decorated


def chosen(
    since: str, hosts: list[str], project: str, rule: str, decision: str | None, session: str
) -> tuple[Callable[[Entry], bool], str]:
    """Whether a line is wanted, and from which time on."""
    from onehook.log.reader import selected

    part = selection(since, hosts, project)
    return selected(rule=rule, decision=decision or "", session=session, **part), part["since"]


@click.command("log", cls=VerbGroup, invoke_without_command=True)
@click.option("-n", "--lines", type=click.IntRange(min=0), default=20, show_default=True, help="How many decisions to show; 0 for all.")
@click.option("-f", "--follow", is_flag=True, help="Keep showing decisions as they are made.")
@filters("show")
@json_option
@click.pass_context
def command(ctx: click.Context, /, lines: int, follow: bool, as_json: bool, **options: Any) -> None:
    """Show the decisions: one entry for each event that a rule, a handler or a program answered, newest last.

    \b
    Examples:
      onehook log                                   the last 20 decisions
      onehook log -f --decision deny                denials, as they happen
      onehook log --since 7d --rule 'git.*'         what the rules of the git pack did
      onehook log --hosts codex --project . --json  for scripts
      onehook log show 7d61cc                       the details of one decision
      onehook log verify                            whether the log was changed
      onehook log export --format csv               for a spreadsheet, a database or a SIEM

    The log is in the state folder (docs/log.md), and is kept for 90 days.
    """
    if ctx.invoked_subcommand:
        return
    from onehook.log.reader import ends, entries, following, log_folder, newest

    wanted, start = chosen(**options)
    places = ends()
    found = newest(lines, wanted, since=start) if lines else filter(wanted, entries(since=start))
    if as_json and not follow:
        print_json(list(found))
        return
    printed, last = _Printer(as_json), 0
    for entry in found:
        printed.show(entry)
        last = entry["n"]
    if not last and not follow:
        click.echo(f"No decision has been logged in {log_folder()}, or none matches.")
    try:
        for entry in filter(wanted, following(places)) if follow else ():
            if entry["n"] > last:  # not written while the others were read
                printed.show(entry)
    except KeyboardInterrupt:
        pass


class _Printer:
    """Two lines for each decision, and one for each new day."""

    def __init__(self, as_json: bool) -> None:
        from shutil import get_terminal_size

        self.as_json, self.width, self.day = as_json, max(60, get_terminal_size().columns), ""

    def show(self, entry: Entry) -> None:
        if self.as_json:
            import json

            click.echo(json.dumps(entry))
            return
        from onehook.log.reader import outcome

        day, clock = local_time(entry["time"])
        if day != self.day:
            click.secho(day, bold=True)
            self.day = day
        result = outcome(entry)
        head = f"{clock}  {result:<10}  {entry['agent']:<8}  {entry['tool'] or entry['event']:<10}  "
        click.echo(head.replace(result, click.style(result, fg=_colour(result), bold=result == "deny"), 1), nl=False)
        click.echo(shortened(entry["subject"], self.width - len(head)))
        click.secho(shortened(f"  {entry['id'][-6:]}  {told(entry)}", self.width), dim=True)


def shortened(text: str, width: int) -> str:
    plain = " ".join(text.split()) if not text.startswith("  ") else text.replace("\n", " ")
    return plain if len(plain) <= width else f"{plain[: max(1, width - 1)]}…"


def told(entry: Entry) -> str:
    """Who decided, and why."""
    from onehook.log.reader import deciding

    one = deciding(entry)
    reason = entry["error"] or entry["reason"] or (one or {}).get("reason") or ""
    if one is None:
        return reason or ", ".join(drop["text"] for drop in entry["dropped"])
    name = str(one["name"])
    if "exception" in one:
        return f"{name}, lifted by an exception: {one['exception']}"
    return f"{name}: {reason.replace(f' (rule {name})', '')}" if reason else name


def local_time(text: str) -> tuple[str, str]:
    """The day and the time of day here."""
    from datetime import datetime

    here = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone()
    return here.strftime("%Y-%m-%d"), here.strftime("%H:%M:%S")


@command.command("show", cls=Verb)
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """Show everything known about the decision ID (the end of an id is enough): what the agent sent, what each rule or handler answered,
    how the command was parsed, which rules match now, and what each agent would be told."""
    from onehook.log.reader import find
    from onehook.report.story import call_of, reason_of, story_of, told_to

    entry = find(id)
    story = {**entry, **story_of(entry), "answers": told_to(entry)}
    if as_json:
        print_json(story)
        return
    from shlex import quote

    from onehook.log.reader import outcome

    day, clock = local_time(entry["time"])
    result = outcome(entry)
    version = f" {entry['agent_version']}" if entry["agent_version"] else ""
    click.echo(f"{click.style(result, fg=_colour(result), bold=True)}: {entry['subject'] or entry['event']}")
    for label, value in (
        ("when", f"{day} {clock} ({entry['time']}), {entry['ms']:g} ms"),
        ("agent", f"{entry['agent']}{version}, session {entry['session'] or 'not named'}"),
        ("project", entry["project"]),
        ("event", " ".join(filter(None, [entry["event"], entry["tool"]]))),
        ("policy", f"{entry['policy']}, mode {entry['mode']}, {story['policy_now']}"),
        ("pause", _paused(entry["pause"])),
        ("approver", entry["approver"]),
        ("error", entry["error"]),
        ("reason", entry["reason"]),
        ("sent", _sent(entry)),
    ):
        if value:
            click.echo(f"  {label:<9} {value}")
    for one in entry["by"]:
        place = f"{one['file']}:{one['line']}" if one.get("line") else one.get("file", "")
        effect = " (no effect)" if one.get("observed") else ""
        click.echo(f"  {one['said']}{effect} by the {one['kind']} {click.style(one['name'], bold=True)}, {place}")
        if one.get("reason") and one["reason"] not in entry["reason"]:
            click.echo(f"    {one['reason']}")
        if "exception" in one:
            click.echo(f"    lifted by an exception: {one['exception']} ({one['exception_at']})")
    for drop in entry["dropped"]:
        click.echo(f"  {drop['text']}")
    for part in story["parts"]:
        click.echo(f"  read as: {part['command']}" + (f" (through {', '.join(part['via'])})" if part["via"] else ""))
    for finding in story["findings"]:
        click.echo(f"  matches now: {finding['rule']} ({finding['record']}), {finding['file']}:{finding['line']}")
    for outcome_there, names in story["agents"].items():
        click.echo(f"  on {', '.join(names)}: {outcome_there}")
    for agent, answer in story["answers"].items():
        click.echo(f"    {agent} {'is' if entry['decision'] != 'none' else 'would be'} told: {_answer(answer, reason_of(entry))}")
    if entry["tool"] and entry["policy"].endswith(".toml"):
        click.echo(f"\nTo try it again: onehook explain {quote(call_of(entry))} --rules {quote(entry['policy'])}")


def _sent(entry: Entry) -> str:
    """The payload, if the log keeps them."""
    import json

    content = entry.get("content")
    return json.dumps(content) if content else "not kept; [log] content = true in the policy keeps payloads, with credentials masked"


def _answer(answer: dict[str, Any], reason: str) -> str:
    """An answer in one line; the reason, which is in it up to three times, as <reason>."""
    import json

    stdout = answer["stdout"].replace(json.dumps(reason), "<reason>") if reason else answer["stdout"]
    stderr = f"stderr {answer['stderr'].replace(reason or ' ', '<reason>' if reason else ' ')}" if answer["stderr"] else ""
    return ", ".join(filter(None, [stdout, stderr, f"exit code {answer['exit_code']}"]))


def _paused(pause: dict[str, Any] | None) -> str:
    if pause is None:
        return ""
    reason = f": {pause['reason']}" if pause["reason"] else ""
    return f"{', '.join(pause['rules']) or 'everything'} until {local_time(pause['until'])[1]}{reason}"


@command.command("verify", cls=Verb)
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check that no line of the log was removed, changed or moved since it was written. Exits with 1 if one was.

    Each line contains the hash of the line before it, and the file `head` contains the hash of the last one. Somebody who can write to the
    log can also rewrite all of it, hashes included: to detect that, keep the last hash, or a copy of the log, where the agent's user cannot
    write.
    """
    from onehook.log.chain import verify

    checked = verify()
    if as_json:
        print_json(checked.to_dict())
    else:
        for note in checked.notes:
            click.echo(f"note: {note}")
        for problem in checked.problems:
            click.secho(problem, fg="red")
        lines = f"{checked.lines} line{'s' if checked.lines != 1 else ''} in {checked.files} file{'s' if checked.files != 1 else ''}"
        click.echo(f"{lines}: {'the hash chain is intact' if not checked.problems else 'the log was changed'}.")
    ctx.exit(1 if checked.problems else 0)


@command.command("export", cls=Verb)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="jsonl",
    show_default=True,
    help="The output format; ocsf writes one Detection Finding per line.",
)
@click.option("-o", "--output", metavar="FILE", help="The file to write. [default: stdout, except for parquet]")
@click.option("--to", "server", metavar="URL", help="Insert into a ClickHouse table instead; it is created if it does not exist.")
@click.option("--all", "quiet", is_flag=True, help="Also include events that nothing answered.")
@filters("export")
def export(form: str, output: str | None, server: str | None, quiet: bool, **options: Any) -> None:
    """Write decisions for other programs, oldest first.

    \b
    Examples:
      onehook log export --since 7d > week.jsonl            the lines as they are in the log
      onehook log export --format csv -o log.csv            for a spreadsheet
      onehook log export --format parquet -o log.parquet    for DuckDB, pandas, a warehouse (pip install 'onehook[parquet]')
      onehook log export --format ocsf --decision deny      for a SIEM
      onehook log export --all --format rows                the columns of the CSV file as JSON, for a database
      onehook log export --all --to clickhouse://writer@db.example/onehook
    """
    from onehook.core import UsageError
    from onehook.log.export import BINARY, exported, write

    if form in BINARY and output is None:
        raise UsageError(f"--format {form} needs --output FILE")
    wanted, start = chosen(**options)
    if server is not None:
        if output is not None:
            raise UsageError("give either --output or --to, not both")
        from onehook.fleet.load import load

        click.echo(f"{load(server, exported(wanted, start, quiet)):,} rows sent")
        return
    write(form, exported(wanted, start, quiet), output)
