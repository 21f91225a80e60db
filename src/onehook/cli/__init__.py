"""The command line: one file per verb, each loaded only when it is called."""

from __future__ import annotations

import importlib

import click

# verb -> one line for --help. The verb's code is onehook.cli.<verb>, and its command is called `command`.
VERBS = {
    "install": "Wire a policy into every agent.",
    "uninstall": "Take it out again, without a trace.",
    "status": "Show what is installed where.",
    "doctor": "Check that a deny would take effect, host by host.",
    "init": "Write a small policy and its test to start from.",
    "fire": "Fire an event at a policy and see what each host would do.",
    "lint": "Say what in a policy cannot work where.",
    "hosts": "List the hosts and how well each is known.",
    "import": "Take the hooks that are configured already to every agent.",
    "prove": "Run the real agents against a scripted model and see what takes effect.",
    "model": "Serve the scripted model on its own.",
    "record": "Keep the events of a live session as fixtures.",
    "replay": "Run what has happened through a policy; compare two policies.",
    "run": "Answer one event on stdin: what hosts start.",
}


def _module(verb: str) -> str:
    return "import_" if verb == "import" else verb  # import is a keyword


class Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"onehook.cli.{_module(cmd_name)}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their lines, without importing any of them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            import difflib

            close = difflib.get_close_matches(args[0], VERBS, 1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"no such verb: {args[0]!r}.{hint} The verbs are {', '.join(VERBS)}.") from None


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from onehook.version import VERSION

        click.echo(f"onehook {VERSION}")
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version and exit.")
def main() -> None:
    """One hook, every coding agent, proven."""
