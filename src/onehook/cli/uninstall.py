"""onehook uninstall: every trace out again."""

from __future__ import annotations

import click

from onehook.cli.choices import SCOPE_CHOICE, machine_of
from onehook.hostkit.config import SCOPES
from onehook.setup.command import PORTABLE_FOLDER
from onehook.setup.files import FilesError
from onehook.setup.lock import LockError
from onehook.setup.plan import Plan, absolute_policy, plan_uninstall
from onehook.textedit.document import ConfigError


@click.command("uninstall")
@click.argument("policy", required=False)
@click.option("--hosts", default="all", show_default=True, help="claude,cursor,... | all")
@click.option("--scope", type=SCOPE_CHOICE, help="Default: project, local and user.")
@click.option("--project", help="The project's folder. Default: here.")
@click.option("--dry-run", is_flag=True, help="Show the change of each file as a diff; change nothing.")
@click.option("--yes", "-y", is_flag=True, expose_value=False, help="As install's; nothing is asked here anyway.")
def command(policy: str | None, hosts: str, scope: str | None, project: str | None, dry_run: bool) -> None:
    """Take POLICY (or every onehook entry) out of the agents' configs.

    A file that nobody has changed since gets back the exact bytes that install found; in any other, only onehook's
    entries go. Files and folders that install made are removed.
    """
    from onehook.cli.choices import chosen_hosts
    from onehook.cli.install import show_diff
    from onehook.setup.apply import apply, until_fresh
    from onehook.setup.journal import Journal

    machine = machine_of(project)
    chosen = chosen_hosts(hosts, machine)
    scopes = [scope] if scope else [name for name in SCOPES if name != "enterprise"]
    journal = Journal()

    def planned() -> Plan:
        return plan_uninstall(chosen, scopes, absolute_policy(policy) if policy else None, machine, journal)

    def carried() -> Plan:
        plan = planned()
        apply(plan, journal)
        return plan

    try:
        plan = planned() if dry_run else until_fresh(carried)
    except (ConfigError, FilesError, LockError) as error:
        raise click.ClickException(str(error)) from None
    if dry_run:
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
        click.echo(f"{policy or 'Nothing of onehook'} is {'not ' if policy else ''}installed there.")
