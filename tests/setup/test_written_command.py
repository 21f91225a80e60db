"""The command that install writes, started as each host starts it: in its shell, from another folder, with all kinds of paths."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import clean_environment

from onehook.core import Response
from onehook.hostkit.config import GUARD, Found, Wish
from onehook.hostkit.reverse import sample
from onehook.hosts import entry_hosts, load
from onehook.setup.command import read, without_guard
from onehook.setup.entries import ours_in
from onehook.setup.installed import config_files
from onehook.setup.plan import config_of, place_of
from tests.setup.installing import IN_PROJECTS, Place

NASTY = '-p q\' "d" $HOME `id` %x% é\\n'
POLICY_NAME = "-h é/-pol icy's $HOME `id`.py"
POLICY = """import onehook
from onehook import Hooks, deny
hooks = Hooks()

@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    if "rm -rf" in event.command:
        return deny("blocked by " + onehook.__file__)
"""
FISH = "/usr/bin/fish"  # of the agents, only Cursor runs hooks in it: in the user's login shell
HOSTS = IN_PROJECTS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")


def shells_of(host: str) -> list[list[str]]:
    program, *options = config_of(host).TRAITS.shell
    programs = ("/bin/bash", "/bin/sh", FISH) if program == "$SHELL" else (program,)
    return [[name, *options] for name in programs if shutil.which(name)]


def command_of(host: str, scope: str, place: Place) -> str:
    """The command in the file, read as the host reads it."""
    file = next(file for file in config_files(place.machine, [host]) if file.place.scope == scope and file.ours)
    assert file.place.format == "own" or not file.config.text_problems(file.place, file.place.path.read_text("utf-8"), file.data)
    native = file.config.EVENTS["PreToolUse"]
    return next(found.command for found in file.ours if found.event == native)


def answered(host: str, line: str, shell: list[str], cwd: Path, project: Path, home: Path, command: str, path: str) -> Response:
    event = sample("PreToolUse", "Bash", command=command, cwd=str(project))
    reverse = load(host, "reverse")
    environment = clean_environment({"HOME": str(home), "PATH": path, "ONEHOOK_STATE_DIR": str(home / "state")})
    environment.pop("CLAUDE_PROJECT_DIR", None)
    if takes_variable(host):
        environment["CLAUDE_PROJECT_DIR"] = str(project)
    done = subprocess.run(
        [*shell, line],
        input=json.dumps(reverse.payload(event, config_of(host).EVENTS["PreToolUse"])).encode(),
        capture_output=True,
        cwd=cwd,
        env=environment,
        timeout=60,
        check=False,
    )
    response: Response = reverse.answer(event, done.stdout.decode(), done.stderr.decode(), done.returncode)
    return response


def takes_variable(host: str) -> bool:
    """Whether the host says where the project is. If it has no command hooks, our plugin knows."""
    config = config_of(host)
    return "CLAUDE_PROJECT_DIR" in config.PROJECT or config.TRAITS.own_content is not None


def nasty_place(tmp_path: Path) -> Place:
    place = Place(tmp_path / "a b", NASTY, POLICY_NAME)
    place.policy.write_text(POLICY, encoding="utf-8")
    return place


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("host", HOSTS)
def test_it_denies_and_allows_from_another_folder(host: str, scope: str, tmp_path: Path) -> None:
    place = nasty_place(tmp_path)
    place.install([host], scope, events=["PreToolUse"])
    line = command_of(host, scope, place)
    elsewhere = place.project if config_of(host).PROJECT == "." and scope == "project" else tmp_path
    for shell in shells_of(host):
        denied = answered(host, line, shell, elsewhere, place.project, place.home, "rm -rf /", os.defpath)
        assert denied.decision == "deny" and "blocked by" in str(denied.reason or denied.user_message), (shell, line)
        assert answered(host, line, shell, elsewhere, place.project, place.home, "ls", os.defpath).decision != "deny"


@pytest.fixture(scope="module")
def folder_of_clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of a project with the portable form for every agent; only the first event in it has to compile the runtime."""
    folder = tmp_path_factory.mktemp("portable")
    place = nasty_place(folder)
    place.install(HOSTS, events=["PreToolUse"], portable=True)
    clone = folder / "clone of" / f"{NASTY}2"
    shutil.copytree(place.project, clone, symlinks=True)
    shutil.rmtree(place.project)
    (clone / POLICY_NAME).write_text(POLICY, encoding="utf-8")
    (clone / "src" / "deep").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(bare_python())
    return folder


