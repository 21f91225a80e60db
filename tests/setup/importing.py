"""Shared by the tests of `onehook import`: a repository with the hooks of one host, and whether they start on another.

A host is tested if it has tests/hosts/<id>/import_facts.py:
    FOLDER    where its scripts are
    DENY      a line of shell that denies in the host's dialect
    files()   its config files, by name; they start the scripts of STARTS, and others that cannot be carried over
    REFUSED   what cannot be carried over -> why;  LOSSES: what is lost from what can be
    TIMEOUTS, MATCHED, SOURCES, NAMED   what must be kept for which script
    MATCHERS  (matcher, tools or None) of the event TOOL_EVENT;  UNITS: (given, seconds);  UNUSABLE: (handler, why), both of STOP_EVENT
    OFF       what switches hooks off in a config file, if anything does;  FLAT: a handler is directly in its event, without a group
    EXTRA     scripts that are carried over in addition to those of STARTS;  GUARD_CWD: where the guard starts
"""

from __future__ import annotations

import importlib
import subprocess

import pytest
from click.testing import CliRunner
from harness import fire

from onehook.cli import main
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.policy import load_policy
from tests.host_folders import with_folders

# Saves its input, and the folder it was started in; the guard denies in its host's dialect.
SCRIPT = """#!/bin/sh
cat > "$CLAUDE_PROJECT_DIR/log/{name}"
{{ pwd; echo "$LEVEL"; }} > "$CLAUDE_PROJECT_DIR/log/{name}.where"
{answer}
"""
# name -> (event, tool, fields) that must start it, on every host
STARTS = {
    "guard": ("PreToolUse", "Bash", {"command": "rm -rf build"}),
    "files": ("PreToolUse", "Write", {"file_path": "{repo}/.env", "content": "x"}),
    "github": ("PreToolUse", "MCP", {"server": "github", "tool": "create_issue"}),
    "format": ("PostToolUse", "Edit", {"file_path": "{repo}/a.py", "old_string": "a", "new_string": "b"}),
    "log": ("PostToolUse", "Bash", {"command": "make"}),
    "context": ("SessionStart", "", {"source": "startup"}),
    "prompt": ("UserPromptSubmit", "", {"prompt": "hello"}),
    "stop": ("Stop", "", {}),
}
SOURCES = with_folders("import_facts.py")


def import_facts(host):
    return importlib.import_module(f"tests.hosts.{host}.import_facts")


def script(folder, name):
    return f"{folder}/scripts/{name}.sh"


def command(folder, name, /, **more):
    return {"type": "command", "command": f"./{script(folder, name)}", **more}


def group(folder, name, /, matcher=None, **more):
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": [command(folder, name, **more)]}


def repository(folder, host):
    """A repository with the hooks of a host."""
    own = import_facts(host)
    for name in (".git", "log", "src/deep", f"{own.FOLDER}/scripts"):
        (folder / name).mkdir(parents=True)
    for name in (*STARTS, *own.EXTRA):
        path = folder / script(own.FOLDER, name)
        path.write_text(SCRIPT.format(name=name, answer=own.DENY if name == "guard" else ""))
        path.chmod(0o755)
    for name, text in own.files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def onehook(repo, *arguments):
    """Run a verb in this process: a new one takes ten times as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repo)
        patch.setenv("HOME", str(repo.parent))
        patch.setenv("ONEHOOK_STATE_DIR", str(repo.parent / "state"))
        done = CliRunner().invoke(main, [*arguments, "--project", str(repo)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def uninstalled(repo):
    """In this process: a new one would have the agent that runs the tests among its parents, which uninstall refuses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(repo.parent))
        patch.setenv("ONEHOOK_STATE_DIR", str(repo.parent / "state"))
        return CliRunner().invoke(main, ["uninstall", "--project", str(repo)]).exit_code == 0


def imported(repo, *arguments):
    done = onehook(repo, "import", *arguments)
    assert done.returncode == 0, done.stderr
    return done


def started(repo, name, host, cwd=None):
    """Whether the hook is started by its event on a host; the log is emptied first."""
    for mark in (repo / "log").iterdir():
        mark.unlink()
    event, tool, fields = STARTS[name]
    fields = {key: value.replace("{repo}", str(repo)) for key, value in fields.items()}
    payload = load(host, "reverse").payload(sample(event, tool, session_id="s", cwd=str(cwd or repo), **fields))
    result = fire(repo / "onehook.toml", payload, "--host", host, cwd=cwd or repo)
    assert "warning" not in result.stderr, result
    return (repo / "log" / name).exists()


def programs(repo, names):
    found = {}
    for registration in load_policy(str(repo / "onehook.toml")).registrations:
        program = registration.handler
        text = program.run if isinstance(program.run, str) else " ".join(program.run)
        (name,) = [name for name in names if f"{name}.sh" in text]
        found[name] = (registration, program)
    return found


def one(host, event, handler=None, **around):
    """The only hook of a config, as an import reads it."""
    handler = {"type": "command", "command": "x", **(handler or {})}
    entry = {**handler, **around} if import_facts(host).FLAT else {**around, "hooks": [handler]}
    (hook,) = load(host, "imports").handlers({"hooks": {event: [entry]}})
    return hook
