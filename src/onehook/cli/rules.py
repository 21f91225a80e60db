"""onehook rules: the active rules, their levels, and the files that set them."""

from __future__ import annotations

import os
from typing import Any

import click

from onehook.cli.choices import RULES_FILE, Verb, json_option, machine_of, nearest, print_json, rules_file, rules_option


@click.command("rules", cls=Verb)
@rules_option
@json_option
def command(rules_path: str | None, as_json: bool) -> None:
    """List the active rules: from packs, the rules file, the files that it extends, and the user's and the machine's rules files.

    The layer tells which file sets the rule: the machine's (managed), the user's or the project's. The level shown is the strictest that
    any file sets; in mode "observe" it is only recorded.
    """
    from onehook.rules.explain import rules_on
    from onehook.setup.installed import rules_above

    above = rules_above(machine_of())
    path = rules_file(rules_path) if rules_path or not above or nearest([RULES_FILE]) else ""
    rules = rules_on(path, [layer for layer in above if layer[1] != os.path.abspath(path)])
    if as_json:
        print_json(rules)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("rule", "level", "layer", "severity", "set in", "reason")
    for rule in rules:
        says = _strictest(rule)
        level = says["level"] if says["mode"] == "enforce" else f"{says['level']} (observe)"
        table.add_row(rule["id"], level, says["layer"], rule["severity"], f"{says['file']}:{says['line']}", rule["reason"])
    Console().print(table)
    click.echo(f"{len(rules)} rules are active, in addition to [permissions]; `onehook explain COMMAND` shows which one decides.")


def _strictest(rule: dict[str, Any]) -> dict[str, Any]:
    from onehook.rules.levels import rank

    says: dict[str, Any] = max(rule["says"], key=lambda one: (one["mode"] == "enforce", rank(one["level"])))
    return says
