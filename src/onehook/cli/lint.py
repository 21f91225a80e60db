"""onehook lint: report what in a policy will not work, and on which agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import Verb, existing_policy, hosts_option, print_json

if TYPE_CHECKING:
    from onehook.lint.check import Report

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}


@click.command("lint", cls=Verb)
@click.argument("policy")
@hosts_option("Agents to check for: 'all' or names; default: every agent that onehook can be installed into")
@click.option("--format", "style", type=click.Choice(["text", "json", "github"]), default="text", show_default=True, help="Output format.")
@click.option("--json", "style", flag_value="json", help="Print JSON, for scripts; short for --format json.")
@click.option(
    "--slow-import",
    type=click.FloatRange(min=0),
    default=20.0,
    show_default=True,
    metavar="MS",
    help="Report imports that take longer than this, in milliseconds.",
)
@click.option(
    "--slow-handler",
    type=click.FloatRange(min=0),
    default=100.0,
    show_default=True,
    metavar="MS",
    help="Report handlers that take longer than this, in milliseconds.",
)
@click.option(
    "--fail-on", type=click.Choice(["note", "warning", "error", "never"]), default="warning", show_default=True,
    help="The lowest level of finding that makes the exit code 1.",
)  # fmt: skip
@click.option("--no-run", is_flag=True, help="Load the policy, but do not run its handlers on sample events.")
def command(policy: str, hosts: list[str], style: str, slow_import: float, slow_handler: float, fail_on: str, no_run: bool) -> None:
    """Report what in POLICY will not work, and on which agents, and what is slow.

    The policy is loaded, and its handlers run on sample events, in a separate process and an empty folder. To ignore a finding, put
    the comment `# onehook: ignore[OH202]` on its line.

    Exits with 1 if there are findings (see --fail-on), or if the policy does not load.
    """
    from onehook.lint.check import Limits, check
    from onehook.setup.plan import configurable

    existing_policy(policy)
    report = check(policy, hosts or configurable(), Limits(slow_import, slow_handler, not no_run))
    {"text": _text, "json": _json, "github": _github}[style](report)
    raise SystemExit(1 if not report.loads or (fail_on != "never" and report.worst(fail_on)) else 0)


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
    found = ", ".join(f"{count} {level}{'s' if count != 1 else ''}" for level, count in counts if count) or "no findings"
    handlers = f"{report.handlers} handler{'s' if report.handlers != 1 else ''}"
    return f"{report.policy}: {found} ({handlers}, {report.imports_ms:.0f} ms of imports; checked for {', '.join(report.hosts)})"


def _json(report: Report) -> None:
    document = {
        "policy": report.policy,
        "loads": report.loads,
        "hosts": report.hosts,
        "imports_ms": round(report.imports_ms, 1),
        "findings": [finding.to_dict() for finding in report.findings],
    }
    print_json(document)


def _github(report: Report) -> None:
    """Workflow commands, which GitHub shows next to the lines."""
    for finding in report.findings:
        text = f"{finding.text}\nFix: {finding.fix}".replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        file = finding.file.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        click.echo(
            f"::{_GITHUB[finding.level]} file={file},line={finding.line},title=onehook {finding.code}{_hosts(finding.hosts)}::{text}"
        )
