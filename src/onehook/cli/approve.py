"""onehook approve: approve or deny what agents are waiting for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onehook.cli.choices import Verb, print_json

if TYPE_CHECKING:
    from onehook.desk.answers import Answer, Asked
    from onehook.desk.pin import Key


@click.command("approve", cls=Verb)
@click.argument("id", required=False, default="")
@click.argument("words", required=False, default="")
@click.option("--deny", is_flag=True, help="Deny the request; WORDS are passed to the model.")
@click.option("--session", is_flag=True, help="Apply the answer to every request with the same reason, for the rest of this session.")
@click.option("--instead", metavar="COMMAND", help="Approve this command instead of the requested one.")
@click.option("--list", "as_list", is_flag=True, help="Print the open requests, and exit.")
@click.option("--show", is_flag=True, help="Print one request in full.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts; same content as --list or --show.")
@click.option("--set-pin", is_flag=True, help="Set the PIN that answers are signed with, or change it.")
@click.option("--machine", is_flag=True, help="With --set-pin, as root: set it for the whole machine, where no agent can replace it.")
def command(
    id: str, words: str, deny: bool, session: bool, instead: str | None, as_list: bool, show: bool, as_json: bool, set_pin: bool,
    machine: bool,
) -> None:  # fmt: skip
    """Approve or deny what agents are waiting for.

    Without ID, show a list that waits for requests; keep it open in a separate window (ssh and tmux work). Its keys: a approves once, d
    denies with a message for the model, s approves for this session, e adds an exception until a date, r rewrites the command, j and k
    move, q quits.

    With ask_via = "desk", a call that a policy asks about is held until it is answered here (docs/approvals.md). Only a person can answer:
    with a PIN, which you set once, or, as long as none is set, from a terminal that no agent has started.

    \b
    Examples:
      onehook approve --set-pin                          once; answers with the PIN count wherever they are given
      onehook approve                                    the list
      onehook approve 6919b2c1                           approve this one; the beginning of its ID is enough
      onehook approve --deny 6919b2c1 "use the staging database"
      onehook approve 6919b2c1 --instead "git push origin my-branch"
      onehook approve --list --json
    """
    from onehook.desk import answers
    from onehook.setup.person import require

    if as_list or (as_json and not id):
        _print(answers.listed(), as_json)
        return
    if show or as_json:
        _print([answers.one(id)], as_json, whole=True)
        return
    require("run onehook approve", terminal=True)
    if set_pin:
        _set_pin(machine)
    elif id:
        _give(answers.one(id), _answer(deny, words, session, instead))
    else:
        _attend()


def _print(found: list[Asked], as_json: bool, whole: bool = False) -> None:
    from onehook.desk.show import details, subject, waiting

    if as_json:
        print_json([asked.to_dict() for asked in found])
        return
    for asked in found:
        lines = details(asked) if whole else [f"{asked.id}  {asked.title}, {waiting(asked)}: {subject(asked)}"]
        click.echo("\n".join(lines))
    if not found:
        click.echo("No open requests.", err=True)


def _answer(deny: bool, words: str, session: bool, instead: str | None) -> Answer:
    from onehook.desk.answers import Answer

    if words and not deny:
        raise click.UsageError("WORDS can only be used with --deny")
    if instead is not None and (deny or session):
        raise click.UsageError("--instead approves another command, once; remove --deny and --session")
    scope = "session" if session else "once"
    return Answer("deny" if deny else "allow", scope, words, None if instead is None else {"command": instead})


def _give(asked: Asked, answer: Answer) -> None:
    from onehook.desk import answers
    from onehook.desk.show import details

    click.echo("\n".join(details(asked)))
    if answer.input is not None:
        click.echo(f"  instead   {answer.input['command']}")
    key = _key()
    if key is None and not click.confirm("Deny it?" if answer.decision == "deny" else "Approve it?", default=True):
        raise click.ClickException("nothing was answered")
    click.echo(answers.give(asked, answer, key, by=user(), via="terminal"))


def _key() -> Key | None:
    """The person's key; None if no PIN is set, in which case the hook checks this process instead."""
    from onehook.desk import pin

    if not pin.is_set():
        return None
    key = pin.unlock(click.prompt("PIN", hide_input=True))
    pin.keep_private()
    return key


def user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


def _set_pin(machine: bool) -> None:
    from onehook.desk import pin
    from onehook.log.notes import note

    if pin.is_set() and not machine:
        click.echo("A PIN is already set.")
        pin.unlock(click.prompt("Current PIN", hide_input=True))
    chosen = click.prompt(f"New PIN ({pin.SHORTEST} characters or more)", hide_input=True, confirmation_prompt="Again")
    path = pin.set_pin(chosen, machine=machine)
    note("Pin", "the machine" if machine else "this user")
    click.echo(f"The PIN is set ({path} stores what is needed to check answers, not the PIN itself).")


def _attend() -> None:
    import sys

    if sys.platform == "win32":
        raise click.ClickException("the interactive list needs a terminal on Linux or macOS; use --list and `onehook approve ID`")
    from onehook.desk.terminal import attend

    attend(_key(), user(), _asked_in_the_terminal)


def _asked_in_the_terminal(question: str, start: str) -> str | None:
    """A line that the person types, starting from `start`; None after Ctrl-C or Ctrl-D."""
    import readline

    readline.set_startup_hook(lambda: readline.insert_text(start))
    try:
        return input(question)
    except (EOFError, KeyboardInterrupt):
        print()
        return None
    finally:
        readline.set_startup_hook()
