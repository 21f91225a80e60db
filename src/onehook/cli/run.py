"""onehook run: the launcher's work through the command line, for trying a policy by hand."""

from __future__ import annotations

import click

HELP = """Answer the event on stdin with POLICY, as a host's hook does.

\b
--host ID              claude, cursor, codex, ... (default: told from the payload)
--event NAME           the event, for payloads that do not name it
--fail open|closed     what an error means on events that can be stopped
--timeout S            seconds for the whole event
--ask-fallback D       what ask becomes where the host cannot ask: deny, allow, ask
--cursor-ask-fallback D   the same, for Cursor alone
--on-unsupported warn|deny   what a field that the host cannot honour means
--stop-limit N         how often in a row a Stop handler may send the agent back to work
--isolation process|thread   how the policy is kept apart

\b
Example:
  echo '{"tool_name": "Shell", "tool_input": {"command": "rm -rf /"}}' | onehook run policy.py --host contract
"""


@click.command("run", help=HELP, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.pass_context
def command(ctx: click.Context) -> None:
    from onehook.runner import main

    main(ctx.args)
