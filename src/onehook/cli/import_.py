"""onehook import: turn the hooks and permission lists that are already configured into one file for every agent."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import Verb, hosts_option, json_option, machine_of, pick, print_json, project_option
from onehook.hostkit.imports import shortened
from onehook.hosts import GUESTS, HOSTS, readers_of
from onehook.setup.imports import importable

if TYPE_CHECKING:
    from onehook.setup.imports import Import, Taken
    from onehook.setup.journal import Journal
    from onehook.setup.plan import Plan

# Of the hosts that have neither an `imports` nor a `permissions` module.
_NOT_CONFIGURED = "it has no configured hooks and no permission lists of its own"
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}  # by API
SCOPES = click.Choice(("project", "local", "user", "enterprise"))


@click.command("import", cls=Verb)
@hosts_option(f"Agents to import from: 'all' or names of {', '.join(importable())}", "all", "--from")
@click.option(
    "--scope", type=SCOPES, default="project", show_default=True, help="Which config to read: the project's, yours, or the machine's."
)
@click.option(
    "--plugin", "plugins", multiple=True, metavar="FOLDER", help="Import the hooks of this plugin or extension instead; may be repeated."
)
@click.option("--output", metavar="FILE", default="onehook.toml", show_default=True, help="The manifest to write, relative to the project.")
@click.option("--model", metavar="API:NAME", help="The model for hooks that let a model decide: anthropic:NAME or openai:NAME.")
@click.option("--model-url", metavar="URL", help="The address of the model's API, if it is not the provider's own.")
@click.option(
    "--model-key-env", metavar="VARIABLE", help="The environment variable that contains the API key. [default: the provider's usual one]"
)
@click.option("--take-over", is_flag=True, help="Remove the imported hooks from the agents' configs.")
@project_option
@click.option("--dry-run", is_flag=True, help="Show a diff of what would be written; change nothing.")
@json_option
def command(
    hosts: list[str],
    scope: str,
    plugins: tuple[str, ...],
    output: str,
    model: str | None,
    model_url: str | None,
    model_key_env: str | None,
    take_over: bool,
    project: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Read the hooks and permission lists of some agents, and write one file that applies them on every agent.

    What cannot be imported is listed with the reason, and stays where it is. Permission lists and the hooks of
    agents that onehook cannot be installed on always stay. Without --take-over, all other hooks stay too: install the file only on the
    other agents, or they run twice.

    \b
    Examples:
      onehook import --from claude --dry-run
      onehook import --from claude --take-over && onehook install onehook.toml --hosts all
      onehook import --plugin ~/src/some-plugin
    """
    from onehook.setup.imports import collect, collect_plugins, plan_import
    from onehook.setup.journal import Journal

    machine = machine_of(project)
    journal = Journal()
    target = machine.project / output
    judge = _model(model, model_url, model_key_env)
    if plugins:
        found = collect_plugins([Path(root) for root in plugins], machine, judge)
    else:
        found = collect(_sources(hosts), scope, machine, judge)
    if not as_json:
        _report(found)
    plan = plan_import(found, target, journal, take_over) if found.hosts else None
    kept = _apply(plan, journal) if plan and not dry_run else []
    if as_json:
        print_json(_as_json(found, [str(edit.path) for edit in plan.edits] if plan else [], kept, dry_run))
    elif plan and dry_run:
        from onehook.setup.preview import unified_diff

        click.echo(unified_diff(plan.edits, colour=False), nl=False)
    elif plan:
        _conclude(found, kept, target, take_over)
    if not plan:
        raise click.ClickException("found no hook and no permission to import; nothing was written")


def _model(named: str | None, url: str | None, key_env: str | None) -> dict[str, str]:
    """The [model] of the manifest; nothing if none is named."""
    if named is None:
        if url or key_env:
            raise click.UsageError("--model-url and --model-key-env need --model API:NAME")
        return {}
    api, _, name = named.partition(":")
    if api not in _KEYS or not name:
        raise click.BadParameter(f"{named!r} is not of the form API:NAME, where API is one of {', '.join(_KEYS)}", param_hint="--model")
    return {"api": api, "model": name, **({"url": url} if url else {}), "key_env": key_env or _KEYS[api]}


