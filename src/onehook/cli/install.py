"""onehook install: install a policy into every agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onehook.cli.choices import (
    SCOPE_CHOICE,
    Verb,
    configured_hosts,
    existing_policy,
    hosts_option,
    machine_of,
    print_json,
    project_option,
)
from onehook.core import EVENTS, EXTENDED_EVENTS, TOOLS, Hooks, OnehookError, Options
from onehook.hostkit.config import TOOL_EVENTS, Machine, Wish
from onehook.hosts import entry_hosts
from onehook.manifest.needs import events_of, never_run, tools_of
from onehook.rules.load import Rules
from onehook.setup.command import LAUNCHER, PORTABLE_FOLDER, Program, names_policy
from onehook.setup.files import FileEdit
from onehook.setup.plan import Plan, Request, config_of, place_of, plan_install, policy_in_scope, target

if TYPE_CHECKING:
    from onehook.setup.managed import Copy

LOCAL = {"project", "local"}  # the scopes of a project, between which --for moves a policy


@click.command("install", cls=Verb)
@click.argument("policy")
@hosts_option("Agents to install into: 'auto' (those found here), 'all' or names", "auto")
@click.option("--scope", type=SCOPE_CHOICE, help="The config to change: the project's, yours or the machine's. [default: project]")
@click.option(
    "--for",
    "audience",
    type=click.Choice(["me", "team"]),
    help="In a git repository: install for 'me' (in files that git ignores) or 'team' (portable, to be committed). [default: ask]",
)
@click.option(
    "--events",
    default="",
    help="Unified events, comma-separated. [default: the events that POLICY handles; for a .py file, also the core events]",
)
@click.option("--matcher", default="", help='Unified tools to match: "Bash|Write", or per event: "PreToolUse:Bash,PostToolUse:Write|Edit".')
@click.option("--observe", is_flag=True, help='Block nothing: compute every decision, and write it to stderr as "would deny".')
@click.option("--fail-closed", is_flag=True, help="Block the action on an error, a timeout or an unreadable payload.")
@click.option("--timeout", type=click.FloatRange(min=0.1, max=3000), help="Seconds for one event; the agent waits 10 s longer.")
@click.option(
    "--log",
    type=click.Choice(Options.CHOICES["log"]),
    help="Log decisions or not; 'required' makes a failure to log an error. [default: as set in POLICY, otherwise on]",
)
@click.option(
    "--ask-via",
    type=click.Choice(["agent", "desk", "desk-always"]),
    help="Who asks the person: the agent, `onehook approve` if the agent cannot ask, or always `onehook approve`. "
    "[default: as set in POLICY, otherwise agent]",
)
@click.option(
    "--trust", is_flag=True, help="Also trust the hooks on agents that skip hooks until a person trusts them (Codex, for example)."
)
@click.option(
    "--portable",
    is_flag=True,
    help="Put the runtime into the repository (.onehook/), so that a clone needs only python3. Implied by --for team.",
)
@click.option(
    "--pin/--no-pin",
    default=None,
    help="Run POLICY and the files that it loads only in their current state; `onehook trust` accepts a change. "
    "[default: ask; yes for --scope enterprise]",
)
@click.option(
    "--resident/--no-resident",
    default=None,
    help="Answer events from a process that has already loaded the policy's packages. [default: unchanged if already installed; otherwise "
    "yes on Linux, if onehook has its native client]",
)
@click.option("--python", metavar="PATH|VERSION", help="The interpreter that runs the policy, 3.9 or newer. [default: onehook's own]")
@project_option
@click.option("--dry-run", is_flag=True, help="Show a diff of each file; change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts; implies --yes.")
def command(
    policy: str, hosts: list[str], scope: str | None, audience: str | None, events: str, matcher: str, observe: bool, fail_closed: bool,
    timeout: float | None, log: str | None, ask_via: str | None, trust: bool, portable: bool, pin: bool | None, resident: bool | None,
    python: str | None, project: str | None, dry_run: bool, yes: bool, as_json: bool,
) -> None:  # fmt: skip
    """Install POLICY into the agents of this project (or of this user, or machine).

    Other hooks and settings stay as they are, byte for byte. Installing twice changes nothing, and `onehook uninstall` restores
    the files exactly.

    \b
    Examples:
      onehook install policy.py                         every agent found here, for this project
      onehook install policy.py --for me                only for you, in files that git ignores
      onehook install policy.py --for team --hosts all  for everyone who clones this repository
      onehook install policy.py --hosts all --dry-run   show the changes first
      onehook install onehook.toml --observe            see what would be denied; install again without --observe to enforce
      onehook install policy.py --scope user --fail-closed
      onehook install policy.py --pin                   deny everything if the policy is changed
      onehook install policy.py --resident              an event then costs less than starting an interpreter
      onehook install policy.py --hosts codex --trust   Codex runs the hooks the next time it starts
    """
    machine = machine_of(project)
    path = existing_policy(policy)
    chosen = configured_hosts(hosts, machine)
    audience = audience or _asked_for(scope, portable, chosen, machine, yes or as_json or dry_run)
    scope, portable = _settled(scope, audience, portable)
    _check_scope(path, scope, portable, machine)
    copy = _managed(path, scope, chosen, machine, dry_run)
    if observe and fail_closed:
        raise click.UsageError("--observe blocks nothing, not even on an error; remove --fail-closed")
    program = _program(path, python, scope, portable, machine)
    hooks = loaded(path, program)
    if copy:
        _try_copy(copy, program)
    if portable and isinstance(hooks, Rules):
        click.echo("note: in a clone, a rules file needs Python 3.11 or newer", err=True)
    for host in chosen:
        for name, why in never_run(hooks, host).items():
            click.echo(f"note: {name!r} never runs on {config_of(host).TITLE}: {why}", err=True)
    if scope == "enterprise":
        hooks.options["pausable"] = bool(hooks.options.get("pausable"))  # only if the policy sets it
    named = {event: event for event in _events(events)}
    wish = _wish(hooks, observe, fail_closed, timeout, _matchers(matcher) or tools_of(hooks), log or "", ask_via or "")
    asks = not (yes or as_json or dry_run) and sys.stdin.isatty()
    pinned = _pinned(pin, path, scope, chosen, machine, asks, dry_run, copy)
    wanted = {host: named or events_of(hooks, host) for host in chosen}
    client = _client(resident, path, scope, portable, chosen, machine)
    request = Request(copy.policy if copy else path, scope, wanted, wish, portable, trust, audience, program, pinned, copy, client)
    carry_install(chosen, request, machine, dry_run=dry_run, yes=yes, as_json=as_json)


def _program(policy: Path, python: str | None, scope: str, portable: bool, machine: Machine) -> Program | None:
    """What runs the policy, if it is not this onehook; with the packages that the policy declares, which are installed now."""
    from onehook.setup import managed
    from onehook.setup.interpreters import chosen, needs_of, own_folder
    from onehook.setup.missing import check_imports

    packages = needs_of(policy).dependencies
    if portable and (python or packages):
        what = (
            f"the policy declares packages ({', '.join(packages)})"
            if packages
            else f"--python names an interpreter of this machine ({python})"
        )
        raise click.UsageError(f"{what}, which a clone does not have; use --for me, or import only the standard library")
    if packages:
        click.echo(f"The policy declares {', '.join(packages)}: preparing an environment with it ...", err=True)
    if scope == "enterprise":
        program: Program | None = managed.program(policy, python, machine)
        if program and not managed.is_for_everybody(program.interpreter):
            click.echo(f"note: only root can run {program.interpreter}; choose one that every user can run with --python", err=True)
    else:
        program = chosen(policy, python, own_folder())
    if program:
        check_imports(program.interpreter, policy)
    return program


def _managed(policy: Path, scope: str, hosts: Sequence[str], machine: Machine, dry_run: bool) -> Copy | None:
    """What an install for the whole machine copies. Everything that it writes is owned by root, and readable by everyone."""
    from onehook.setup import managed

    if scope != "enterprise":
        return None
    if not dry_run:
        managed.require_root("--scope enterprise")
    os.umask(0o022)
    places = [place.path for host in hosts if (place := place_of(host, scope, machine))]
    managed.refuse_changeable(places, machine, managed.MAKE_ROOTS)
    return managed.copy_of(policy, machine)


def _try_copy(copy: Copy, program: Program | None) -> None:
    with copy.staged() as policy:
        try:
            loaded(policy, program)
        except (click.ClickException, OnehookError) as error:
            why = str(getattr(error, "message", error)).replace(str(policy), str(copy.source))
            what = f"--scope enterprise copies {copy.source} with what it imports, extends and starts ({', '.join(copy.files)})"
            fix = "if it needs more files, put all of them into a folder owned by root, and install it from there: then nothing is copied"
            raise click.ClickException(f"{what}, and the copy does not load: {why}; {fix}") from None


def _pinned(
    pin: bool | None, policy: Path, scope: str, hosts: Sequence[str], machine: Machine, asks: bool, dry_run: bool, copy: Copy | None
) -> str:
    """The hash to pin the policy to; "" if it is not to be pinned. A pinned policy stays pinned, and only a person can change that."""
    from onehook.setup.installed import config_files
    from onehook.setup.person import require
    from onehook.setup.pinning import pin_of
    from onehook.setup.repin import pinned_in

    files = [file for file in config_files(machine, list(hosts)) if file.place.scope == scope or {scope, file.place.scope} <= LOCAL]
    runs = copy.policy if copy else policy
    before = [one.pin for one in pinned_in(files, machine) if one.policy == runs]
    known = any(names_policy(found.command, runs, machine.project) for file in files for found in file.ours)
    if pin is None:
        pin = scope == "enterprise" or bool(before)
        if not pin and asks and not known:
            click.echo(
                "A policy can be pinned: it and the files that it loads then run only in their current state, and a change "
                "needs `onehook trust`."
            )
            pin = click.confirm("Pin it?", default=False)
    after = "" if not pin else pin_of(policy, copy.moved) if copy else pin_of(policy)
    if any(one != after for one in before) and not dry_run:
        require("change what is pinned")
    return after


def _client(resident: bool | None, policy: Path, scope: str, portable: bool, hosts: Sequence[str], machine: Machine) -> tuple[str, ...]:
    """What comes before each command in resident mode; () without it. An existing install keeps its setting unless an option changes it."""
    from onehook.setup.command import client, has_proven_client, read
    from onehook.setup.installed import config_files

    why = ""
    if scope == "enterprise":
        why = (
            "the resident process belongs to the user, so an agent could replace it; a machine-wide policy starts a "
            "new process for each event"
        )
    elif portable:
        why = "a clone does not have this machine's native client; use --for me"
    elif not client():
        why = "on Windows it needs the native client, which only the Windows wheels contain"
    if resident and why:
        raise click.UsageError(f"--resident is not possible here: {why}")
    if resident is None and not why:
        files = [file for file in config_files(machine, list(hosts)) if file.place.scope == scope]
        ours = [found.command for file in files for found in file.ours if names_policy(found.command, policy, machine.project)]
        before = [written for written in map(read, ours) if written]
        resident = any(written.client for written in before) if before else has_proven_client()
    return client() if resident else ()


def _settled(scope: str | None, audience: str, portable: bool) -> tuple[str, bool]:
    """The scope, and whether it is portable."""
    if audience and scope not in (None, "project", "local"):
        raise click.UsageError(f"--for applies to a repository, and --scope {scope} does not; remove one of them")
    if audience == "me" and portable:
        raise click.UsageError("--portable is for everyone who clones the repository; use --for team")
    if audience == "team" and scope == "local":
        raise click.UsageError("--scope local is only for you; use --for me")
    return scope or "project", portable or audience == "team"


def _asked_for(scope: str | None, portable: bool, hosts: Sequence[str], machine: Machine, quiet: bool) -> str:
    """Ask who the policy is for, if no option says it, git would commit the files, and there is a terminal; else ""."""
    from onehook.setup.sharing import shared

    places = [place.path for host in hosts if (place := place_of(host, "project", machine))]
    if scope or portable or quiet or not sys.stdin.isatty() or not shared(places, machine.project):
        return ""
    click.echo("This is a git repository. Who is the policy for?")
    click.echo("  me    only you: in files that git ignores, with paths on this machine")
    click.echo("  team  everyone who clones it: portable, to be committed")
    answer: str = click.prompt("Install for", type=click.Choice(["me", "team"]), default="me")
    return answer


def _check_scope(policy: Path, scope: str, portable: bool, machine: Machine) -> None:
    if scope in ("project", "local") and machine.project == machine.home:
        raise click.UsageError(f"{machine.project} is your home folder, not a project: change to the project, or use --scope user")
    if portable and scope not in ("project", "local"):
        raise click.UsageError("--portable puts the runtime into a repository; use it with --scope project")
    if portable and not policy_in_scope(policy, "project", machine):
        raise click.UsageError(f"--portable needs the policy inside the project {machine.project}; copy {policy} there")


def _wish(
    hooks: Hooks, observe: bool, fail_closed: bool, timeout: float | None, matchers: dict[str, str], log: str = "", ask_via: str = ""
) -> Wish:
    options = Options(hooks.options)
    closed = fail_closed or (options.fail == "closed" and options.mode != "observe" and not observe)
    holds = (ask_via or options.ask_via) != "agent" or (isinstance(hooks, Rules) and bool(hooks.table.header["desk"]))
    return Wish(closed, timeout or options.timeout, int(options.stop_limit), matchers, observe, log, ask_via, holds)


def carry_install(hosts: Sequence[str], request: Request, machine: Machine, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    from onehook.setup.apply import apply, until_fresh
    from onehook.setup.journal import Journal

    journal = Journal()
    asked = yes or as_json or not sys.stdin.isatty()

    def planned(request: Request) -> Plan:
        plan = plan_install(hosts, request, machine, journal)
        if not any(target(host, request, machine) for host in hosts):
            raise click.UsageError("\n".join([*plan.notes, "Nothing was changed"]))
        return plan

    def carried() -> Plan:
        nonlocal asked, request
        plan = planned(request)
        if plan.edits and not asked:
            _list(plan)
            click.confirm("Write?", default=True, abort=True)
        if not asked and _trusts(plan, trusting := planned(replace(request, trust=True))):
            plan, request = trusting, replace(request, trust=True)
        asked = True
        apply(plan, journal)
        return plan

    plan = planned(request) if dry_run else until_fresh(carried)
    if request.program and not dry_run:
        from onehook.setup.interpreters import fill_cache

        layer = "managed" if request.scope == "enterprise" else "project"
        fill_cache(request.program, request.policy, [name for host in hosts for name in entry_hosts(host)], layer)
    if as_json:
        print_json({**plan_json(plan, dry_run), "to_do": {host: _next_steps(host, request, machine) for host in hosts}})
        return
    for note in plan.notes:
        click.echo(f"note: {note}", err=True)
    if dry_run:
        show_diff(plan)
    else:
        _report(plan, hosts, request, machine)


def _trusts(plan: Plan, trusting: Plan) -> bool:
    """Whether a person, who is shown what would be written for it, wants the agents to trust the hooks."""
    more = [edit for edit in trusting.edits if edit not in plan.edits]
    if not more:
        return False
    click.echo("\nSome agents skip these hooks until a person trusts them. Answering their own prompt would write:")
    _list(Plan(more))
    return click.confirm("Trust them?", default=False)


def plan_json(plan: Plan, dry_run: bool) -> dict[str, object]:
    """The changes of a plan; "diff" is None for a file that is not text."""
    from onehook.setup.preview import unified_diff

    def described(edit: FileEdit) -> dict[str, object]:
        action = "create" if edit.before is None else "remove" if edit.after is None else "edit"
        diff = unified_diff([edit], colour=False) if edit.kind != "runtime" else None
        return {"path": str(edit.path), "action": action, "kind": edit.kind, "diff": diff}

    return {"dry_run": dry_run, "changes": [described(edit) for edit in plan.edits], "notes": plan.notes}


def show_diff(plan: Plan) -> None:
    """The diff of each file. On a terminal the runtime's files, which are onehook's own, are only counted."""
    from onehook.setup.preview import unified_diff

    runtime = [edit for edit in plan.edits if edit.kind == "runtime"] if sys.stdout.isatty() else []
    click.echo(unified_diff([edit for edit in plan.edits if edit not in runtime], colour=_colour()), nl=False)
    if runtime:
        click.echo(f"and {len(runtime)} runtime files in {PORTABLE_FOLDER}/ (shown in full when piped)")
    click.echo(f"{_count(plan)} would change; nothing was written." if plan.edits else "Nothing would change.", err=True)


def _colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _count(plan: Plan) -> str:
    return f"{len(plan.edits)} file{'s' if len(plan.edits) != 1 else ''}"


def _list(plan: Plan) -> None:
    """The files that would change, and in full what agents would be set to trust."""
    from onehook.setup.preview import unified_diff

    for edit in plan.edits:
        if edit.kind != "runtime":
            click.echo(f"  {'new ' if edit.before is None else 'edit' if edit.after is not None else 'gone'} {edit.path}")
    trust = [edit for edit in plan.edits if edit.kind == "trust"]
    click.echo(unified_diff(trust, colour=_colour()), nl=False)
    for folder in dict.fromkeys(edit.path.parent for edit in plan.edits if edit.kind == "runtime"):
        click.echo(f"       {folder}/ (the runtime, {sum(edit.path.parent == folder for edit in plan.edits)} files)")


def _report(plan: Plan, hosts: Sequence[str], request: Request, machine: Machine) -> None:
    written = {edit.path for edit in plan.edits}
    for host in hosts:
        place = target(host, request, machine)
        if place is None:
            continue
        click.echo(f"{config_of(host).TITLE:<14} {'installed in' if place.path in written else 'up to date in'} {place.path}")
        for step in _next_steps(host, request, machine):
            click.echo(f"{'':<14} to do: {step}")
    for edit in plan.edits:
        if edit.kind == "trust":
            click.echo(f"{'trust':<14} written to {edit.path}")
        if edit.kind == "exclude":
            does = (
                "ignores the files that are only for you" if len(edit.after or b"") > len(edit.before or b"") else "no longer ignores them"
            )
            click.echo(f"{'git':<14} {does}: {edit.path}")
    if request.copy:
        click.echo(f"{'policy':<14} {request.copy.source} is copied to {request.policy}; install it again after a change")
    if request.portable:
        click.echo(f"{'runtime':<14} in {machine.project / PORTABLE_FOLDER}; commit it with the rest")
    elif request.program:
        click.echo(f"{'run by':<14} {request.program.interpreter}")
    elif _temporary(str(LAUNCHER)):
        click.echo(f"note: the installed entries start this onehook, which is in a temporary cache ({LAUNCHER});", err=True)
        click.echo("      install onehook permanently (uv tool install onehook, or pipx install onehook), then run this again", err=True)
    if request.client:
        click.echo(f"{'resident':<14} the first event starts a process that answers the next ones; `onehook serve --status` shows it")
    if request.wish.observe:
        click.echo("\nNothing is blocked yet; install again without --observe to enforce.")
    scope = "" if request.scope in ("project", "local") else f" --scope {request.scope}"
    click.echo(f"\n`onehook doctor` checks that a deny takes effect; `onehook uninstall{scope}` removes the policy.")


def _temporary(launcher: str) -> bool:
    """Whether onehook was started by uvx or pipx run."""
    path = launcher.replace("\\", "/")
    return any(part in path for part in ("/uv/archive-v0/", "/uv/environments-v2/", "/pipx/.cache/"))


def _next_steps(host: str, request: Request, machine: Machine) -> list[str]:
    """What a person still has to do before the agent runs the hooks, without duplicates."""
    from onehook.setup.entries import ours_in
    from onehook.setup.trust import untrusted
    from onehook.textedit.document import Document

    config, place = config_of(host), target(host, request, machine)
    if place is None or place.format == "own" or not place.path.exists():
        return []
    data = Document(place.path, place.format).data()
    ours = ours_in(config, data)
    diagnoses = [*config.diagnose(machine, place, data, ours), *untrusted(host, machine, place, ours, "run this again with")]
    return list(dict.fromkeys(diagnosis.fix for diagnosis in diagnoses if diagnosis.level in ("fail", "note") and diagnosis.fix))


def loaded(path: Path, program: Program | None = None) -> Hooks:
    """Load the policy: one that does not load must not be installed. With another interpreter, what install needs to know about it."""
    from onehook.manifest.load import Manifest
    from onehook.policy import load_policy
    from onehook.setup.interpreters import loaded_by

    if program and path.suffix == ".py":
        return loaded_by(program.interpreter, path)
    try:
        hooks = load_policy(str(path))
        programs = hooks.programs if isinstance(hooks, Rules) else hooks
        if isinstance(programs, Manifest):
            programs.check()
        return hooks
    except OnehookError as error:
        raise click.ClickException(str(error)) from None
    except BaseException as error:
        raise click.ClickException(f"{path} does not load: {type(error).__name__}: {error}; nothing was changed") from None


def _events(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    named = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in named or ("",):
        if name not in EVENTS and name not in EXTENDED_EVENTS:
            raise click.BadParameter(f"{name!r} is not an event; known events: {', '.join(EVENTS)}", param_hint="--events")
    return named


def _matchers(text: str) -> dict[str, str]:
    """Matchers by event, "" for every tool event. Matchers for the same event add up."""
    matchers: dict[str, str] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        event, colon, tools = part.partition(":")
        known = event in EVENTS or event in EXTENDED_EVENTS
        if colon and not known and event != "MCP":
            raise click.BadParameter(f"{event!r} is not an event; write TOOLS or EVENT:TOOLS", param_hint="--matcher")
        key, names = (event, tools.strip()) if colon and known else ("", part)
        if key and key not in TOOL_EVENTS:
            raise click.BadParameter(f"{key} has no tool to match; events with a tool: {', '.join(TOOL_EVENTS)}", param_hint="--matcher")
        for name in names.split("|"):
            _check_tool(name.strip())
        matchers[key] = f"{matchers[key]}|{names}" if key in matchers else names
    return matchers


def _check_tool(name: str) -> None:
    """Refuse a name that matches nothing on any agent: with it, the policy would not see a single call."""
    from onehook.hosts import HOSTS
    from onehook.testing.shots import close_to, native_tools

    natives = [native for host in HOSTS for native in native_tools(host)]
    if name in TOOLS or name in natives or name.startswith("mcp__"):
        return
    meant = close_to(name, (*TOOLS, *natives))
    hint = f"did you mean {meant}?" if meant else f"known tools: {', '.join(TOOLS)}, or mcp__SERVER__TOOL"
    raise click.BadParameter(f"{name!r} is not a tool of any agent; {hint}", param_hint="--matcher")
