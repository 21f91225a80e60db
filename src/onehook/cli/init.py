"""onehook init: a policy to start from: a rules file, or Python with a test beside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from onehook.cli.choices import RULES_FILE, Verb, machine_of, project_option

SCHEMA_FILE = ".hooks/onehook.schema.json"
RULES = f"""#:schema ./{SCHEMA_FILE}
# What the coding agents in this repository may do: one file, every agent.
#   onehook explain 'git push -f'   what would be decided, and by which rule
#   onehook rules                   every rule that is on
#   onehook test                    every example of every rule

mode = "enforce"           # "observe" blocks nothing and reports what would be blocked: a good way to start in a large project
fail = "closed"            # if onehook itself breaks, the action is blocked; "open" lets it happen
packs = ["recommended"]    # rules that are right for everyone; add "cloud.aws", "kubernetes", "database", ... or "all"
self_protect = true        # the agent may not switch these rules off: this file, its own config, onehook itself

[permissions]              # Tool(specifier), as in Claude Code: deny before ask before allow
deny = ["Read(./.env*)", "Edit(./.env*)"]
ask = ["Bash(git push:*)"]
# allow = ["Bash(npm test:*)"]

# [levels]                 # off | log | warn | ask | deny, for a rule or a pack
# "git.reset-hard" = "ask"

# [[rule]]
# id = "prod-database"
# command = "psql|mysql * --host prod*"    # read as a shell would read it: through sudo, bash -c, --host=prod-1 ...
# reason = "production is changed through migrations"
# matches = ["psql --host prod-1"]         # `onehook test` checks both
# passes = ["psql --host dev"]
"""
POLICY = '''"""What the coding agents in this repository may do. One policy, every agent; see `onehook install --help`."""

from onehook import Hooks, deny, run
from onehook.policies import self_protect

# fail="closed": if this policy breaks or takes too long, the action is blocked. "open" lets it happen.
hooks = Hooks(fail="closed", timeout=10)

@hooks.on("PreToolUse", tool="Bash")
def no_destruction(event):
    # event.command, event.paths, event.changes, event.url and event.mcp mean the same on every agent.
    if "rm -rf" in event.command:
        return deny("rm -rf is blocked by policy; delete the files one by one")
    # Return nothing to leave the decision to the agent's own rules.


@hooks.on("PreToolUse", tool="Read|Write|Edit")
def no_secrets(event):
    for path in event.paths:
        if path.rpartition("/")[2].startswith(".env"):
            return deny(f"{path} contains secrets; ask the user for what you need from it")


# The agent may not switch this policy off: these files, its own config, onehook itself.
hooks.use(self_protect())

if __name__ == "__main__":
    run(hooks)
'''
TEST = '''"""Tests of policy.py on every agent's own payloads; run them with pytest. No agent is needed."""

from pathlib import Path


def test_rm_rf_is_denied(fire):
    fire("Bash", command="rm -rf build").assert_denied("rm -rf").assert_nothing_dropped()


def test_other_commands_are_left_to_the_agent(fire):
    fire("Bash", command="ls -la").assert_runs()


def test_env_files_are_denied(fire):
    fire("Read", file_path=".env").assert_denied("secrets")
    fire("Write", file_path="app/.env.local", content="KEY=1").assert_denied("secrets")
    fire("Edit", file_path=".env", old_string="a", new_string="b").assert_denied("secrets")


def test_other_files_are_left_to_the_agent(fire):
    fire("Read", file_path="README.md").assert_runs()


def test_the_agent_cannot_change_the_policy(fire):
    fire("Write", file_path=str(Path(__file__).with_name("policy.py")), content="").assert_denied("part of the policy")
'''


@click.command("init", cls=Verb)
@click.argument("directory", required=False)
@click.option("--rules", "kind", flag_value="rules", help=f"Write a rules file, {RULES_FILE}; no Python is needed.")
@click.option("--python", "kind", flag_value="python", help="Write a policy in Python, and its test. [default: ask; rules]")
@click.option("--install/--no-install", "install", default=None, help="Also install the policy, or not. [default: ask]")
@project_option
def command(directory: str | None, kind: str | None, install: bool | None, project: str | None) -> None:
    """Write a policy to start from, and offer to install it: a commented rules file (in DIRECTORY, default: the project), or a policy in
    Python with its test (default: .hooks)."""
    machine = machine_of(project)
    if kind is None and sys.stdin.isatty():
        kind = click.prompt("A rules file, or a policy in Python?", type=click.Choice(["rules", "python"]), default="rules")
    base = machine.project
    if kind == "python":
        folder = base / (directory or ".hooks")
        files = {folder / "policy.py": POLICY, folder / "test_policy.py": TEST}
    else:
        folder = base / (directory or ".")
        files = {folder / RULES_FILE: RULES, folder / SCHEMA_FILE: _schema()}
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
    click.echo(f"\nNext: edit it, run {check}, then `onehook install {place}` (first with --observe, to block nothing yet).")
