"""onehook scan: scan text or a file with the content scanner, or check that the scanner can be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onehook.cli.choices import Verb, json_option, print_json, rules_file, rules_option
from onehook.core import UsageError
from onehook.scan.content import GATES

if TYPE_CHECKING:
    from onehook.scan.engine import Engine, Outcome
    from onehook.scan.settings import Settings

GOOD_SAMPLE = "Please rename the function `total` to `sum_of_items` and run the tests."


@click.command("scan", cls=Verb)
@click.argument("what", metavar="TEXT|FILE|-|verify")
@rules_option
@click.option("--policy", "policy_path", metavar="FILE", help="A policy in Python that uses scanner(), instead of a rules file.")
@click.option("--backend", metavar="NAME", help="A scanner with its default settings, instead of a policy's.")
@click.option(
    "--as", "gate", type=click.Choice(list(GATES)), help="What kind of content it is. [default: writes for a file, otherwise prompts]"
)
@click.option("--bad", metavar="TEXT", help="For verify: text that the scanner should reject.")
@json_option
def command(
    what: str, rules_path: str | None, policy_path: str | None, backend: str | None, gate: str | None, bad: str | None, as_json: bool
) -> None:
    """Scan TEXT, a FILE or stdin (-) with the content scanner of a policy, and print what it finds. `verify` checks the connection, the
    key, and that the scanner accepts harmless text and rejects harmful text.

    \b
    Examples:
      onehook scan verify
      onehook scan 'my password is hunter2'
      git diff | onehook scan - --as writes --json
      onehook scan notes.md --backend gitleaks

    The cache and the circuit breaker are bypassed. Exits with 1 if something is found, or if the scan fails.
    """
    from onehook.scan.engine import Engine

    settings = _settings(rules_path, policy_path, backend)
    engine = Engine(settings)
    if what == "verify":
        report = _verified(engine, bad)
        ok = all(step["ok"] for step in report["steps"])
        print_json({**report, "ok": ok}) if as_json else _show_steps(report)
    else:
        outcome = engine.scan([_sample(what, gate)], settings.seconds, fresh=True)
        ok = not outcome.found and not outcome.error
        print_json(_told(settings, outcome)) if as_json else _show(settings, outcome)
    if not ok:
        raise SystemExit(1)


def _settings(rules_path: str | None, policy_path: str | None, backend: str | None) -> Settings:
    """The settings of the first scanner that is named."""
    from onehook.scan.settings import Settings

    try:
        if backend is not None:
            return Settings(backend)
    except ValueError as error:
        raise UsageError(f"--backend: {error}; a rules file can set that") from None
    if policy_path is not None:
        from onehook.policies.scanning import Scan
        from onehook.policy import load_policy

        handlers = [one.handler for one in load_policy(policy_path).registrations]
        found = [handler.settings for handler in handlers if isinstance(handler, Scan)]
        where = policy_path
    else:
        from onehook.rules.load import layers_beside, load

        where = rules_file(rules_path)
        entries = load(where, [*layers_beside(where), ("project", where)]).table.header["policies"]
        found = [Settings(*positional, **named) for name, positional, named, _ in entries if name == "scanner"]
    if not found:
        raise UsageError(f"{where} has no scanner; see docs/scanner.md, or name one with --backend")
    return found[0]


def _sample(what: str, gate: str | None) -> Any:
    import os
    import sys

    from onehook.scan.content import pieces_of, written
    from onehook.scan.model import Sample

    if what == "-":
        return Sample(gate or "prompts", "stdin", pieces_of(sys.stdin.buffer.read().decode("utf-8", "replace")))
    if os.path.isfile(what):
        with open(what, encoding="utf-8", errors="replace") as file:
            return Sample(gate or "writes", what, written(what, file.read()))
    return Sample(gate or "prompts", "the text", pieces_of(what))


def _told(settings: Settings, outcome: Outcome) -> dict[str, Any]:
    names = ("category", "start", "end")
    found = [{**{name: getattr(one, name) for name in names}, "action": settings.action_of(one.category)} for _, one in outcome.found]
    return {"backend": settings.backend, "mode": settings.mode, "found": found, **outcome.to_dict()}


def _show(settings: Settings, outcome: Outcome) -> None:
    for sample, one in outcome.found:
        place = f" at {one.start} to {one.end}" if one.quote(sample.text) else ""
        click.echo(f"{click.style(settings.action_of(one.category), bold=True)}: {one.category}{place}")
    if outcome.error:
        click.secho(f"error: {outcome.error}", fg="red")
    elif outcome.skipped:
        click.echo("skipped: too long, or not a kind of content that is scanned")
    elif not outcome.found:
        click.secho("nothing found", fg="green")
    click.echo(f"{settings.backend}, {outcome.requests} {'request' if outcome.requests == 1 else 'requests'}, {outcome.ms:.0f} ms")


def _verified(engine: Engine, bad: str | None) -> dict[str, Any]:
    from onehook.scan.content import pieces_of
    from onehook.scan.model import Sample, ScanError
    from onehook.scan.transport import key_of

    settings = engine.settings
    before = engine.breaker.look()
    steps: list[dict[str, Any]] = []

    def step(name: str, ok: bool, text: str) -> bool:
        steps.append({"name": name, "ok": ok, "text": text})
        return ok

    def scan(text: str) -> Outcome:
        return engine.scan([Sample("prompts", "a sample", pieces_of(text))], settings.seconds, fresh=True)

    def check() -> None:
        if settings.url:
            try:
                key = key_of(settings)
                step("key", True, f"from {settings.key_file or settings.key_env}" if key else "none is needed")
            except ScanError as error:
                step("key", False, str(error))
                return
        good = scan(GOOD_SAMPLE)
        if not step("connection", not good.error, good.error or f"answered after {good.ms:.0f} ms"):
            return
        named = ", ".join(sorted({one.category for _, one in good.found}))
        step("known-good", not good.found, f"harmless text is rejected: {named}" if named else "harmless text passes")
        wanted = bad or engine.backend.BAD_SAMPLE
        if not wanted:
            steps.append({"name": "known-bad", "ok": True, "text": "not tried; pass some text with --bad"})
            return
        found = scan(wanted)
        named = ", ".join(sorted({one.category for _, one in found.found}))
        step("known-bad", bool(named), f"found: {named}" if named else found.error or "nothing was found in text that is known to be bad")

    check()
    place = settings.url or " ".join(map(str, settings.options.get("run", [settings.backend])))
    return {"backend": settings.backend, "at": place, "mode": settings.mode, "steps": steps, "breaker_before": before["state"]}


def _show_steps(report: dict[str, Any]) -> None:
    click.echo(f"{report['backend']}, {report['at']}, mode {report['mode']}")
    for step in report["steps"]:
        mark = click.style("ok    ", fg="green") if step["ok"] else click.style("failed", fg="red")
        click.echo(f"  {mark}  {step['name']:<10}  {step['text']}")
    if report["breaker_before"] != "closed":
        click.echo(f"  The circuit breaker was {report['breaker_before']}.")
