"""onehook lint: what in a policy cannot work where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from onehook.lint.check import Report

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}


@click.command("lint")
@click.argument("policy")
@click.option("--hosts", default="", help="claude,cursor,... | all. Default: every agent that onehook installs into.")
@click.option("--format", "style", type=click.Choice(["text", "json", "github"]), default="text", show_default=True, help="How to say it.")
@click.option("--slow-import", type=click.FloatRange(min=0), default=20.0, show_default=True, metavar="MS", help="What an import may cost.")
@click.option("--slow-handler", type=click.FloatRange(min=0), default=100.0, show_default=True, metavar="MS", help="What a call may take.")
@click.option(
    "--fail-on", type=click.Choice(["note", "warning", "error", "never"]), default="warning", show_default=True, help="Exit 1 from here on."
)
@click.option("--no-run", is_flag=True, help="Load the policy, but do not run its handlers on made-up events.")
def command(policy: str, hosts: str, style: str, slow_import: float, slow_handler: float, fail_on: str, no_run: bool) -> None:
    """Say, before POLICY is live, what in it cannot work on which host, and what is slow.

    The policy is loaded, and its handlers run on made-up events, in a process of its own and in an empty folder. A line with the comment
    `# onehook: ignore[OH202]` is not reported for that code.

    Exit codes: 0 clean, 1 findings (see --fail-on), 2 the policy does not load.
    """
    from onehook.cli.choices import existing_policy
    from onehook.core import UsageError
    from onehook.lint.check import Limits, check
    from onehook.setup.plan import configurable

    existing_policy(policy)
    named = [name.strip() for name in hosts.split(",") if name.strip()] or configurable()
    try:
        report = check(policy, named, Limits(slow_import, slow_handler, not no_run))
    except UsageError as error:
        raise click.ClickException(str(error)) from None
    {"text": _text, "json": _json, "github": _github}[style](report)
    raise SystemExit(2 if not report.loads else 1 if fail_on != "never" and report.worst(fail_on) else 0)


def _text(report: Report) -> None:
    for finding in report.findings:
        where = click.style(f"{finding.file}:{finding.line}:", bold=True)
        click.echo(f"{where} {click.style(finding.level, fg=_COLOURS[finding.level])} {finding.code}{_hosts(finding.hosts)} {finding.text}")
        click.echo(click.style(f"    fix: {finding.fix}", dim=True))
    if report.loads:
        click.echo(_summary(report))


def _hosts(names: Sequence[str]) -> str:
    return f" [{' '.join(names)}]" if names else ""


def _summary(report: Report) -> str:
    counts = [(level, sum(finding.level == level for finding in report.findings)) for level in ("error", "warning", "note")]
    found = ", ".join(f"{count} {level}{'s' if count != 1 else ''}" for level, count in counts if count) or "nothing to say"
    handlers = f"{report.handlers} handler{'s' if report.handlers != 1 else ''}"
    return f"{report.policy}: {found} ({handlers}, imports of {report.imports_ms:.0f} ms, for {', '.join(report.hosts)})"


def _json(report: Report) -> None:
    import json

    document = {
        "policy": report.policy,
        "loads": report.loads,
        "hosts": report.hosts,
        "imports_ms": round(report.imports_ms, 1),
        "findings": [finding.to_dict() for finding in report.findings],
    }
    click.echo(json.dumps(document, indent=2))


def _github(report: Report) -> None:
    """Workflow commands, which GitHub shows beside the lines."""
    for finding in report.findings:
        text = f"{finding.text}\nFix: {finding.fix}".replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        file = finding.file.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        click.echo(
            f"::{_GITHUB[finding.level]} file={file},line={finding.line},title=onehook {finding.code}{_hosts(finding.hosts)}::{text}"
        )
