"""The command that install writes, started as each host starts it: in its shell, from another folder, whatever the paths are called."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import clean_environment

from onehook.core import Response
from onehook.hostkit.reverse import sample
from onehook.hosts import load
from onehook.setup.entries import ours_in
from onehook.setup.installed import config_files
from onehook.setup.plan import config_of, configurable, place_of
from tests.setup.installing import Place

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
SHELLS = {"sh": [["/bin/sh", "-c"]], "login": [[shell, "-lc"] for shell in ("/bin/bash", "/bin/sh") if os.path.exists(shell)]}
HOSTS = [host for host in configurable() if config_of(host).TRAITS.shell in SHELLS]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")


def command_of(host: str, scope: str, place: Place) -> str:
    """What stands in the file, read as the host reads it."""
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
    """Whether the host says where the project is. One without command hooks has a plugin of ours that knows it."""
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
    for shell in SHELLS[config_of(host).TRAITS.shell]:
        denied = answered(host, line, shell, elsewhere, place.project, place.home, "rm -rf /", os.defpath)
        assert denied.decision == "deny" and "blocked by" in str(denied.reason or denied.user_message), (shell, line)
        assert answered(host, line, shell, elsewhere, place.project, place.home, "ls", os.defpath).decision != "deny"


@pytest.mark.parametrize("host", HOSTS)
def test_a_clone_with_a_bare_python_runs_the_portable_form(host: str, tmp_path: Path) -> None:
    place = nasty_place(tmp_path)
    place.install([host], events=["PreToolUse"], portable=True)
    clone = tmp_path / "clone of" / f"{NASTY}2"
    shutil.copytree(place.project, clone, symlinks=True)
    shutil.rmtree(place.project)
    line = command_of(host, "project", Place(tmp_path / "clone of", f"{NASTY}2"))
    (clone / POLICY_NAME).write_text(POLICY, encoding="utf-8")
    below = clone / "src" / "deep"
    below.mkdir(parents=True)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "python3").symlink_to(bare_python())
    shell = ["/bin/sh", "-c"]
    folder = tmp_path if takes_variable(host) else below if config_of(host).PROJECT == "" else clone
    denied = answered(host, line, shell, folder, clone, place.home, "rm -rf /", str(binaries))
    assert denied.decision == "deny"
    package = str(denied.reason or denied.user_message).partition("blocked by ")[2]
    assert os.path.samefile(package, clone / ".onehook" / "runtime" / "onehook" / "__init__.py")


def bare_python() -> str:
    """An interpreter without onehook: the one that this environment was made from."""
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
