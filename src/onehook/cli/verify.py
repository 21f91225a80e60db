"""onehook verify: is everything as install wrote it?"""

from __future__ import annotations

from dataclasses import asdict

import click

from onehook.cli.choices import Verb, json_option, machine_of, print_json, project_option


@click.command("verify", cls=Verb)
@json_option
@project_option
def command(as_json: bool, project: str | None) -> None:
    """Compare the agents' configs with what `onehook install` wrote; exit with 1 if something was changed or removed. For cron and CI.

    Checked are the entries that you have installed, in all projects (with --project: in that one, and for all of them), and those of
    this project that somebody else has installed: a clone's must be what this onehook writes. Also that hooks are not switched off in
    the same file, and that the policy, the runtime, the interpreter and what is pinned are there as they were.
    """
    from onehook.setup.journal import Journal
    from onehook.setup.verify import verified

    result = verified(machine_of(project), Journal(), everywhere=project is None)
    ok = bool(result.checked) and not result.differences
    if as_json:
        print_json({"ok": ok, "checked": result.checked, "differences": [asdict(one) for one in result.differences]})
    elif not result.checked:
        click.echo("Nothing is installed here, or was by this user.", err=True)
    else:
        for one in result.differences:
            click.secho(f"{one.host}  {one.file}", bold=True)
            click.echo(f"  {one.what}\n    fix: {one.fix}")
        click.echo(
            f"{result.checked} entries checked; " + (f"{len(result.differences)} differ." if result.differences else "all as installed.")
        )
    raise SystemExit(0 if ok else 1)
