"""onehook rules: the rules that are on, their levels, and the files that set them."""

from __future__ import annotations

from typing import Any

import click

from onehook.cli.choices import Verb, json_option, print_json, rules_file, rules_option


@click.command("rules", cls=Verb)
@rules_option
@json_option
def command(rules_path: str | None, as_json: bool) -> None:
    """List the rules that are on: those of the packs, and those of the rules file, of what it extends, of the user and of the machine.

    The level shown is the strictest that a file sets; in mode "observe" it is only recorded.
    """
    from onehook.rules.explain import rules_on
    from onehook.rules.load import layers_beside

    path = rules_file(rules_path)
    rules = rules_on(path, layers_beside(path))
    if as_json:
        print_json(rules)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("rule", "level", "severity", "set in", "reason")
    for rule in rules:
        says = _strictest(rule)
        level = says["level"] if says["mode"] == "enforce" else f"{says['level']} (observe)"
        table.add_row(rule["id"], level, rule["severity"], f"{says['file']}:{says['line']}", rule["reason"])
    Console().print(table)
    click.echo(f"{len(rules)} rules are on. [permissions] come in addition; `onehook explain COMMAND` shows what decides.")


def _strictest(rule: dict[str, Any]) -> dict[str, Any]:
    from onehook.rules.levels import rank

    says: dict[str, Any] = max(rule["says"], key=lambda one: (one["mode"] == "enforce", rank(one["level"])))
    return says