def _sources(names: list[str]) -> list[str]:
    known = importable()
    for name in names:
        if name in HOSTS and name not in known:
            raise click.BadParameter(f"nothing to import from {name}: {_NOT_CONFIGURED}", param_hint="--hosts")
    return pick(names, known)


def _report(found: Import) -> None:
    counts = Counter(loss for taken in found.carried for loss in taken.hook.losses)
    for taken in found.carried:
        click.echo(f"imported      {taken.host} {taken.hook.event}: {shortened(taken.hook.shown)}", err=True)
        for loss in (loss for loss in taken.hook.losses if counts[loss] == 1):
            click.echo(f"              but {loss}", err=True)
    for loss, count in counts.items():
        if count > 1:
            click.echo(f"              but {loss} ({count} hooks)", err=True)
    for taken in found.refused:
        click.echo(f"NOT imported  {taken.host} {taken.hook.event}: {shortened(taken.hook.shown)}: {taken.hook.refused}", err=True)
    for one in found.permissions:
        if one.refused:
            click.echo(f"NOT imported  {one}: {one.listed.refused}", err=True)
        else:
            click.echo(f"imported      {one} as {one.listed.entry}{f', but {one.listed.loss}' if one.listed.loss else ''}", err=True)
    for note in dict.fromkeys(found.notes):
        click.echo(f"note          {note}", err=True)


def _apply(plan: Plan, journal: Journal) -> list[tuple[Path, Path]]:
    """Write the plan; returns (config, backup) for each config that hooks were removed from."""
    from onehook.setup.apply import apply
    from onehook.setup.imports import keep_originals

    kept = keep_originals(plan)
    apply(plan, journal)
    return kept


def _as_json(found: Import, changed: list[str], kept: list[tuple[Path, Path]], dry_run: bool) -> dict[str, object]:
    def told(taken: Taken) -> dict[str, object]:
        hook = taken.hook
        why = {"refused": hook.refused} if hook.refused else {"losses": hook.losses}
        return {"host": taken.host, "from": taken.origin, "event": hook.event, "command": hook.shown, **why}

    return {
        "permissions": [
            {"host": one.host, "from": str(one.listed.file), "level": one.listed.level, "text": one.listed.shown}
            | ({"refused": one.listed.refused} if one.refused else {"entry": one.listed.entry, "loss": one.listed.loss})
            for one in found.permissions
        ],
        "carried": [told(taken) for taken in found.carried],
        "refused": [told(taken) for taken in found.refused],
        "notes": found.notes,
        "would_write" if dry_run else "written": changed,
        "taken_out_of": [{"config": str(path), "copy": str(copy)} for path, copy in kept],
    }


def _conclude(found: Import, originals: list[tuple[Path, Path]], target: Path, take_over: bool) -> None:
    from onehook.setup.plan import config_of, configurable

    kept = [one for one in found.permissions if not one.refused]
    count, refused = len(found.carried) + len(kept), len(found.refused) + len(found.permissions) - len(kept)
    click.echo(f"wrote {target}: {count} imported, {refused} not imported")
    for path, copy in originals:
        click.echo(f"removed them from {path}; to undo: cp {shlex.quote(str(copy))} {shlex.quote(str(path))}")
    if take_over or all(taken.host in GUESTS for taken in found.carried):
        click.echo(f"Next: onehook install {shlex.quote(str(target))}")
        return
    sources = list(dict.fromkeys(taken.host for taken in found.carried if taken.host in HOSTS))
    # Some agents also read another agent's config, so the originals already run there.
    running = list(dict.fromkeys([*sources, *(reader for host in sources for reader in readers_of(host))]))
    others = [host for host in configurable() if host not in running]
    titles = ", ".join(config_of(host).TITLE for host in running)
    click.echo(f"The originals were not changed and still run on {titles}. To avoid running them twice, use --take-over, or install")
    click.echo(f"the manifest only on the other agents: onehook install {shlex.quote(str(target))} --hosts {','.join(others)}")
