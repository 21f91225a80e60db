"""onehook init: a small policy to start from, with a test beside it."""

from __future__ import annotations

import os
import sys

import click

from onehook.cli.choices import Verb, machine_of, project_option

POLICY = '''"""What the coding agents in this repository may do. One policy, every agent; see `onehook install --help`."""

from onehook import Hooks, deny, run

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


if __name__ == "__main__":
    run(hooks)
'''
TEST = '''"""Tests of policy.py on every agent's own payloads; run them with pytest. No agent is needed."""


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
'''


@click.command("init", cls=Verb)
@click.argument("directory", default=".hooks")
@click.option("--install/--no-install", "install", default=None, help="Also install the policy, or not. [default: ask]")
@project_option
def command(directory: str, install: bool | None, project: str | None) -> None:
    """Write a small, commented policy and its test into DIRECTORY (default: .hooks), and offer to install it."""
    folder = machine_of(project).project / directory
    files = {folder / "policy.py": POLICY, folder / "test_policy.py": TEST}
    there = [path for path in files if path.exists()]
    if there:
        raise click.ClickException(f"{there[0]} already exists; nothing was changed. Choose another folder, or edit that file")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {os.path.relpath(path)}")
    if install is None and sys.stdin.isatty():
        install = click.confirm("Install it into the agents found here?", default=True)
    policy = str(folder / "policy.py")
    if not install:
        click.echo(f"\nNext: edit it, run `pytest {os.path.relpath(folder)}`, then `onehook install {os.path.relpath(policy)}`.")
        return
    from onehook.cli.install import command as install_command

    arguments = [policy, "--yes", *(["--project", project] if project else [])]
    install_command.main(args=arguments, standalone_mode=False)
