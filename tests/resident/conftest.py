"""A separate state folder for each test, the clients of resident mode, and no process left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import PATIENCE, Result, clean_environment, encoded, launcher

from onehook.setup import resident
from onehook.setup.command import PYTHON_CLIENT

SOURCE = Path(__file__).parents[2] / "client" / "onehook-client.c"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def compiled(folder, *flags):
    if COMPILER is None:
        pytest.skip("no C compiler here")
    program = folder / "onehook-client"
    built = subprocess.run([COMPILER, *WARNINGS, *flags, "-o", program, SOURCE], capture_output=True, text=True, check=False)
    if built.returncode and "-fsanitize" in " ".join(flags) and "cannot find" in built.stderr:
        pytest.skip("this compiler has no sanitizers")
    assert not built.returncode, built.stderr
    return (str(program),)


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("client"), "-O2")


@pytest.fixture(params=["native", "python"])
def client(request):
    return request.getfixturevalue("native") if request.param == "native" else (sys.executable, "-I", "-S", str(PYTHON_CLIENT))


class Agent:
    """Sends events to a policy through a client, and inspects the processes that answer."""

    def __init__(self, client, policy):
        self.client, self.policy = client, policy

    def command(self, *arguments):
        return [*self.client, *launcher(self.policy, *arguments)]

    def ask(self, payload, *arguments, env=None, **more):
        command, env = self.command(*arguments), clean_environment(env)
        done = subprocess.run(command, input=encoded(payload), capture_output=True, timeout=PATIENCE, env=env, check=False, **more)
        return Result(done.returncode, done.stdout, done.stderr)

    @property
    def server(self):
        found = [server for server in resident.servers(memory=False) if server.policy == str(self.policy)]
        return found[0] if found else None

    def until(self, holds, what):
        until = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < until, f"{what} did not come"
            time.sleep(0.02)

    def next_event(self, payload, *arguments):
        """Send another event; returns how many events the server has answered by then."""
        before = self.server.events
        self.ask(payload, *arguments)
        self.until(lambda: self.server and self.server.events > before, "an answer of the server")
        return self.server.events

    def warm(self, payload, *arguments, **more):
        """Send events until a process has started and answered; returns that answer."""
        self.ask(payload, *arguments, **more)
        asked = time.monotonic()
        while not self.server and time.monotonic() < asked + PATIENCE / 4:
            time.sleep(0.02)
        if not self.server:  # on a busy machine it may have ended again: the next event starts another
            self.ask(payload, *arguments, **more)
        self.until(lambda: self.server, "the server")
        before = self.server.events
        answer = self.ask(payload, *arguments, **more)
        self.until(lambda: self.server and self.server.events > before, "an answer of the server")
        return answer


@pytest.fixture
def agent(client, policy, nothing_left):
    """agent("return deny('no')") writes a policy and returns an Agent for it; keywords as for policy()."""
    return lambda handler="", **parts: Agent(client, policy(handler, **parts))


@pytest.fixture
def nothing_left():
    os.makedirs(os.environ["ONEHOOK_STATE_DIR"])
    before = children_of_nobody()
    yield
    until = time.monotonic() + PATIENCE
    while True:
        for server in resident.servers(memory=False):  # each time, since one that was still starting is not listed yet
            resident.stop(server)
        if not (left := children_of_nobody() - before):
            break
        assert time.monotonic() < until, f"left behind: {left}"
        time.sleep(0.05)
    assert resident.gone(PATIENCE)


def children_of_nobody():
    """The servers started by this test: found by their environment, which comes from the first client."""
    mine = f"ONEHOOK_STATE_DIR={os.environ['ONEHOOK_STATE_DIR']}".encode()
    found = set()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if b"--serve" in content(f"/proc/{name}/cmdline") and mine in content(f"/proc/{name}/environ").split(b"\0"):
                found.add(name)
        except OSError:
            continue
    return found


def content(path):
    with open(path, "rb", buffering=0) as file:
        return file.read()
