"""onehook trust: accept a changed pinned policy, or let a user-wide install use all of a project's rules file."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from onehook.cli.choices import Verb, json_option, machine_of, print_json, rules_file, rules_option

if TYPE_CHECKING:
    from onehook.setup.repin import Pinned


@click.command("trust", cls=Verb)
@click.argument("policy", required=False)
@rules_option
@click.option("--revoke", is_flag=True, help="Stop trusting the rules file.")
@click.option("--list", "as_list", is_flag=True, help="List every trusted file, and whether it has changed since.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@json_option
def command(policy: str | None, rules_path: str | None, revoke: bool, as_list: bool, yes: bool, as_json: bool) -> None:
    """Accept changes to a pinned POLICY, or trust the rules file of this project.

    A policy that was installed with --pin runs only in the state that it had then. If it, or a file that it loads, has changed, this shows
    the difference and pins the new state, in every config that has the policy. Without POLICY: every pinned policy that has changed.

    If none has changed, this trusts the project's rules file: an install with --scope user also applies the rules file of the project that
    an agent works in. From an untrusted file it takes only restrictions: rules, packs, levels, and the deny and ask lists. From a trusted
    one it also takes programs, policies, the allow list and options. Trust applies to the content: after a change, trust the file again.
    """
    from onehook.rules.trust import digest, is_trusted, keep, trusted
    from onehook.setup.managed import require_root
    from onehook.setup.person import require

    if policy or not (rules_path or revoke or as_list):
        pinned = _pinned(policy)
        if pinned:
            require("run onehook trust")
            if any(file.place.scope == "enterprise" for one in pinned for file in one.files):
                require_root("to accept a change to what is installed for the whole machine")
            _pin_anew(pinned, yes, as_json)
            return
    entries = trusted()
    if as_list:
        rows = [{"file": path, "since": entry.get("since", ""), "unchanged": is_trusted(path)} for path, entry in entries.items()]
        if as_json:
            print_json(rows)
        else:
            for row in rows:
                click.echo(f"{row['file']}  since {row['since']}{'' if row['unchanged'] else '  CHANGED since: not trusted'}")
            click.echo("" if rows else "No rules file is trusted.", nl=not rows)
        return
    path = os.path.realpath(rules_file(rules_path))
    if not revoke:
        require("run onehook trust")
    if revoke:
        was = entries.pop(path, None) is not None
        keep(entries)
        _tell(path, as_json, {"trusted": False, "was_trusted": was}, "is no longer trusted" if was else "was not trusted")
        return
    grants = granted(path)
    if not as_json:
        for line in grants:
            click.echo(f"  {line}")
        if not grants:
            click.echo("It starts no programs and allows nothing.")
    if not yes and not as_json and sys.stdin.isatty():
        click.confirm(f"Trust {path}?", default=False, abort=True)
    keep({**entries, path: {"sha256": digest(path), "since": time.strftime("%Y-%m-%d")}})
    _tell(path, as_json, {"trusted": True, "grants": grants}, "is trusted in its current state")


def _pinned(policy: str | None) -> list[Pinned]:
    """The pinned policies here that are not as they were pinned."""
    from onehook.setup.installed import config_files
    from onehook.setup.managed import copied_to, has_changed
    from onehook.setup.plan import absolute_policy
    from onehook.setup.repin import pinned_in

    machine = machine_of()
    named = copied_to(absolute_policy(policy), machine) if policy else None
    found = [one for one in pinned_in(config_files(machine), machine) if named in (None, one.policy)]
    changed = [one for one in found if one.problem]
    if policy and named and not changed and has_changed(named, machine):
        raise click.ClickException(f"{policy} was copied; onehook install {policy} --scope enterprise replaces the copy and pins it")
    if policy and not changed:
        raise click.ClickException(f"{policy} is {'as it was pinned' if found else 'not pinned here'}; there is nothing to accept")
    return changed


def _pin_anew(pinned: list[Pinned], yes: bool, as_json: bool) -> None:
    from onehook.setup.apply import apply, until_fresh
    from onehook.setup.journal import Journal
    from onehook.setup.pinning import changes
    from onehook.setup.plan import Plan
    from onehook.setup.preview import unified_diff
    from onehook.setup.repin import plan_repin

    shown = [change for one in pinned for change in changes(one.policy, one.pin, one.launcher)]
    if not as_json:
        for line, edit in shown:
            click.echo(line)
            diff = unified_diff([edit], colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ) if edit else ""
            click.echo(diff if edit else "  (no copy of the previous version was kept)", nl=not edit)
    if not yes and not as_json and sys.stdin.isatty():
        click.confirm("Pin the current version?", default=False, abort=True)
    machine, journal = machine_of(), Journal()

    def carried() -> Plan:
        plan = Plan()
        for one in pinned:
            plan_repin(plan, one, machine, journal)
        apply(plan, journal)
        return plan

    until_fresh(carried)
    files = list(dict.fromkeys(str(file.place.path) for one in pinned for file in one.files))
    if as_json:
        policies = list(dict.fromkeys(str(one.policy) for one in pinned))
        print_json({"pinned": policies, "changes": [line for line, _ in shown], "files": files})
    else:
        click.echo(f"Pinned the current version in {', '.join(files)}")


def _tell(path: str, as_json: bool, data: dict[str, Any], text: str) -> None:
    if as_json:
        print_json({"file": path, **data})
    else:
        click.echo(f"{path} {text}")


def granted(path: str) -> list[str]:
    """What a rules file may do beyond stopping something."""
    from onehook.rules.compile import OPTIONS, Stack

    lines: list[str] = []
    for file in Stack("project", path).files:
        where = os.path.basename(file.path)
        for number, hook in file.tables("hook"):
            run = hook.get("run") or f"a model to judge {hook.get('prompt', '')!r}"
            events = ", ".join(hook.get("events", []))
            lines.append(f"{where}: starts {run if isinstance(run, str) else ' '.join(map(str, run))!s} on {events} (hook {number + 1})")
        lines += [f"{where}: runs the policy {name} {dict(options)}" for name, options in file.data.get("policies", {}).items()]
        lines += [f"{where}: allows {entry}" for entry in file.data.get("permissions", {}).get("allow", [])]
        lines += [f"{where}: sets {key} = {file.data[key]!r}" for key in OPTIONS if key in file.data]
    return lines
