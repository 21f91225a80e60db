"""onehook trust: let a user-wide install take all of a project's rules file."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import click

from onehook.cli.choices import Verb, json_option, print_json, rules_file, rules_option


@click.command("trust", cls=Verb)
@rules_option
@click.option("--revoke", is_flag=True, help="Trust it no longer.")
@click.option("--list", "as_list", is_flag=True, help="Show every file that is trusted, and whether it has changed since.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@json_option
def command(rules_path: str | None, revoke: bool, as_list: bool, yes: bool, as_json: bool) -> None:
    """Trust the rules file of this project, as it is now.

    An install with --scope user also applies the rules file of the project that an agent works in. Without trust it takes only what stops
    something: rules, packs, levels, and the deny and ask lists. With trust it takes the rest too: programs, policies, the allow list and
    options. Trust is for the content: after a change, trust it again.
    """
    from onehook.rules.trust import digest, is_trusted, keep, trusted
    from onehook.setup.person import require

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
        require("onehook trust")
    if revoke:
        was = entries.pop(path, None) is not None
        keep(entries)
        _tell(path, as_json, {"trusted": False, "was_trusted": was}, "is trusted no longer" if was else "was not trusted")
        return
    grants = granted(path)
    if not as_json:
        for line in grants:
            click.echo(f"  {line}")
        if not grants:
            click.echo("It starts no program and allows nothing by itself.")
    if not yes and not as_json and sys.stdin.isatty():
        click.confirm(f"Trust {path}?", default=False, abort=True)
    keep({**entries, path: {"sha256": digest(path), "since": time.strftime("%Y-%m-%d")}})
    _tell(path, as_json, {"trusted": True, "grants": grants}, "is trusted as it is now")


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
