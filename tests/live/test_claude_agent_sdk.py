"""The adapter inside a program that uses the real Claude Agent SDK, which starts the Claude Code bundled with it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import onehook
from onehook.hostkit.live import Package
from onehook.prove.agents import cache_folder
from onehook.prove.model import ScriptedModel
from onehook.prove.registries import installed

SDK = Package("claude-agent-sdk", "0.2.182", "0.2.182", "python", disk_mb=420, registry="pypi")
PROGRAM = """
import asyncio, json, os, sys
from claude_agent_sdk import ClaudeAgentOptions, query
from onehook.adapters.claude_agent_sdk import hooks

async def main(policy, options):
    variables = {name: os.environ[name] for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "HOME")}
    tools = ["Bash", "Write", "Agent"]
    settings = ClaudeAgentOptions(cwd=os.getcwd(), env=variables, allowed_tools=tools, hooks=hooks(policy, **json.loads(options)))
    async for message in query(prompt="please go on", options=settings):
        pass

asyncio.run(main(*sys.argv[1:]))
"""
COMMAND = {"call": "Bash", "input": {"command": "echo ran > ran.txt", "description": "run a command"}}
POLICY = """
from onehook import Hooks, allow, deny
hooks = Hooks()
@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    ANSWER
"""


@pytest.fixture(scope="module")
def python() -> Path:
    folder = cache_folder() / f"claude-agent-sdk-{SDK.version}"
    program = folder / "bin" / SDK.binary
    if not (folder / ".complete").exists():
        installed(SDK, SDK.version, folder)
        (folder / ".complete").touch()
    return program


@pytest.fixture
def session(python: Path, tmp_path: Path) -> Any:
    """Runs the program with a policy; returns whether the command ran, and what the model was told."""

    def run(policy: str, name: str = "policy.py", **options: Any) -> tuple[bool, str]:
        home, project = tmp_path / "home", tmp_path / "project"
        home.mkdir()
        project.mkdir()
        (project / name).write_text(policy)
        (tmp_path / "program.py").write_text(PROGRAM)
        argv = [str(python), str(tmp_path / "program.py"), name, json.dumps(options)]
        with ScriptedModel([COMMAND, {"say": "done"}]) as model:
            env = {
                "HOME": str(home),
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(Path(onehook.__file__).parents[1]),
                "ANTHROPIC_API_KEY": "scripted",
                "ANTHROPIC_BASE_URL": model.url,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            }
            done = subprocess.run(argv, cwd=project, env=env, capture_output=True, text=True, timeout=180, check=False)
            assert done.returncode == 0, done
            return (project / "ran.txt").exists(), model.told()

    return run


def answering(line: str) -> str:
    return POLICY.replace("ANSWER", line)


def test_without_an_objection_the_command_runs(session: Any) -> None:
    assert session(answering("return None"))[0]


def test_a_deny_takes_effect_and_the_model_is_told(session: Any) -> None:
    ran, told = session(answering("return deny('not in this program')"))
    assert not ran and "not in this program" in told


def test_a_rules_file_takes_effect(session: Any) -> None:
    ran, told = session('[permissions]\ndeny = ["Bash(echo:*)"]\n', "onehook.toml", fail="closed")
    assert not ran and "Bash(echo:*)" in told


def test_a_rewrite_takes_effect(session: Any, tmp_path: Path) -> None:
    ran, _ = session(answering("return allow(modified_input={'command': 'echo other > other.txt'})"))
    assert not ran and (tmp_path / "project" / "other.txt").exists()


@pytest.mark.parametrize(("fail", "runs"), [("closed", False), ("open", True)])
def test_a_handler_that_raises_fails_as_told(session: Any, fail: str, runs: bool) -> None:
    assert session(answering("raise ValueError('broken')"), fail=fail)[0] is runs


@pytest.mark.parametrize(("fail", "runs"), [("closed", False), ("open", True)])
def test_a_handler_that_hangs_fails_as_told(session: Any, fail: str, runs: bool) -> None:
    assert session(answering("import time; time.sleep(3)"), fail=fail, timeout=0.5)[0] is runs
