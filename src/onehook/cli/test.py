"""onehook test: check the examples of every rule."""

from __future__ import annotations

import click

from onehook.cli.choices import Verb, json_option, print_json, rules_file, rules_option


@click.command("test", cls=Verb)
@rules_option
@json_option
def command(rules_path: str | None, as_json: bool) -> None:
    """Check the `matches` and `passes` examples of every active rule: your own, and those of packs.

    Exits with 1 if an example fails.
    """
    from onehook.rules.explain import try_samples
    from onehook.rules.load import layers_beside

    path = rules_file(rules_path)
    samples = try_samples(path, layers_beside(path))
    failing = [sample for sample in samples if not sample.holds]
    if as_json:
        rows = [{"rule": one.rule, "example": one.text, "should_match": one.wanted, "matches": one.got} for one in samples]
        print_json({"passed": len(samples) - len(failing), "failed": len(failing), "examples": rows})
    else:
        for sample in failing:
            click.echo(f"{click.style('FAIL', fg='red')} {sample}")
        click.echo(f"{len(samples) - len(failing)} passed, {len(failing)} failed")
    raise SystemExit(1 if failing else 0)
