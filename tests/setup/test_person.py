"""Who runs a command: an agent is recognised by its own table, and a person in the terminal of an editor is not an agent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import forks
import pytest
from harness import PATIENCE, clean_environment

from onehook.hosts import HOSTS, load
from onehook.setup.person import Process, agent_above, processes_above
from onehook.setup.plan import config_of, configurable
from tests.host_folders import facts

SHELL = Process(10, 1, ("-bash",), "/usr/bin/bash")
SEEN = {host: facts(host).PROCESS for host in HOSTS if facts(host).PROCESS}


def above(*processes: Process):
    return iter([SHELL, *processes])


@pytest.mark.parametrize("host", SEEN)
def test_an_agent_above_is_recognised(host):
    found = agent_above({}, above(Process(7, 1, SEEN[host])))
    assert found.startswith(f"{config_of(host).TITLE} runs this command (process 7")


def test_a_program_that_was_replaced_by_an_update_is_recognised_by_its_own_name():
    process = Process(7, 1, ("node-MainThread",), "/home/dev/.local/bin/claude")
    assert agent_above({}, above(process)).startswith("Claude Code")


@pytest.mark.parametrize("host", configurable())
def test_every_agent_is_recognised_by_a_variable_or_by_its_process(host):
    variables = config_of(host).TRAITS.shell_variables
    for name in variables:
        assert agent_above({name: "1"}, above()) == f"{config_of(host).TITLE} runs this command ({name} is set)"
    assert variables or host in SEEN


PERSONS = {
    "a terminal": [Process(5, 1, ("/usr/bin/gnome-terminal-server",))],
    "the terminal of an editor that has an agent": [
        Process(5, 1, ("/usr/share/cursor/cursor", "--type=utility"), "/usr/share/cursor/cursor")
    ],
    "a script that is called with the name of an agent": [Process(5, 1, ("bash", "deploy.sh", "claude"))],
    "a program that is given an agent's folder": [Process(5, 1, ("python3", "manage.py", "/opt/@openai/codex/x"))],
    "a folder that is named after an agent": [Process(5, 1, ("/home/gemini/bin/zsh",), "/home/gemini/bin/zsh")],
}


@pytest.mark.parametrize("case", PERSONS)
def test_a_person_is_not_taken_for_an_agent(case):
    assert agent_above({"PATH": "/bin", "CURSOR_TRACE_ID": "1", "CLAUDE_CODE_SSE_PORT": "1"}, above(*PERSONS[case])) == ""


def test_the_processes_above_are_found():
    script = "from onehook.setup.person import processes_above; print([p.number for p in processes_above()][:2])"
    command = f"{sys.executable} -c '{script}'; exit $?"  # `exit` keeps the shell from being replaced by the command
    child = subprocess.Popen(["/bin/sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert child.communicate(timeout=PATIENCE)[0].strip() == str([child.pid, os.getpid()])


# --- the command itself, at a terminal and without one


def typed(words: list[str], home: Path, **variables: str) -> tuple[int, str]:
    """Run a command in a new terminal, as if a person typed it; returns its exit code and output."""
    agents = [name for host in configurable() for name in config_of(host).TRAITS.shell_variables]
    environment = {name: value for name, value in clean_environment().items() if name not in agents}
    environment |= {"HOME": str(home), "ONEHOOK_STATE_DIR": str(home / "state"), **variables}
    done = forks.at_a_terminal(words, cwd=home, env=environment)
    return done.returncode, done.stdout


PAUSE = ["onehook", "pause", "--for", "1m"]
COLD = [sys.executable, "-I", "-m"]
inside_an_agent = pytest.mark.skipif(
    bool(agent_above({}, processes_above())), reason="an agent runs these tests, so that no person can be shown to be let through"
)


@inside_an_agent
def test_a_person_at_a_terminal_may_pause(tmp_path):
    code, shown = typed(COLD + PAUSE, tmp_path)
    assert code == 0 and "Paused until" in shown and (tmp_path / "state" / "pause.json").stat().st_mode & 0o777 == 0o600


def test_without_a_terminal_nobody_may(tmp_path):
    environment = clean_environment({"HOME": str(tmp_path), "ONEHOOK_STATE_DIR": str(tmp_path / "state")})
    done = subprocess.run(
        COLD + PAUSE, env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1 and "only a person can run onehook pause" in done.stderr
    assert not (tmp_path / "state" / "pause.json").exists()
    (log,) = (tmp_path / "state" / "log").glob("*.jsonl")
    assert '"event": "Refused"' in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("host", [host for host in configurable() if config_of(host).TRAITS.shell_variables])
def test_with_the_variable_of_an_agent_nobody_may(tmp_path, host):
    variable = config_of(host).TRAITS.shell_variables[0]
    code, shown = typed(PAUSE, tmp_path, **{variable: "1"})
    assert code == 1 and config_of(host).TITLE in shown and not (tmp_path / "state" / "pause.json").exists()


@pytest.mark.parametrize("verb", [["pause"], ["uninstall"], ["trust", "--rules", "onehook.toml", "--yes"]], ids=lambda verb: verb[0])
@pytest.mark.parametrize("name", [load("claude", "config").BINARIES[0], load("codex", "config").BINARIES[0]])
def test_a_terminal_that_an_agent_opens_is_the_agents(tmp_path, name, verb):
    """As with `script`, or with an empty environment: the parent processes reveal it."""
    agent = tmp_path / "bin" / name
    agent.parent.mkdir()
    shutil.copy2(shutil.which("dash") or shutil.which("bash") or "/bin/sh", agent)
    (tmp_path / "onehook.toml").write_text('packs = ["git"]\n', encoding="utf-8")
    command = f"env -i HOME={tmp_path} ONEHOOK_STATE_DIR={tmp_path}/state {sys.executable} -I -m onehook {' '.join(verb)}; exit $?"
    code, shown = typed([str(agent), "-c", command], tmp_path)
    assert code == 1 and f"only a person can run onehook {verb[0]}" in shown and config_of(name).TITLE in shown
