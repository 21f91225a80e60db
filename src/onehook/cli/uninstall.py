"""onehook uninstall: remove a policy and every trace of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import SCOPE_CHOICE, Verb, configured_hosts, hosts_option, json_option, machine_of, print_json, project_option
from onehook.setup.plan import Plan, absolute_policy, places_of, plan_uninstall
from onehook.setup.runtime import LAUNCH

if TYPE_CHECKING:
    from onehook.hostkit.config import Machine
    from onehook.setup.installed import Row


@click.command("uninstall", cls=Verb)
@click.argument("policy", required=False)
@hosts_option("Agents to uninstall from: 'auto' (those found here), 'all' or names", "all")
@click.option("--scope", type=SCOPE_CHOICE, help="Which config to change. [default: project and local; user in your home folder]")
@project_option
@click.option("--dry-run", is_flag=True, help="Show a diff of each file; change nothing.")
@click.option(
    "--yes", "-y", is_flag=True, expose_value=False, help="Accepted for symmetry with install; uninstall never asks for confirmation."
)
@json_option
def command(policy: str | None, hosts: list[str], scope: str | None, project: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove POLICY (or every onehook entry) from the agents' configs in this project.

    Policies installed for you (--scope user) or for the machine (--scope enterprise) stay installed, and are listed.

    A file that has not changed since the install is restored exactly; from any other file, only onehook's entries are
    removed. Files and folders that install created are deleted.
    """
    from onehook.cli.install import plan_json, show_diff
    from onehook.setup.apply import apply, until_fresh
    from onehook.setup.journal import Journal
    from onehook.setup.managed import copied_to, require_root
    from onehook.setup.person import require

    if not dry_run:
        require("run onehook uninstall")
    machine = machine_of(project)
    chosen = configured_hosts(hosts, machine)
    scopes = [scope] if scope else ["user"] if machine.project == machine.home else ["project", "local"]
    if scope == "enterprise" and not dry_run:
        require_root("--scope enterprise")
    path = absolute_policy(policy) if policy else None
    if path and scope == "enterprise":
        path = copied_to(path, machine)
    journal = Journal()

    def planned() -> Plan:
        return plan_uninstall(chosen, scopes, path, machine, journal)

    def carried() -> Plan:
        plan = planned()
        apply(plan, journal)
        return plan

    plan = planned() if dry_run else until_fresh(carried)
    left = [] if scope else _left(chosen, scopes, path, machine)
    if as_json:
        print_json({**plan_json(plan, dry_run), "left": [{"file": row.file, "scope": row.scope, "policy": row.policy} for row in left]})
    elif dry_run:
        show_diff(plan)
    else:
        _report(plan, policy)
    if not as_json:
        _report_left(left)


def _left(hosts: list[str], scopes: list[str], policy: Path | None, machine: Machine) -> list[Row]:
    """What stays installed in other scopes."""
    from onehook.setup.installed import rows

    places = {str(place.path) for host in hosts for scope in scopes for place in places_of(host, scope, machine)}
    others = [row for row in rows(machine) if row.host in hosts and row.policy and row.file not in places]
    return [row for row in others if policy is None or row.policy == str(policy)]


def _report_left(left: list[Row]) -> None:
    for row in left:
        click.echo(f"left     {row.policy} in {row.file} ({row.scope}); to remove it: onehook uninstall --scope {row.scope}", err=True)


def _report(plan: Plan, policy: str | None) -> None:
    for edit in plan.edits:
        if edit.kind not in ("runtime", "copy"):
            click.echo(f"{'removed ' if edit.after is None else 'restored'} {edit.path}")
    for folder in dict.fromkeys(plan.roots[edit.path] for edit in plan.edits if edit.kind == "copy"):
        click.echo(f"removed  the copy of the policy in {folder}")
    if any(edit.kind == "runtime" for edit in plan.edits):
        where = dict.fromkeys(edit.path.parent for edit in plan.edits if edit.path.name == LAUNCH)
        click.echo(f"removed  the runtime{''.join(f' in {folder}' for folder in where)}")
    if not plan.edits:
        click.echo(f"{policy or 'onehook'} is not installed there.")
