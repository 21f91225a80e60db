"""onehook explain: which rule of a rules file decides on a command, and why."""

from __future__ import annotations

import click

from onehook.cli.choices import Verb, json_option, print_json, rules_file, rules_option


@click.command("explain", cls=Verb)
@click.argument("what")
@rules_option
@json_option
def command(what: str, rules_path: str | None, as_json: bool) -> None:
    """Show how the rules judge WHAT: a shell command, or a call such as 'Read(.env)', 'Write(src/a.py)', 'WebFetch(https://...)' or
    'mcp__server__tool'.

    \b
    Examples:
      onehook explain 'sudo git push -f'
      onehook explain 'Read(.env)' --rules team/onehook.toml

    Nothing is run. Exits with 0 whatever the decision is.
    """
    from onehook.report.story import held_on
    from onehook.rules.explain import explain
    from onehook.rules.load import layers_beside

    path = rules_file(rules_path)
    explanation = explain(what, path, layers_beside(path))
    agents = held_on(explanation.event.tool, explanation.decision or "")
    if as_json:
        print_json({**explanation.to_dict(), "agents": agents})
        return
    colour = {"deny": "red", "ask": "yellow"}.get(explanation.decision or "", "green")
    click.echo(f"{click.style(explanation.decision or 'no objection', fg=colour, bold=True)}: {what}")
    for part in explanation.parts:
        via = f" (through {', '.join(part['via'])})" if part["via"] else ""
        click.echo(f"  read as: {part['command']}{via}")
    for finding in explanation.findings:
        click.echo(f"  {finding.record}: {click.style(finding.rule, bold=True)}, severity {finding.severity}")
        click.echo(f"    {finding.reason}")
        click.echo(f"    set in {finding.file}:{finding.line} ({finding.layer})")
    for finding in explanation.excepted:
        click.echo(f"  {finding.record} by {click.style(finding.rule, bold=True)} does not count: an [[exception]] covers it")
        if finding.exception:
            click.echo(f"    {finding.exception['reason']} ({finding.exception['file']}:{finding.exception['line']})")
    for outcome, names in agents.items():
        click.echo(f"  on {', '.join(names)}: {outcome}")
    if not explanation.findings and not explanation.excepted:
        click.echo(f"  no rule of {path} matches; `onehook rules` lists those that are on")
    elif explanation.deciding is not None and explanation.deciding.permission:
        deciding = explanation.deciding
        click.echo(f"\nTo change it, edit [permissions] in {deciding.file}, line {deciding.line}.")
    elif explanation.deciding is not None:
        click.echo(f'\nTo change it, add to {path}:\n  [levels]\n  "{explanation.deciding.rule}" = "log"    # off, log, warn, ask or deny')
