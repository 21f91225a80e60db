"""onehook prove: run the real agents against a scripted model, and check what happened."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from onehook.cli.choices import Verb, existing_policy, hosts_option, json_option, pick, print_json


@click.command("prove", cls=Verb)
@hosts_option("Agents to run: 'all' or names", "all")
@click.option("--only", metavar="SCENARIOS", default="", help="Run only these scenarios, comma-separated (see --list), or 'core'.")
@click.option(
    "--changed",
    is_flag=True,
    help="Run only the core scenarios on agents whose adapters have not changed since the committed results were made.",
)
@click.option("--again", is_flag=True, help="Repeat every MISS at the end, one at a time: for a busy machine.")
@click.option(
    "--install", "fetch", is_flag=True, help="Install the pinned agents from the npm registry into the cache folder first, and use them."
)
@click.option("--pinned", is_flag=True, help="Use the pinned agents from the cache folder instead of those on PATH.")
@click.option(
    "--versions",
    metavar="RELEASES",
    default="",
    help="Install these releases from the npm registry and compare them: 'old', 'pinned', 'newest' or versions, comma-separated.",
)
@json_option
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Also write the results as JSON to this file.")
@click.option("--diff", is_flag=True, help="Show what differs from the committed results.")
@click.option("--update", is_flag=True, help="Update the committed results with these.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
    help="Keep the files and output of the runs in this folder.",
)
@click.option("--policy", type=click.Path(exists=True, dir_okay=False), help="Try your own policy; needs --command.")
@click.option(
    "--command", "shell_command", help="The command that the model tries under --policy. It really runs if the policy does not stop it."
)
@click.option("--resident", is_flag=True, help="Install the policies with --resident. These results cannot be committed.")
@click.option("--list", "list_only", is_flag=True, help="List the scenarios and the agents, and exit.")
def command(
    hosts: list[str], only: str, changed: bool, again: bool, fetch: bool, pinned: bool, versions: str, as_json: bool, output: Path | None,
    diff: bool, update: bool, keep: Path | None, policy: str | None, shell_command: str | None, resident: bool, list_only: bool,
) -> None:  # fmt: skip
    """Run the real agents against a scripted model on loopback, and check the outcome: whether the file was created, what the
    model was told, whether the turn ended. Needs no API key and no network, and reads none of your own configuration.

    \b
    Examples:
      onehook prove                          the agents on this machine, whatever their version
      onehook prove --install                the pinned versions, from the npm registry (1.7 GB, downloaded once)
      onehook prove --hosts claude --only deny,rewrite
      onehook prove --versions old,pinned,newest --only core
      onehook prove --hosts copilot --versions 1.0.75,1.0.80
      onehook prove --policy .hooks/policy.py --command 'touch forbidden.txt'
      onehook prove --install --changed      all scenarios on agents whose adapters changed, core ones on the others
      onehook prove --diff                   what the agents here do differently from the committed results

    Exits with 1 if a declared effect did not take place, or if an agent could not be installed (the others still run).
    """
    from onehook.prove.results import compared
    from onehook.prove.scenarios import SCENARIOS, by_id
    from onehook.prove.stage import RESIDENT

    if resident:
        if update:
            raise click.UsageError("--update is for results without resident mode; remove --resident")
        os.environ[RESIDENT] = "1"
    if changed and only:
        raise click.UsageError("--changed chooses the scenarios itself; remove --only")
    scenarios = by_id(_words(only)) if only else list(SCENARIOS)
    if versions and diff:
        raise click.UsageError("--diff compares one release with the committed results; --versions compares releases with each other")
    failed: list[str] = []  # what could not be installed
    agents = _releases(hosts, _words(versions), not list_only, failed) if versions else _agents(hosts, fetch, pinned, failed)
    if list_only and as_json:
        known = {"scenarios": {scenario.id: scenario.title for scenario in scenarios}}
        print_json({**known, "agents": [{"name": agent.name, "version": agent.version, "binary": str(agent.binary)} for agent in agents]})
        return
    if list_only:
        for scenario in scenarios:
            click.echo(f"{scenario.id:<18} {scenario.title}")
        for agent in agents:
            click.echo(f"agent {agent.name:<14} {agent.version:<12} {agent.binary}")
        return
    if policy or shell_command:
        if not (policy and shell_command):
            raise click.UsageError("--policy and --command must be used together")
        _try(agents, policy, shell_command, keep, as_json)
    document = _run(_jobs(agents, scenarios, changed), keep, quiet=as_json, again=again)
    if update:
        _update(document)
    if versions:
        document = compared(document)
    if failed:
        document["not_installed"] = failed
    _show(document, as_json, output, _drift(document, agents) if diff else None)
    raise SystemExit(1 if failed or any(row["verdict"] == "MISS" for row in document["results"]) else 0)


def _try(agents: list[Any], policy: str, shell_command: str, keep: Path | None, as_json: bool) -> NoReturn:
    """Try the user's own policy. Exits with 1 if it made no difference on one of the agents. Progress goes to stderr."""
    from onehook.prove.own_policy import Tried, try_policy

    def show(tried: Tried) -> None:
        if not as_json:
            where = f"\n  kept in {tried.kept}" if tried.kept else ""
            weak = f"\n  the control proves nothing: {tried.control}" if tried.control else ""
            click.echo(f"{tried.agent} {tried.version}: {tried.difference or 'no difference: the policy had no effect'}{weak}{where}")

    try:
        found = try_policy(agents, existing_policy(policy), shell_command, keep, show, lambda text: click.echo(text, err=True))
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        print_json({"tried": [tried.to_dict() for tried in found]})
    raise SystemExit(0 if all(tried.difference for tried in found) else 1)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _chosen(hosts: list[str]) -> list[str]:
    from onehook.prove.agents import pins

    return list(pins()) if hosts == ["all"] else pick(hosts, list(pins()))


