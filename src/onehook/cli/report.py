"""onehook report: the decision log as one page, to share."""

from __future__ import annotations

from typing import Any

import click

from onehook.cli.choices import Verb, log_options, rules_option, selection


@click.command("report", cls=Verb)
@click.option("-o", "--output", default="report.html", show_default=True, metavar="FILE", help="Where to write the page; - for stdout.")
@log_options("report on", since="30d")
@click.option(
    "--events", type=click.IntRange(0, 20_000), default=1000, show_default=True, help="How many individual events to include, newest first."
)
@rules_option
@click.option("--open", "open_it", is_flag=True, help="Open the page in the browser.")
def command(output: str, since: str, hosts: list[str], project: str, events: int, rules_path: str | None, open_it: bool) -> None:
    """Write the decision log as one HTML page: decisions by day, agent, rule and project, what observe mode would have blocked, how long
    events took, and individual events to inspect.

    \b
    Examples:
      onehook report --open                              the last 30 days
      onehook report --since 7d --project . -o week.html
      onehook report --hosts codex,claude --events 5000

    The page needs no network and loads nothing. It contains commands, paths and reasons as the log does, with credentials masked; only you
    can read the file until you share it.
    """
    from onehook.cli.stats import about_rules, without_policy
    from onehook.log.reader import moment
    from onehook.report.data import report
    from onehook.report.page import page
    from onehook.version import VERSION

    found = report(events, **selection(since, hosts, project))
    found |= about_rules(rules_path, found.pop("fired"))
    found |= {"agents_without_policy": without_policy(), "generated": moment("0m"), "version": VERSION}
    text = page(found)
    if output == "-":
        click.echo(text, nl=False)
        return
    path = _written(output, text)
    total = found["total"]
    click.echo(f"{path}: {total['events']:,} event{'s' * (total['events'] != 1)}, {total['denied']:,} denied ({len(text) / 1000:,.0f} kB)")
    if open_it:
        import webbrowser

        webbrowser.open(path.as_uri())


def _written(output: str, text: str) -> Any:
    """Write the file, which only this user can read. A file that is not a report is not overwritten."""
    import os
    from pathlib import Path

    from onehook.core import UsageError
    from onehook.report.page import MARK

    path = Path(output).absolute()
    try:
        if path.exists() and MARK.encode() not in path.read_bytes()[:4000]:
            raise UsageError(f"{output} exists, and is not a report; name another file with --output")
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from None
    return path