@pytest.mark.parametrize("host", HOSTS)
def test_a_clone_with_a_bare_python_runs_the_portable_form(host: str, folder_of_clone: Path) -> None:
    cloned = Place(folder_of_clone / "clone of", f"{NASTY}2")
    clone, line = cloned.project, command_of(host, "project", cloned)
    folder = folder_of_clone if takes_variable(host) else clone / "src" / "deep" if config_of(host).PROJECT == "" else clone
    denied = answered(host, line, ["/bin/sh", "-c"], folder, clone, cloned.home, "rm -rf /", str(folder_of_clone / "bin"))
    assert denied.decision == "deny"
    package = str(denied.reason or denied.user_message).partition("blocked by ")[2]
    archive, inside = package.removesuffix("/onehook/__init__.py"), package.endswith("/onehook/__init__.py")
    assert inside and os.path.samefile(archive, clone / ".onehook" / "runtime.tar.gz")


def bare_python() -> str:
    """An interpreter without onehook: the one that this environment was created from."""
    base = str(getattr(sys, "_base_executable", sys.executable))
    found = subprocess.run([base, "-I", "-c", "import onehook"], capture_output=True, check=False)
    if found.returncode == 0:
        pytest.skip("the base interpreter has onehook too")
    return base


def test_the_command_names_the_interpreter_and_the_launcher_absolutely(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for host in HOSTS:
        place.install([host], "user", events=["PreToolUse"])
        words = command_of(host, "user", place).split()
        assert os.path.isabs(words[0]) and words[1:3] == ["-I", "-S"] and os.path.isabs(words[3])
        config = config_of(host)
        file = place_of(host, "user", place.machine)
        assert file is not None and (
            file.format == "own" or ours_in(config, next(s for s in config_files(place.machine, [host]) if s.ours).data)
        )


# --- the command cannot run, or hangs, under fail closed -------------------------------------------------------------------------

GUARDED = [host for host in HOSTS if config_of(host).TRAITS.guard]


def ran(line: str, host: str, project: Path, shell: str = "/bin/sh", path: str = os.defpath) -> subprocess.CompletedProcess[str]:
    event = sample("PreToolUse", "Bash", command="ls", cwd=str(project))
    payload = json.dumps(load(host, "reverse").payload(event, config_of(host).EVENTS["PreToolUse"]))
    variables = {"PATH": path, "HOME": str(project), "CLAUDE_PROJECT_DIR": str(project)}
    return subprocess.run(
        [shell, "-c", line], input=payload, capture_output=True, text=True, cwd=project, env=variables, timeout=60, check=False
    )


def unable(tmp_path: Path) -> dict[str, str]:
    """What may be found instead of an interpreter."""
    killed, silent = tmp_path / "killed", tmp_path / "silent"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    silent.write_text("#!/bin/sh\nexit 1\n")
    for program in (killed, silent):
        program.chmod(0o755)
    return {"gone": str(tmp_path / "no python"), "not executable": "/etc/hosts", "killed": str(killed), "silent": str(silent)}


@pytest.mark.parametrize("shell", [shell for shell in ("/bin/sh", "/bin/bash", "/bin/zsh", FISH) if os.path.exists(shell)])
@pytest.mark.parametrize("host", GUARDED)
def test_an_interpreter_that_cannot_run_is_a_deny_under_fail_closed(host: str, shell: str, tmp_path: Path) -> None:
    if shell == FISH and config_of(host).TRAITS.guard == GUARD:
        pytest.skip("the agent runs hooks in another shell")
    place = Place(tmp_path)
    place.install([host], events=["PreToolUse"], fail_closed=True)
    line = command_of(host, "project", place)
    assert ran(line, host, place.project, shell).returncode == 0
    for what, program in unable(tmp_path).items():
        done = ran(line.replace(os.path.abspath(sys.executable), shlex.quote(program)), host, place.project, shell)
        assert done.returncode == 2, (what, done)
        # Agents without their own key for this also need a reason.
        assert done.stderr.strip() or config_of(host).TRAITS.guard != GUARD, (what, done)


@pytest.fixture(scope="module")
def guarded_clone(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("guarded"))
    place.install(GUARDED, events=["PreToolUse"], fail_closed=True, portable=True)
    return place


@pytest.mark.parametrize("host", GUARDED)
def test_so_is_a_clone_without_python(host: str, guarded_clone: Place) -> None:
    line = command_of(host, "project", guarded_clone)
    assert ran(line, host, guarded_clone.project).returncode == 0
    assert ran(line, host, guarded_clone.project, path=str(guarded_clone.root)).returncode == 2


@pytest.mark.parametrize("host", GUARDED)
def test_a_deny_is_told_once(host: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.policy.write_text(POLICY.replace('"rm -rf"', '"ls"'), encoding="utf-8")
    place.install([host], events=["PreToolUse"], fail_closed=True)
    done = ran(command_of(host, "project", place), host, place.project)
    assert "blocked by" in done.stdout + done.stderr and "could not run" not in done.stderr


@pytest.mark.parametrize("host", HOSTS)
def test_an_event_that_cannot_be_stopped_and_fail_open_have_no_guard(host: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install([host], events=["PreToolUse", "PostToolUse", "Stop"])
    assert not any(" || exit" in found.command or "|| {" in found.command for found in entries(host, place))
    place.install([host], events=["PreToolUse", "PostToolUse", "Stop"], fail_closed=True)
    guarded = {found.event for found in entries(host, place) if without_guard(found.command)[1]}
    assert guarded == ({config_of(host).EVENTS["PreToolUse"]} if host in GUARDED else set())


def entries(host: str, place: Place) -> list[Found]:
    return [found for file in config_files(place.machine, [host]) for found in file.ours]


def test_agents_that_run_the_entries_of_another_get_the_same_command(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(HOSTS, fail_closed=True)
    for lender in HOSTS:
        for borrower in (host for host in entry_hosts(lender) if host != lender and host in HOSTS):
            both = [{config_of(host).EVENTS[e]: e for e in config_of(host).EVENTS} for host in (lender, borrower)]
            lent, own = ({names[f.event]: f.command for f in entries(h, place)} for names, h in zip(both, (lender, borrower), strict=True))
            assert all(own[event] == command for event, command in lent.items() if event in own)


HANGS = "import time\ntime.sleep(60)\n"


@pytest.mark.parametrize("host", HOSTS)
def test_a_policy_that_hangs_while_it_is_loaded_is_denied_before_the_agent_gives_up(host: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install([host], events=["PreToolUse"], fail_closed=True, timeout=1)
    place.policy.write_text(HANGS + POLICY, encoding="utf-8")
    line = command_of(host, "project", place)
    response = answered(host, line, ["/bin/sh", "-c"], place.project, place.project, place.home, "ls", os.defpath)
    assert response.decision == "deny" and "longer than 1 s" in str(response.reason or response.user_message)


@pytest.mark.parametrize("host", HOSTS)
def test_every_command_names_a_deadline_that_ends_before_the_agents_own(host: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    for timeout, written in ((None, "20"), (0.5, "0.5")):
        place.install([host], fail_closed=True, timeout=timeout)
        assert {line.option("timeout") for found in entries(host, place) if (line := read(found.command))} == {written}
        assert Wish(timeout=timeout).host_timeout > float(written)