def _agents(hosts: list[str], fetch: bool, pinned: bool, failed: list[str]) -> list[Any]:
    from onehook.hostkit.config import Machine
    from onehook.prove.agents import agents_on_path, cache_folder, pinned_agents, pins
    from onehook.prove.registries import AgentError

    wanted = _chosen(hosts)
    cache = cache_folder()
    if fetch:
        _fetch([pins()[host] for host in wanted], cache, failed)
    found = pinned_agents(wanted, cache) if fetch or pinned else agents_on_path(wanted, Machine.here()) or pinned_agents(wanted, cache)
    if not found and failed:
        raise AgentError("\n".join(failed))
    if not found:
        raise AgentError("no agent to run: none is on PATH or in the cache folder; `onehook prove --install` installs the pinned ones")
    return found


def _releases(hosts: list[str], versions: list[str], fetch: bool, failed: list[str]) -> list[Any]:
    from onehook.prove.agents import agents_of, cache_folder, releases
    from onehook.prove.registries import AgentError

    wanted = releases(_chosen(hosts), versions, failed)
    if fetch:
        _fetch(wanted, cache_folder(), failed)
    found = agents_of(wanted, cache_folder())
    if not found and failed:
        raise AgentError("\n".join(failed))
    return found


def _fetch(wanted: list[Any], cache: Path, failed: list[str]) -> None:
    """Install what is not there. The proof continues with the others if one of them cannot be installed."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from onehook.prove.agents import install
    from onehook.prove.registries import AgentError

    needed = [pin for pin in wanted if not pin.ready(cache)]
    if not needed:
        return
    click.echo(f"{sum(pin.package.disk_mb for pin in needed)} MB to install into {cache} (kept for later runs)", err=True)
    columns = (SpinnerColumn(), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(needed))
        for pin in needed:
            try:
                install(pin, cache, lambda text: progress.update(task, description=text))
            except AgentError as error:
                failed.append(str(error))
            progress.advance(task)


def _jobs(agents: list[Any], scenarios: list[Any], changed: bool) -> list[tuple[Any, Any]]:
    """Every scenario on every agent; with `changed`, the core ones where the adapter is as it was."""
    from onehook.prove.results import unchanged
    from onehook.prove.scenarios import CORE

    as_before = unchanged(dict.fromkeys(agent.host for agent in agents)) if changed else []
    return [(agent, one) for agent in agents for one in scenarios if one.id in CORE or agent.host not in as_before]


def _update(document: dict[str, Any]) -> None:
    import json

    from onehook.prove.results import COMMITTED, merged, read

    COMMITTED.write_text(json.dumps(merged(read(), document), indent=1) + "\n", encoding="utf-8")


def _run(jobs: list[tuple[Any, Any]], keep: Path | None, quiet: bool, again: bool) -> dict[str, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from onehook.prove.conduct import conduct
    from onehook.prove.report import STYLES
    from onehook.prove.results import document
    from onehook.prove.verdicts import MISS, Verdict

    console = Console(stderr=True, quiet=quiet)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("starting the agents", total=len(jobs))

        def done(verdict: Verdict) -> None:
            name = f"{verdict.host} {verdict.mode}".strip() + f" {verdict.version}"
            progress.update(task, advance=1, description=f"{name} {verdict.scenario}: {verdict.verdict}")
            if verdict.verdict == MISS or not sys.stderr.isatty():
                style = STYLES[verdict.verdict]
                text = f"{name} {verdict.scenario}: [{style}]{verdict.verdict}[/{style}] ({verdict.seconds} s)"
                console.print(text + (f" {verdict.detail}\n  kept in {verdict.kept}" if verdict.kept else ""), highlight=False)

        return document(conduct(jobs, done, keep, again))


def _drift(document: dict[str, Any], agents: list[Any]) -> list[str]:
    """What differs from the committed results, and which fields of the payloads are new or missing."""
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

    from onehook.prove.report import print_table, release_lines, summary

    print_table(document, Console(width=None if sys.stdout.isatty() else 160))
    if drift is not None:
        click.echo("\n".join(drift) or "No differences from the committed results.")
    if "releases" in document:
        click.echo("\n".join(release_lines(document)))
    click.echo(summary(document["results"]))
    for error in document.get("not_installed", ()):
        click.echo(f"Error: {error}", err=True)
