"""onehook uninstall: remove every trace again."""

from __future__ import annotations

import click

from onehook.cli.choices import SCOPE_CHOICE, Verb, configured_hosts, hosts_option, json_option, machine_of, print_json, project_option
from onehook.hostkit.config import SCOPES
from onehook.setup.command import PORTABLE_FOLDER
from onehook.setup.plan import Plan, absolute_policy, plan_uninstall


@click.command("uninstall", cls=Verb)
@click.argument("policy", required=False)
@hosts_option("Agents to uninstall from: 'auto' (those found here), 'all' or names", "all")
@click.option("--scope", type=SCOPE_CHOICE, help="Which config to change. [default: project, local and user]")
@project_option
@click.option("--dry-run", is_flag=True, help="Show a diff of each file; change nothing.")
@click.option("--yes", "-y", is_flag=True, expose_value=False, help="Accepted for symmetry with install; uninstall never asks.")
@json_option
def command(policy: str | None, hosts: list[str], scope: str | None, project: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove POLICY (or every onehook entry) from the agents' configs.

    A file that has not changed since the install is restored exactly; from any other file, only onehook's entries are
    removed. Files and folders that install created are deleted.
    """
    from onehook.cli.install import plan_json, show_diff
    from onehook.setup.apply import apply, until_fresh
    from onehook.setup.journal import Journal

    machine = machine_of(project)
    chosen = configured_hosts(hosts, machine)
    scopes = [scope] if scope else [name for name in SCOPES if name != "enterprise"]
    journal = Journal()

    def planned() -> Plan:
        return plan_uninstall(chosen, scopes, absolute_policy(policy) if policy else None, machine, journal)

    def carried() -> Plan:
        plan = planned()
        apply(plan, journal)
        return plan

    plan = planned() if dry_run else until_fresh(carried)
    if as_json:
        print_json(plan_json(plan, dry_run))
    elif dry_run:
        show_diff(plan)
    else:
        _report(plan, policy)


def _report(plan: Plan, policy: str | None) -> None:
    for edit in plan.edits:
        if edit.kind != "runtime":
            click.echo(f"{'removed ' if edit.after is None else 'restored'} {edit.path}")
    if any(edit.kind == "runtime" for edit in plan.edits):
        click.echo(f"removed  the runtime in {PORTABLE_FOLDER}/")
    if not plan.edits:
        click.echo(f"{policy or 'onehook'} is not installed there.")
