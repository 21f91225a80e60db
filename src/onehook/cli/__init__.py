"""The command line: one file per verb, each loaded only when it is called."""

from __future__ import annotations

import importlib

import click

# verb -> one line for --help. The verb's code is onehook.cli.<verb>, and its command is called `command`.
VERBS = {
    "install": "Install a policy into every agent.",
    "uninstall": "Remove a policy; every config is restored to what it was.",
    "status": "Show which policies are installed, and where.",
    "doctor": "Check, agent by agent, that a deny would take effect.",
    "verify": "Check that the configs are still as install wrote them; for cron and CI.",
    "pause": "Suspend all policies, or one rule, for a while. Refused to agents.",
    "resume": "End a pause.",
    "approve": "Approve or deny what agents are waiting for. Refused to agents.",
    "desk": "Open a page that shows your agents and answers their requests. Refused to agents.",
    "init": "Create a starter policy: a rules file, or Python.",
    "fire": "Send an event to a policy and show what each agent would do.",
    "lint": "Report what will not work, and on which agents.",
    "explain": "Show which rule decides on a command, and why.",
    "log": "Show what was decided, by which rule, and why.",
    "scan": "Scan text or a file with the content scanner, or check its connection.",
    "stats": "Count decisions by rule, agent, project, day or handler.",
    "report": "Write the decision log as one page with charts, to share.",
    "telemetry": "Show whether the log reaches its OpenTelemetry collector, or send it now.",
    "rules": "List the active rules, with their levels.",
    "test": "Check the examples of every rule.",
    "trust": "Accept a changed pinned policy, or trust this project's rules file in full.",
    "hosts": "List the supported agents and what their support is based on.",
    "import": "Turn existing hooks into a manifest that runs on every agent.",
    "prove": "Run the real agents against a scripted model and check what takes effect.",
    "model": "Serve the scripted model by itself.",
    "record": "Record the events of a live session.",
    "replay": "Run past events through a policy, or compare two policies.",
    "serve": "Show or stop the processes that answer events in resident mode.",
    "run": "Answer one event on stdin; this is the command that agents run.",
}
# The same for every verb but `run`, which speaks its agent's protocol, and `record`, which passes on the exit code of the agent.
EXIT_CODES = {
    0: "success, nothing to report",
    1: "a finding, or the command failed",
    2: "wrong usage: an unknown option, agent or event, or a file that does not exist",
}


class Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = "import_" if cmd_name == "import" else cmd_name  # import is a keyword
        command: click.Command = importlib.import_module(f"onehook.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs and the exit codes, without importing any verb."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])

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
