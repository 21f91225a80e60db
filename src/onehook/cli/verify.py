"""onehook verify: check that everything is as install wrote it."""

from __future__ import annotations

from dataclasses import asdict

import click

from onehook.cli.choices import Verb, json_option, machine_of, print_json, project_option


@click.command("verify", cls=Verb)
@json_option
@project_option
def command(as_json: bool, project: str | None) -> None:
    """Compare the agents' configs with what `onehook install` wrote; exit with 1 if something was changed or removed. For cron and CI.

    Checks the entries that you have installed, in all projects (with --project: those of that project, and those for all projects), and the
    entries of this project that somebody else has installed: in a clone, they must be what this version of onehook writes. Also checks that
    hooks are not disabled in the same file, and that the policy, the runtime, the interpreter and pinned files are unchanged.
    """
    from onehook.setup.journal import Journal
    from onehook.setup.verify import verified

    result = verified(machine_of(project), Journal(), everywhere=project is None)
    ok = bool(result.checked) and not result.differences
    if as_json:
        print_json({"ok": ok, "checked": result.checked, "differences": [asdict(one) for one in result.differences]})
    elif not result.checked:
        click.echo("Nothing is installed here, and this user has installed nothing elsewhere.", err=True)
    else:
        for one in result.differences:
            click.secho(f"{one.host}  {one.file}", bold=True)
            click.echo(f"  {one.what}\n    fix: {one.fix}")
        click.echo(
            f"{result.checked} entries checked; "
            + (f"{len(result.differences)} differ." if result.differences else "all are as installed.")
        )
    raise SystemExit(0 if ok else 1)
