"""onehook install: a policy into every agent."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from onehook.cli.choices import SCOPE_CHOICE, chosen_hosts, existing_policy, machine_of
from onehook.core import EVENTS, EXTENDED_EVENTS, Hooks, OnehookError
from onehook.hosts.configuring import DEFAULT_EVENTS, Machine, Wish
from onehook.setup.documents import ConfigError
from onehook.setup.files import FilesError, LockError
from onehook.setup.plan import Plan, Request, config_of, place_of, plan_install, policy_in_scope


@click.command("install")
@click.argument("policy")
@click.option("--hosts", default="auto", show_default=True, help="claude,cursor,... | auto (those that are here) | all")
@click.option(
    "--scope", type=SCOPE_CHOICE, default="project", show_default=True, help="Whose config: this project's, yours, the machine's."
)
@click.option("--events", default="", help="Unified events, by commas. Default: the five, and those that the policy handles.")
@click.option("--matcher", default="", help='Unified tools: "Bash|Write", or per event "PreToolUse:Bash,PostToolUse:Write|Edit".')
@click.option("--fail-closed", is_flag=True, help="An error, a time-out or an unreadable payload blocks.")
@click.option("--timeout", type=click.FloatRange(min=0.1, max=3000), help="Seconds for one event. The host waits 10 s longer.")
@click.option("--portable", is_flag=True, help="Put the runtime into the repository (.onehook/): a clone and python3 are enough.")
@click.option("--project", help="The project's folder. Default: here.")
@click.option("--dry-run", is_flag=True, help="Show the change of each file as a diff; change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def command(
    policy: str, hosts: str, scope: str, events: str, matcher: str, fail_closed: bool, timeout: float | None,
    portable: bool, project: str | None, dry_run: bool, yes: bool,
) -> None:  # fmt: skip
    """Wire POLICY into the agents of this project (or of this user, or machine).

    Other hooks and settings stay as they are, byte for byte. Installing twice changes nothing; `onehook uninstall` gives
    back the bytes that were there.

    \b
    Examples:
      onehook install policy.py                       every agent found here, this project
      onehook install policy.py --hosts all --dry-run look first
      onehook install policy.py --scope user --fail-closed
    """
    machine = machine_of(project)
    path = existing_policy(policy)
    if portable and scope not in ("project", "local"):
        raise click.UsageError("--portable puts the runtime into a repository; it goes with --scope project")
    if portable and not policy_in_scope(path, "project", machine):
        raise click.UsageError(f"--portable needs the policy inside the project ({machine.project})")
    hooks = loaded(path)
    seconds = timeout or hooks.options.get("timeout")
    wish = Wish(fail_closed or hooks.options.get("fail") == "closed", seconds, _stop_limit(hooks), _matchers(matcher))
    options = ("--timeout", f"{timeout:g}") if timeout else ()
    request = Request(path, scope, _events(events, hooks), wish, portable, options)
    chosen = chosen_hosts(hosts, machine)
    carry_install(chosen, request, machine, dry_run=dry_run, yes=yes)


def carry_install(hosts: Sequence[str], request: Request, machine: Machine, *, dry_run: bool, yes: bool) -> None:
    from onehook.setup.carry_out import carry_out
    from onehook.setup.journal import Journal
    from onehook.setup.preview import unified_diff

    journal = Journal()
    try:
        plan = plan_install(hosts, request, machine, journal)
        for note in plan.notes:
            click.echo(f"note: {note}", err=True)
        if dry_run:
            click.echo(unified_diff(plan.changes, colour=_colour()), nl=False)
            click.echo(f"{_count(plan)} would change; nothing was written." if plan.changes else "Nothing would change.", err=True)
            return
        if plan.changes and not yes and sys.stdin.isatty():
            _list(plan)
            click.confirm("Write?", default=True, abort=True)
        carry_out(plan, journal)
    except (ConfigError, FilesError, LockError) as error:
        raise click.ClickException(str(error)) from None
    _report(plan, hosts, request, machine)


def _colour() -> bool:
    import os

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _count(plan: Plan) -> str:
    return f"{len(plan.changes)} file{'s' if len(plan.changes) != 1 else ''}"


def _list(plan: Plan) -> None:
    for change in plan.changes:
        if change.kind != "runtime":
            click.echo(f"  {'new ' if change.before is None else 'edit'} {change.path}")
    if any(change.kind == "runtime" for change in plan.changes):
        click.echo("  new  .onehook/ (the runtime)")


def _report(plan: Plan, hosts: Sequence[str], request: Request, machine: Machine) -> None:
    written = {change.path for change in plan.changes}
    for host in hosts:
        place = place_of(host, request.scope, machine)
        if place is None:
            continue
        click.echo(f"{config_of(host).TITLE:<14} {'installed in' if place.path in written else 'up to date in'} {place.path}")
        for finding in _next_steps(host, request, machine):
            click.echo(f"{'':<14} {finding}")
    click.echo("\n`onehook doctor` checks that a deny takes effect; `onehook uninstall` takes it all out again.")


def _next_steps(host: str, request: Request, machine: Machine) -> list[str]:
    """What a person still has to do before the host runs the hooks, each thing once."""
    from onehook.setup.documents import Document
    from onehook.setup.plan import ours_in

    config, place = config_of(host), place_of(host, request.scope, machine)
    if place is None or place.format == "own" or not place.path.exists():
        return []
    data = Document(place.path, place.format).data()
    findings = config.checks(machine, place, data, ours_in(config, data))
    return list(dict.fromkeys(f"to do: {finding.fix}" for finding in findings if finding.level in ("fail", "note") and finding.fix))


def loaded(path: Path) -> Hooks:
    """The policy, loaded once now: one that does not load should not be installed."""
    from onehook.manifest import Manifest
    from onehook.runner import load_policy

    try:
        hooks = load_policy(str(path))
        if isinstance(hooks, Manifest):
            hooks.check()
        return hooks
    except OnehookError as error:
        raise click.ClickException(str(error)) from None
    except BaseException as error:
        raise click.ClickException(f"{path} does not load: {type(error).__name__}: {error}; mend it first") from None


def _stop_limit(hooks: Hooks) -> int:
    return int(hooks.options.get("stop_limit") or 5)


def _events(text: str, hooks: Hooks) -> tuple[str, ...]:
    if not text:
        return tuple(dict.fromkeys([*DEFAULT_EVENTS, *(registration.event for registration in hooks.registrations)]))
    named = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in named:
        if name not in EVENTS and name not in EXTENDED_EVENTS:
            raise click.BadParameter(f"{name!r} is not an event; the events are {', '.join(EVENTS)}", param_hint="--events")
    return named


def _matchers(text: str) -> dict[str, str]:
    matchers: dict[str, str] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        event, colon, tools = part.partition(":")
        known = event in EVENTS or event in EXTENDED_EVENTS
        matchers[event if colon and known else ""] = tools if colon and known else part
    return matchers
