"""onehook prove: the real agents, a scripted model, and what really happened."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import click


@click.command("prove")
@click.option("--hosts", default="all", show_default=True, help="claude,codex,... | all that can be run")
@click.option("--only", default="", help="Scenarios, by commas (see --list).")
@click.option(
    "--install", "fetch", is_flag=True, help="Bring the pinned agents from the npm registry into the cache folder first, and use them."
)
@click.option("--pinned", is_flag=True, help="Use the pinned agents in the cache folder, not those on PATH.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the results as JSON to this file, too.")
@click.option("--diff", is_flag=True, help="Compare with the committed results: what does this version do differently?")
@click.option(
    "--keep", type=click.Path(file_okay=False, resolve_path=True, path_type=Path), help="Keep homes, projects and output of the runs here."
)
@click.option("--policy", type=click.Path(exists=True, dir_okay=False), help="Your own policy, with --command: what do the agents do?")
@click.option(
    "--command", "shell_command", help="The command that the model tries under --policy. It is run for real if the policy lets it."
)
@click.option("--list", "list_only", is_flag=True, help="List the scenarios and the agents; run nothing.")
def command(
    hosts: str, only: str, fetch: bool, pinned: bool, as_json: bool, output: Path | None, diff: bool, keep: Path | None,
    policy: str | None, shell_command: str | None, list_only: bool,
) -> None:  # fmt: skip
    """Start the real agents against a model that onehook scripts on loopback, and look at the world afterwards: was the file
    made, what was the model told, did the turn end. No API key, no network, and nothing of your own configuration is read.

    \b
    Examples:
      onehook prove                          the agents on this machine, at whatever version they are
      onehook prove --install                the pinned versions, from the npm registry (1.7 GB, once)
      onehook prove --hosts claude --only deny,rewrite
      onehook prove --policy .hooks/policy.py --command 'touch forbidden.txt'
      onehook prove --diff                   what the agents here do differently from the committed results

    Exit code 1 if an effect that onehook declares did not take place.
    """
    from onehook.prove.agents import AgentError
    from onehook.prove.scenarios import SCENARIOS, by_id

    try:
        scenarios = by_id([name.strip() for name in only.split(",") if name.strip()]) if only else list(SCENARIOS)
        agents = _agents(hosts, fetch, pinned)
    except (AgentError, KeyError) as error:
        raise click.ClickException(str(error.args[0])) from None
    if list_only:
        for scenario in scenarios:
            click.echo(f"{scenario.id:<18} {scenario.title}")
        for agent in agents:
            click.echo(f"agent {agent.name:<14} {agent.version:<12} {agent.binary}")
        return
    if policy or shell_command:
        if not (policy and shell_command):
            raise click.UsageError("--policy and --command go together")
        _try(agents, policy, shell_command, keep, as_json)
    document = _run(agents, scenarios, keep, quiet=as_json)
    _show(document, as_json, output, _drift(document, agents) if diff else None)
    raise SystemExit(1 if any(row["verdict"] == "MISS" for row in document["results"]) else 0)


def _try(agents: list[Any], policy: str, shell_command: str, keep: Path | None, as_json: bool) -> NoReturn:
    """The user's own policy: exit code 1 if it made no difference on one of the agents."""
    from onehook.cli.choices import existing_policy
    from onehook.prove.own_policy import Tried, try_policy

    def said(tried: Tried) -> None:
        if not as_json:
            where = f"\n  kept in {tried.kept}" if tried.kept else ""
            click.echo(f"{tried.agent} {tried.version}: {tried.difference or 'no difference: the policy did nothing here'}{where}")

    try:
        found = try_policy(agents, existing_policy(policy), shell_command, keep, said)
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        import json

        click.echo(json.dumps({"tried": [tried.to_dict() for tried in found]}, indent=2))
    raise SystemExit(0 if all(tried.difference for tried in found) else 1)


def _agents(hosts: str, fetch: bool, pinned: bool) -> list[Any]:
    from onehook.hostkit.config import Machine
    from onehook.prove.agents import AgentError, agents_on_path, cache_folder, pinned_agents, pins

    known = list(pins())
    wanted = known if hosts == "all" else [name.strip() for name in hosts.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise AgentError(f"{name!r} cannot be run for a proof; these can: {', '.join(known)}")
    cache = cache_folder()
    if fetch:
        _fetch(wanted, cache)
    found = pinned_agents(wanted, cache) if fetch or pinned else agents_on_path(wanted, Machine.here()) or pinned_agents(wanted, cache)
    if not found:
        raise AgentError("no agent to run: none is on PATH and the cache folder is empty; `onehook prove --install` brings the pinned ones")
    return found


def _fetch(hosts: list[str], cache: Path) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from onehook.prove.agents import install, missing

    needed = missing(hosts, cache)
    if not needed:
        return
    click.echo(f"{sum(pin.disk_mb for pin in needed)} MB to install into {cache} (kept for the next time)", err=True)
    with Progress(SpinnerColumn(), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as progress:
        task = progress.add_task("", total=len(needed))
        for pin in needed:
            install(pin, cache, lambda text: progress.update(task, description=text))
            progress.advance(task)


def _run(agents: list[Any], scenarios: list[Any], keep: Path | None, quiet: bool) -> dict[str, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from onehook.prove.conduct import conduct
    from onehook.prove.report import STYLES
    from onehook.prove.results import document
    from onehook.prove.verdicts import MISS, Verdict

    console = Console(stderr=True, quiet=quiet)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("starting the agents", total=len(agents) * len(scenarios))

        def done(verdict: Verdict) -> None:
            name = f"{verdict.host} {verdict.mode}".strip()
            progress.update(task, advance=1, description=f"{name} {verdict.scenario}: {verdict.verdict}")
            if verdict.verdict == MISS or not sys.stderr.isatty():
                style = STYLES[verdict.verdict]
                text = f"{name} {verdict.scenario}: [{style}]{verdict.verdict}[/{style}] ({verdict.seconds} s)"
                console.print(text + (f" {verdict.detail}\n  kept in {verdict.kept}" if verdict.kept else ""), highlight=False)

        return document(conduct(agents, scenarios, done, keep))


def _drift(document: dict[str, Any], agents: list[Any]) -> list[str]:
    """What these agents do differently from the committed results, and which fields of their payloads are new or gone."""
    from onehook.prove.drift import changes, known_fields, recorded
    from onehook.prove.results import COMMITTED, differences, read

    return differences(read(COMMITTED), document) + changes(known_fields(), recorded(agents))


def _show(document: dict[str, Any], as_json: bool, output: Path | None, drift: list[str] | None) -> None:
    import json

    if output:
        output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if as_json:
        click.echo(json.dumps(document if drift is None else {**document, "differences": drift}, indent=1))
        return
    from rich.console import Console

    from onehook.prove.report import print_table, summary

    print_table(document, Console(width=None if sys.stdout.isatty() else 160))
    if drift is not None:
        click.echo("\n".join(drift) or "Nothing differs from the committed results.")
    click.echo(summary(document["results"]))
