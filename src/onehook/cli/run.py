"""onehook run: what the launcher does, from the command line, to try a policy by hand."""

from __future__ import annotations

import click

HELP = """Answer the event on stdin with POLICY, as the installed hook does.

\b
--host ID                    the agent: claude, cursor, codex, ... (default: detected from the payload)
--event NAME                 the event, for payloads that do not name it
--fail open|closed           whether an error lets the action through or blocks it
--timeout S                  seconds for the whole event
--ask-fallback D             what ask becomes on agents that cannot ask: deny, allow, ask
--cursor-ask-fallback D      the same, for Cursor only
--ask-via agent|desk|desk-always   who asks a person (docs/approvals.md)
--ask-wait S                 the longest time that the desk waits for a person, in seconds
--on-unsupported warn|deny   what to do if the agent does not support part of the answer
--stop-limit N               how many times in a row a Stop handler may keep the agent working
--log on|off|required        whether the decision is logged
--isolation process|thread   where the policy runs

\b
Exit codes and output are those that the agent expects from a hook.

\b
Example:
  echo '{"tool_name": "Shell", "tool_input": {"command": "rm -rf /"}}' | onehook run policy.py --host contract
"""


@click.command(
    "run", help=HELP, options_metavar="POLICY [OPTIONS]", context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
@click.pass_context
def command(ctx: click.Context) -> None:
    from onehook.runner import main

    main(ctx.args)
