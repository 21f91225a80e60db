"""onehook import: the hooks that are there already, for every agent."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import machine_of
from onehook.core import OnehookError
from onehook.hosts import HOSTS, wire_of
from onehook.setup.files import FilesError
from onehook.setup.imports import importable
from onehook.setup.lock import LockError
from onehook.textedit.document import ConfigError

if TYPE_CHECKING:
    from onehook.setup.imports import Import, Taken
    from onehook.setup.journal import Journal
    from onehook.setup.plan import Plan

# Why a host has no `imports` module.
_NOT_CONFIGURED = "its hooks are plugins (code), or started by whoever calls them; no command is configured that could be carried over"
SCOPES = click.Choice(("project", "local", "user"))


@click.command("import")
@click.option("--from", "sources", default="all", show_default=True, help=f"{','.join(importable())} | all")
@click.option("--scope", type=SCOPES, default="project", show_default=True, help="Whose config: this project's, or yours.")
@click.option("--output", default="onehook.toml", show_default=True, help="The manifest to write; relative to the project.")
@click.option("--take-over", is_flag=True, help="Take the hooks that were carried over out of the agents' configs.")
@click.option("--project", help="The project's folder. Default: here.")
@click.option("--dry-run", is_flag=True, help="Show what would be written as a diff; change nothing.")
@click.option("--json", "as_json", is_flag=True, help="For scripts: what was carried over, what not and why, and what was written.")
def command(sources: str, scope: str, output: str, take_over: bool, project: str | None, dry_run: bool, as_json: bool) -> None:
    """Read the hooks that are configured for some agents and write a manifest that runs them on all.

    What cannot be carried over is listed, line by line, and stays where it is. Without --take-over the originals stay too:
    install the manifest on the other agents only, or they run twice.

    \b
    Examples:
      onehook import --from claude --dry-run
      onehook import --from claude --take-over && onehook install onehook.toml --hosts all
    """
    from onehook.setup.imports import collect, plan_import
    from onehook.setup.journal import Journal

    machine = machine_of(project)
    journal = Journal()
    target = machine.project / output
    try:
        found = collect(_hosts(sources), scope, machine)
        if not as_json:
            _report(found)
        if not found.carried and not as_json:
            raise click.ClickException("there is no hook that could be carried over; nothing was written")
        plan = plan_import(found, target, journal, take_over) if found.carried else None
        kept = _apply(plan, journal) if plan and not dry_run else []
        if as_json:
            click.echo(_as_json(found, [str(edit.path) for edit in plan.edits] if plan else [], kept, dry_run))
        elif plan and dry_run:
            from onehook.setup.preview import unified_diff

            click.echo(unified_diff(plan.edits, colour=False), nl=False)
        else:
            _say(found, kept, target, take_over)
    except (ConfigError, FilesError, LockError, OnehookError) as error:
        raise click.ClickException(str(error)) from None


def _hosts(text: str) -> list[str]:
    known = importable()
    named = known if text == "all" else [name.strip() for name in text.split(",") if name.strip()]
    for name in named:
        if name in HOSTS and name not in known:
            raise click.BadParameter(f"there is nothing to import from {name}: {_NOT_CONFIGURED}", param_hint="--from")
        if name not in known:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(known)}, all", param_hint="--from")
    return named


def _report(found: Import) -> None:
    for taken in found.carried:
        click.echo(f"carried over      {taken.host} {taken.hook.event}: {taken.hook.shown}", err=True)
        for loss in taken.hook.losses:
            click.echo(f"                  but {loss}", err=True)
    for taken in found.refused:
        click.echo(f"NOT carried over  {taken.host} {taken.hook.event}: {taken.hook.shown}: {taken.hook.refused}", err=True)
    for note in found.notes:
        click.echo(f"note              {note}", err=True)


def _apply(plan: Plan, journal: Journal) -> list[tuple[Path, Path]]:
    """Write the plan; (config, its copy) of what hooks were taken out of."""
    from onehook.setup.apply import apply
    from onehook.setup.imports import keep_originals

    kept = keep_originals(plan)
    apply(plan, journal)
    return kept


def _as_json(found: Import, changed: list[str], kept: list[tuple[Path, Path]], dry_run: bool) -> str:
    import json

    def told(taken: Taken) -> dict[str, object]:
        hook = taken.hook
        why = {"refused": hook.refused} if hook.refused else {"losses": hook.losses}
        return {"host": taken.host, "from": taken.origin, "event": hook.event, "command": hook.shown, **why}

    document = {
        "carried": [told(taken) for taken in found.carried],
        "refused": [told(taken) for taken in found.refused],
        "notes": found.notes,
        "would_write" if dry_run else "written": changed,
        "taken_out_of": [{"config": str(path), "copy": str(copy)} for path, copy in kept],
    }
    return json.dumps(document, indent=2)


def _say(found: Import, kept: list[tuple[Path, Path]], target: Path, take_over: bool) -> None:
    from onehook.setup.plan import config_of, configurable

    click.echo(f"wrote {target}: {len(found.carried)} carried over, {len(found.refused)} not")
    for path, copy in kept:
        click.echo(f"taken out of {path}; the way back: cp {shlex.quote(str(copy))} {shlex.quote(str(path))}")
    if take_over:
        click.echo(f"Next: onehook install {shlex.quote(str(target))}")
        return
    sources = list(dict.fromkeys(taken.host for taken in found.carried))
    # Some agents run what stands in another's config, so there the originals run already.
    running = list(dict.fromkeys([*sources, *(borrower for host in sources for borrower, _ in wire_of(host).BORROWED_BY)]))
    others = [host for host in configurable() if host not in running]
    titles = ", ".join(config_of(host).TITLE for host in running)
    click.echo(f"The originals are left, and still run on {titles}. Take them over (--take-over), or install the manifest on the")
    click.echo(f"other agents only, since with both they run twice: onehook install {shlex.quote(str(target))} --hosts {','.join(others)}")
