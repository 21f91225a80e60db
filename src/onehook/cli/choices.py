"""What the verbs share: options that mean the same everywhere, how agents are chosen, and how errors become exit codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from onehook.core import OnehookError, UsageError
from onehook.hostkit.config import SCOPES, Machine

RULES_FILE = "onehook.toml"
SCOPE_CHOICE = click.Choice(SCOPES)
F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
project_option = click.option(
    "--project", metavar="DIRECTORY", help="The project's folder. [default: the nearest project at or above the current folder]"
)


class Verb(click.Command):
    """A verb of the command line. Its errors end in one line on stderr and the exit codes of onehook.cli.EXIT_CODES."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from None
        except OnehookError as error:
            raise click.ClickException(str(error)) from None


class VerbGroup(Verb, click.Group):
    """A verb with subcommands. An unknown subcommand is an error."""


def hosts_option(text: str, default: str = "", *aliases: str) -> Callable[[F], F]:
    """--hosts a,b --hosts c: the same spelling on every verb. The command gets a list of names."""

    def names(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> list[str]:
        found = [name.strip() for value in given or (default,) for name in value.split(",") if name.strip()]
        if given and not found:
            raise click.BadParameter("name at least one agent")
        return list(dict.fromkeys(found))

    shown = f"{text}; comma-separated or repeated." + (f" [default: {default}]" if default else "")
    return click.option("--hosts", *aliases, "hosts", multiple=True, callback=names, metavar="AGENTS", help=shown)


def pick(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """The named agents, or every one that this verb knows for "all"."""
    if list(names) == ["all"]:
        return list(known)
    for name in names:
        if name not in known:
            from onehook.testing.shots import unknown_agent

            raise unknown_agent(name, known)
    return list(names)


def configured_hosts(names: Sequence[str], machine: Machine) -> list[str]:
    """The agents that onehook can be installed into; "auto" means those found on this machine."""
    from onehook.setup.plan import config_of, configurable, present

    known = configurable()
    if list(names) != ["auto"]:
        return pick(names, known)
    found = [host for host in known if present(host, machine)]
    if not found:
        raise click.ClickException(
            f"no agent found here (looked for the folders and binaries of {', '.join(config_of(host).TITLE for host in known)}); "
            f"name them (--hosts {','.join(known[:2])}) or use --hosts all"
        )
    return found


def machine_of(project: str | None = None) -> Machine:
    if project is not None and not Path(project).is_dir():
        raise click.BadParameter(f"{project} is not a folder", param_hint="--project")
    return Machine.here(Path(project) if project else nearest(_project_marks()) or Path.cwd())


def nearest(marks: Sequence[str]) -> Path | None:
    """The current folder, or the nearest one above it, that has one of these files or folders.

    The home folder and what is above it count only if they are the current folder: ~/.claude does not make all of it a project.
    """
    here, home = Path.cwd(), Path.home().resolve()
    for folder in (here, *here.parents):
        if folder != here and home.is_relative_to(folder):
            return None
        if any((folder / mark).exists() for mark in marks):
            return folder
    return None


def _project_marks() -> list[str]:
    """What the root of a project has: a repository, a rules file, a portable runtime, or the folder of an agent."""
    from onehook.setup.command import PORTABLE_FOLDER
    from onehook.setup.plan import config_of, configurable

    return [".git", RULES_FILE, PORTABLE_FOLDER, *(name for host in configurable() for name in config_of(host).FOLDERS)]


def existing_policy(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise UsageError(f"policy not found: {text} (`onehook init` creates one)")
    return path.absolute()


def rules_file(given: str | None) -> str:
    """The rules file that was named, or the onehook.toml of this folder or the nearest one above it."""
    if given is not None:
        return str(existing_policy(given))
    folder = nearest([RULES_FILE])
    if folder is None:
        raise UsageError(f"no {RULES_FILE} in {Path.cwd()} or above it; name the rules file with --rules FILE")
    return str(folder / RULES_FILE)


def rules_option(function: F) -> F:
    text = "The rules file. [default: onehook.toml in this folder or above it]"
    return click.option("--rules", "rules_path", metavar="FILE", help=text)(function)


def log_options(verb: str, since: str = "") -> Callable[[F], F]:
    """--since, --hosts and --project: which part of the decision log. `selection` turns them into arguments of onehook.log."""

    def decorated(function: F) -> F:
        function = click.option("--project", default="", metavar="DIRECTORY", help="A project, or a folder of projects.")(function)
        function = hosts_option(f"Agents to {verb}")(function)
        text = "30m, 12h, 7d, 2w, or a date."
        return click.option("--since", default=since, show_default=bool(since), metavar="TIME", help=text)(function)

    return decorated


def selection(since: str, hosts: Sequence[str], project: str) -> dict[str, Any]:
    from onehook.hosts import HOSTS
    from onehook.log.reader import moment

    return {
        "since": moment(since) if since else "",
        "agents": pick(hosts, HOSTS) if hosts else [],
        "project": str(Path(project).absolute()).rstrip("/") if project else "",
    }


def print_json(value: object) -> None:
    import json

    click.echo(json.dumps(value, indent=2))
