"""onehook pause: suspend all policies, or one rule, for a while."""

from __future__ import annotations

import re

import click

from onehook.cli.choices import Verb, machine_of

_UNITS = {"s": 1, "m": 60, "h": 3600}


def _seconds(_: click.Context, __: click.Parameter, text: str) -> float:
    from onehook.pause import LONGEST

    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0
    if not 1 <= seconds <= LONGEST:
        raise click.BadParameter(f"{text!r} is not a duration such as 90s, 10m or 2h; the longest is {LONGEST // 3600}h")
    return seconds


@click.command("pause", cls=Verb)
@click.option("--for", "seconds", default="10m", callback=_seconds, metavar="TIME", help="How long to pause: 90s, 10m, 2h. [default: 10m]")
@click.option("--rule", "rules", multiple=True, metavar="ID", help="Pause only this rule, pack or handler; may be repeated. [default: all]")
@click.option(
    "--reason", default="", metavar="TEXT", help="Why the policies are paused; shown by status and at the start of a session, and logged."
)
def command(seconds: float, rules: tuple[str, ...], reason: str) -> None:
    """Pause all of your policies, in all projects, or only one rule.

    While paused, nothing is blocked; decisions are still computed, and written to stderr as "would deny". The pause ends when its time is
    up, or with `onehook resume`. A policy that is installed for the whole machine stays in force, unless it sets `pausable = true`.

    Only a person can start a pause: the command needs a terminal, and refuses to run for an agent.

    \b
    Examples:
      onehook pause                                      everything, for 10 minutes
      onehook pause --for 1h --rule git.force-push --reason "rewriting my own branch"
      onehook resume
    """
    from onehook.log.notes import note
    from onehook.pause import add, clock
    from onehook.setup.person import require

    require("run onehook pause", terminal=True)
    _check(rules)
    entries = [add(rule, seconds, reason) for rule in rules or ("",)]
    note("Pause", ", ".join(rules) or "everything", reason, until=entries[0]["until"], rules=rules)
    what = f"{', '.join(rules)} {'are' if len(rules) > 1 else 'is'} paused" if rules else "Paused"
    click.echo(f"{what} until {clock(entries[0]['until'])}, in all your projects. `onehook resume` ends it.")


def _check(rules: tuple[str, ...]) -> None:
    """Refuse a name that no installed policy has, as far as that can be known: handlers of Python policies can have any name."""
    from onehook.core import covers_rule
    from onehook.setup.installed import rule_names
    from onehook.testing.shots import close_to

    known = rule_names(machine_of()) if rules else None
    for rule in rules:
        if known is not None and not any(covers_rule(rule, name) for name in known):
            meant = close_to(rule, known)
            raise click.BadParameter(
                f"no installed policy has the rule {rule!r}{f'; did you mean {meant}?' if meant else ''} (`onehook rules` lists them)",
                param_hint="--rule",
            )
