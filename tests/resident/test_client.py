"""The native client under the address and undefined behaviour sanitizers, with servers that send anything, stop anywhere, or do nothing."""

from __future__ import annotations

import contextlib
import os
import random
import re
import subprocess
import sys
import threading

import pytest
from harness import LAUNCH, clean_environment

from onehook.resident import asking

from .conftest import SOURCE, compiled

ROUNDS = int(os.environ.get("ONEHOOK_FUZZ", "60"))
COLD = (sys.executable, "-c", "import sys; print('COLD', len(sys.stdin.read())); sys.exit(7)", "-", "/policy")
VARIABLES = ({}, {"LANG": "xx"}, {"LC_ALL": "é" * 300, "LD_PRELOAD": ""}, {"BIG": "x" * 100_000}, {"EMPTY": ""})


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    flags = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    return compiled(tmp_path_factory.mktemp("checked"), *flags)


def as_bytes(env):
    return {os.fsencode(name): os.fsencode(value) for name, value in env.items()}


class Server(threading.Thread):
    """Listens where the client of this command looks, answers one connection as `script` says, and closes it."""

    def __init__(self, folder, env, script):
        super().__init__(daemon=True)
        import socket

        words = [os.fsencode(word) for word in COLD]
        self.path = folder / f"{asking.key_of(words, os.getcwdb(), as_bytes(env))}.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        before = os.getcwd()
        os.chdir(folder)
        self.listener.bind(self.path.name)
        os.chdir(before)
        self.listener.listen()
        self.script = script

    def run(self):
        with contextlib.suppress(OSError), self.listener:
            connection, _ = self.listener.accept()
            with connection:
                for step in self.script:
                    if isinstance(step, bytes):
                        connection.sendall(step)
                    else:
                        connection.recv(step)


def scripts():
    """Correct answers that are truncated or corrupted, and noise. A byte of an exit code is an answer only after the right letters."""
    chance = random.Random(20)
    for _ in range(ROUNDS):
        steps = [1 << 20, b"R\1\0\0\0", 6, b"W", b"X\5"]
        if chance.random() < 0.5:
            steps = steps[: chance.randrange(5)]
        for at, step in enumerate(steps):
            if isinstance(step, bytes) and chance.random() < 0.5:
                steps[at] = step[: chance.randrange(len(step))] if chance.random() < 0.5 else chance.randbytes(chance.randrange(64))
        yield steps


def test_whatever_a_server_says_the_command_is_run_or_the_server_has_answered(checked, tmp_path):
    folder = tmp_path / "s" / "resident"
    folder.mkdir(parents=True, mode=0o700)
    for number, script in enumerate(scripts()):
        env = clean_environment({"ONEHOOK_STATE_DIR": str(tmp_path / "s"), **VARIABLES[number % len(VARIABLES)]})
        server = Server(folder, env, script)
        server.start()
        done = subprocess.run([*checked, *COLD], input=b"stdin", capture_output=True, timeout=60, env=env, check=False)
        said = b"".join(step for step in script if isinstance(step, bytes))
        ready, writing, ended = said[:1] == b"R" and len(said) >= 5, said[5:6] == b"W", said[6:7] == b"X" and len(said) > 7
        expected = (7, b"COLD 5\n") if not (ready and writing) else (said[7] if ended else asking.KILLED, b"")
        assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, done.stderr.decode()
        assert (done.returncode, done.stdout) == expected, (script, done)
        server.listener.close()
        server.path.unlink()


@pytest.mark.parametrize("arguments", [(), ("/no/such/program",), ("/no/such/program", "-I", "-S", "launch", "policy")])
def test_a_command_that_cannot_be_run_ends_as_the_shell_says_it(checked, tmp_path, arguments):
    env = clean_environment({"ONEHOOK_STATE_DIR": str(tmp_path)})
    done = subprocess.run([*checked, *arguments], capture_output=True, timeout=60, env=env, check=False)
    assert done.returncode in (126, 127) and done.stderr


def test_both_clients_look_for_the_same_server(checked, tmp_path):
    """Compared by the file that each leaves when it starts one."""
    for number, more in enumerate(VARIABLES):
        for policy in ("/some/policy.py", "policy.py"):
            words = ["/bin/true", "-I", "-S", "launch", policy]
            env = clean_environment({"ONEHOOK_STATE_DIR": str(tmp_path / str(number)), **more})
            (tmp_path / str(number)).mkdir(exist_ok=True)
            subprocess.run([*checked, *words], timeout=60, env=env, cwd=tmp_path, check=True)
            key = asking.key_of([os.fsencode(word) for word in words], os.fsencode(tmp_path), as_bytes(env))
            assert (tmp_path / str(number) / "resident" / f"{key}.wait").exists()


def test_the_client_for_windows_knows_the_events_that_the_launcher_knows():
    """This client does itself what a shell does elsewhere; the rest of it is tested in test_windows.py."""
    source = SOURCE.with_name("onehook-client-windows.c").read_text()
    stoppable = re.search(r"stoppable\[\] = \{(.*?)\}", source, re.DOTALL)[1]
    with open(LAUNCH) as file:
        listed = re.search(r"STOPPABLE = \((.*?)\)", file.read(), re.DOTALL)[1]
    assert re.findall(r'L"(\w*)"', stoppable) == re.findall(r'"(\w*)"', listed)
