"""onehook init: create a starter policy: a rules file, or Python with a test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from onehook.cli.choices import RULES_FILE, Verb, machine_of, project_option

SCHEMA_FILE = ".hooks/onehook.schema.json"
TEMPLATES = Path(__file__).with_name("templates")


@click.command("init", cls=Verb)
@click.argument("directory", required=False)
@click.option("--rules", "kind", flag_value="rules", help=f"Write a rules file, {RULES_FILE}; no Python is needed.")
@click.option("--python", "kind", flag_value="python", help="Write a policy in Python, and its test. [default: ask; rules]")
@click.option("--install/--no-install", "install", default=None, help="Whether to install the policy. [default: ask]")
@project_option
def command(directory: str | None, kind: str | None, install: bool | None, project: str | None) -> None:
    """Create a starter policy, and offer to install it: a commented rules file (in DIRECTORY; default: the project), or a policy in
    Python with its test (default: .hooks)."""
    machine = machine_of(project)
    if kind is None and sys.stdin.isatty():
        kind = click.prompt("A rules file, or a policy in Python?", type=click.Choice(["rules", "python"]), default="rules")
    base = machine.project
    if kind == "python":
        folder = base / (directory or ".hooks")
        files = {folder / name: template(f"{name}.txt") for name in ("policy.py", "test_policy.py")}
    else:
        folder = base / (directory or ".")
        files = {folder / RULES_FILE: template(RULES_FILE), folder / SCHEMA_FILE: _schema()}
    _write(files)
    policy = next(iter(files))
    if install is None and sys.stdin.isatty():
        install = click.confirm("Install it into the agents found here?", default=True)
    if not install:
        _next(policy, folder)
        return
    from onehook.cli.install import command as install_command

    # On a terminal, install asks who it is for, and shows what it writes.
    asked = [] if sys.stdin.isatty() else ["--yes"]
    install_command.main(args=[str(policy), *asked, *(["--project", project] if project else [])], standalone_mode=False)


def template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _write(files: dict[Path, str]) -> None:
    there = [path for path in files if path.exists()]
    if there:
        raise click.ClickException(f"{there[0]} already exists; nothing was changed. Choose another folder, or edit that file")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {os.path.relpath(path)}")


def _schema() -> str:
    import json

    from onehook.rules.keys import json_schema

    return json.dumps(json_schema(), indent=2) + "\n"


def _next(policy: Path, folder: Path) -> None:
    place = os.path.relpath(policy)
    check = f"`pytest {os.path.relpath(folder)}`" if policy.suffix == ".py" else "`onehook test`"
    click.echo(f"\nNext: edit it, run {check}, then `onehook install {place}` (with --observe first, to block nothing yet).")
