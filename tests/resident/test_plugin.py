"""The plugins of agents without command hooks, as install --resident writes them, in Node: they ask the warm process, and start none.

Each of them is imported once as it is, and once as install writes it without resident mode: the latter's answer is taken as correct.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import PATIENCE, clean_environment, launcher, tool_payload

from onehook.cli import main
from onehook.hostkit.config import Commands, Machine, Wish
from onehook.hostkit.plugin import CONNECTION
from onehook.hosts import having, load
from onehook.resident import asking, inline
from onehook.setup import resident

from .conftest import Agent
from .test_client import VARIABLES, as_bytes
from .test_resident import stopped

NODE = shutil.which("node")
CONFIGS = {host: config for host in having("config") if (config := load(host, "config")).TRAITS.own_content}  # those with a plugin
ROUNDS = int(os.environ.get("ONEHOOK_FUZZ", "40"))
EXPORTS = {"resident.js": "\nexport { reach, keyOf, folderOf }\n", "plain.js": "\nexport { reach }\n"}
EVERYTHING = """
if "rewrite" in event.command:
    return Response(modified_input={"command": "safe é"})
if "context" in event.command:
    return Response(additional_context="seen", user_message="to you")
if "raise" in event.command:
    raise ValueError(event.command)
print(sys.argv, os.getcwd(), os.umask(0), sorted(os.environ.items()), sys.stdout.encoding, time.tzname, sys.path, sys.flags)
return deny("no é") if "deny" in event.command else None
"""
TOP = "import os, sys, time\nfrom onehook import Response"
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="this system does not tell whose answer it is")
pytestmark = [pytest.mark.skipif(NODE is None, reason="node is not installed"), pytest.mark.usefixtures("nothing_left")]


class Node:
    """Shared by one test after another: starting it takes longer than most tests. What is imported into it is separate for each test."""

    def __init__(self):
        self.process, self.waits = None, False

    def become(self, folder):
        if self.process is None or self.process.poll() is not None or self.waits:
            self.end()
            self.process = subprocess.Popen([NODE, Path(__file__).with_name("plugin.mjs")], stdin=-1, stdout=-1)
        self._send({"cwd": str(folder), "env": clean_environment({"SOME": "é"})})

    def call(self, *asked):
        self.waits = True  # until it has answered: a test may fail before that
        self._send(dict(zip(("file", "name", "given"), asked, strict=True)))
        answer = json.loads(self.process.stdout.readline())
        self.waits = False
        return answer

    def _send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
        self.waits = False


@pytest.fixture(scope="module")
def node():
    node = Node()
    yield node
    node.end()


class Inside:
    """An agent with onehook's plugin in it."""

    def __init__(self, node, folder, host, policy, client, *more, timeout=20.0):
        self.node, self.folder, self.host, self.policy = node, folder, host, policy
        self.started, counting = folder.with_name("started"), folder.with_name("client")  # outside what it takes for the project
        counting.write_text(f'#!/bin/sh\necho >> {self.started}\nexec {client} "$@"\n')
        counting.chmod(0o755)
        words = tuple(map(str, launcher(policy, "--host", host, "--event", "PreToolUse", "--fail", "closed", *more)))
        for name, before in (("resident.js", (str(counting),)), ("plain.js", ())):
            config = CONFIGS[host]
            machine = Machine(folder / "home", folder, {}, "linux")
            lines = {"PreToolUse": Commands("", "", "", (*before, *words), len(before))}
            content = config.TRAITS.own_content(config.places(machine)[0], lines, Wish(fail_closed=True, timeout=timeout), machine)
            content = content.replace(b"MAX_SECONDS = 2.5\n", b"MAX_SECONDS = 60\n")  # the agent's limit is short, the machine may be busy
            (folder / name).write_bytes(content + EXPORTS[name].encode())
        (folder / "package.json").write_text('{"type": "module"}')
        node.become(folder)

    def call(self, file, name, *given):
        return self.node.call(str(self.folder / file), name, given)

    def ask(self, command="ls"):
        return self.call("resident.js", "reach", tool_payload(self.host, command))

    def ask_cold(self, command="ls"):
        return self.call("plain.js", "reach", tool_payload(self.host, command))

    @property
    def processes(self):
        """How many have been started."""
        return len(self.started.read_text()) if self.started.exists() else 0

    @property
    def server(self):
        return Agent((), self.policy).server

    def until(self, holds, what):
        Agent((), self.policy).until(holds, what)

    def warm(self):
        """The first event starts the server, and is answered without it."""
        self.ask()
        self.until(lambda: self.server, "the server")
        return self

    def served(self, command="ls"):
        """Ask, and check that the server has answered and that no process was started."""
        self.until(lambda: self.server, "the server")
        server = self.server  # None if the state found was that of a server that has been killed
        events, processes = server.events if server else 0, self.processes
        answer = self.ask(command)
        self.until(lambda: self.server and self.server.events > events, "an answer of the server")
        assert self.processes == processes
        return answer

    def started_for(self, command="ls"):
        """Ask, and check that the command was run."""
        processes = self.processes
        answer = self.ask(command)
        assert self.processes == processes + 1
        return answer

    @property
    def key(self):
        words = [os.fsencode(word) for word in launcher(self.policy)]
        return asking.key_of(words, b"", as_bytes(clean_environment()))


@pytest.fixture
def inside(node, native, policy, tmp_path):
    """inside("return deny('no')") writes a policy and returns an agent that asks it; more arguments as install would write them."""

    def start(handler, *more, host="pi", top="", timeout=20.0):
        folder = tmp_path / "agent"
        folder.mkdir()
        return Inside(node, folder, host, policy(handler, top=top), native[0], *more, timeout=timeout)

    return start


@pytest.mark.parametrize("host", CONFIGS)
def test_the_answer_is_that_of_the_command_and_no_process_is_started(inside, host):
    one = inside(EVERYTHING, host=host, top=TOP).warm()
    for command in ("deny", "ls", "rewrite", "context", "raise", "deny é \ud800", "deny" * 100_000):
        assert one.served(command) == one.ask_cold(command)
    assert "SOME" in one.ask("deny")["stderr"] and "no \\u00e9" in one.ask("deny")["stdout"]


def test_many_at_once(inside):
    one = inside(EVERYTHING, top=TOP).warm()
    (one.folder / "many.js").write_text(
        "import { reach } from './resident.js'\nexport const many = (payloads) => Promise.all(payloads.map((payload) => reach(payload)))\n"
    )
    commands = ["deny", "ls", "rewrite"] * 10
    answers = one.call("many.js", "many", [tool_payload("pi", command) for command in commands])
    right = {command: one.ask_cold(command)["stdout"] for command in set(commands)}
    assert [answer["stdout"] for answer in answers] == [right[command] for command in commands]


def test_it_looks_for_the_server_where_the_clients_do(inside):
    one = inside("return None")
    words = [os.fsencode(word) for word in launcher(one.policy)]
    for variables in ({}, {"HOME": "/h"}, {"HOME": "/h", "XDG_STATE_HOME": "/x"}, *VARIABLES):
        env = {"ONEHOOK_STATE_DIR": "", **variables}
        assert one.call("resident.js", "keyOf", env) == asking.key_of(words, b"", as_bytes(env))
        if folder := asking.folder_of(as_bytes(env)):
            assert one.call("resident.js", "folderOf", env) == os.fsdecode(folder)


def all_of(server):
    return [server.pid, *resident._children(server.pid)]


def test_a_server_that_was_killed_is_not_missed_and_comes_back(inside):
    one = inside("return deny('no')").warm()
    right, first = one.served(), one.server.pid
    for pid in all_of(one.server):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    one.until(lambda: not one.server, "its end")
    assert one.started_for() == right
    for path in resident.folder().glob("*.wait"):
        path.unlink()
    assert one.warm().served() == right and one.server.pid != first


def test_a_server_that_does_not_answer_is_not_waited_for(inside):
    one = inside("return deny('no')").warm()
    right = one.served()
    with stopped(one.server.pid):
        assert one.started_for() == right


def test_a_changed_policy_counts_at_once(inside, policy):
    one = inside("return deny('first')").warm()
    assert "first" in one.served()["stdout"]
    policy("return deny('second')")
    assert "second" in one.ask()["stdout"]


def test_a_folder_that_others_can_enter_is_not_used(inside):
    one = inside("return deny('no')").warm()
    right = one.served()
    resident.folder().chmod(0o755)
    assert one.started_for() == right
    resident.folder().chmod(0o700)
    assert one.served() == right


def test_isolation_in_a_thread_is_not_for_the_server(inside):
    one = inside("return deny('no')", "--isolation", "thread")
    one.warm()
    assert "no" in one.started_for()["stdout"]


def test_what_is_too_large_for_the_connection_is_not_for_the_server(inside):
    one = inside("return deny(str(len(event.command)))").warm()
    assert str(inline.MAX_STDIN - 2000) in one.served("x" * (inline.MAX_STDIN - 2000))["stdout"]
    assert str(inline.MAX_STDIN) in one.started_for("x" * inline.MAX_STDIN)["stdout"]


def test_an_answer_of_megabytes(inside):
    one = inside("return deny(event.command[::-1])").warm()
    assert "ba" * 2_000_000 in one.served("ab" * 2_000_000)["stdout"]


def test_what_a_handler_leaves_behind_keeps_nobody_waiting(inside, tmp_path):
    answered = tmp_path / "answered"
    stays = f"    while not os.path.exists({str(answered)!r}): time.sleep(0.02)"
    one = inside(f"if os.fork() == 0:\n{stays}\n    os._exit(0)\nreturn deny('no')", top="import os, time").warm()
    assert "no" in one.served()["stdout"]
    answered.touch()


def test_an_event_whose_process_is_killed_is_blocked(inside):
    """On both attempts: first through the server, then by the command."""
    one = inside("if 'kill' in event.command:\n    os.kill(os.getppid(), 9)", top="import os").warm()
    answer = one.started_for("kill")
    assert "fail=closed" in answer.get("stdout", "") + answer.get("stderr", "") or answer["problem"]
    assert one.served()["code"] == 0


# --- other programs instead of the server


class Fake(threading.Thread):
    """Listens where the plugin looks. `converse` gets the connection and the request, and sends anything. Later connections are closed."""

    def __init__(self, key, converse):
        super().__init__(daemon=True)
        self.converse = converse
        self.path = resident.folder() / f"{key}.sock"
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        before = os.getcwd()
        os.chdir(self.path.parent)
        self.listener.bind(self.path.name)
        os.chdir(before)
        self.listener.listen()

    def run(self):
        with contextlib.suppress(OSError):
            connection, _ = self.listener.accept()
            with connection:
                self.converse(connection, taken(connection))
            while True:
                self.listener.accept()[0].close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.join(PATIENCE)
        self.listener.close()
        self.path.unlink(missing_ok=True)


def taken(connection):
    """A whole request."""
    data = b""
    while len(data) < (size := size_of(data)):
        data += connection.recv(size - len(data))
    return data


def size_of(data):
    if len(data) < 16:
        return 16
    body = 16 + int.from_bytes(data[4:8], "little")
    if len(data) < body + 24:
        return body + 24
    return body + 24 + sum(int.from_bytes(data[at : at + 4], "little") for at in (body + 16, body + 20))


def answer_of(stdout, stderr, code):
    return bytes([ord("X"), code]) + b"".join(len(text).to_bytes(4, "little") for text in (stdout, stderr)) + stdout + stderr


@contextlib.contextmanager
def named(name):
    """Give this process a name, as ps shows it."""
    path = Path(f"/proc/{os.getpid()}/comm")
    before = path.read_bytes()
    path.write_bytes(name)
    yield
    path.write_bytes(before)


RIGHT = answer_of(b'{"decision": "deny", "reason": "of the fake"}\n', b"", 0)
READY = b"R" + os.getpid().to_bytes(4, "little")


def spoilt(chance):
    """An answer that is truncated, changed, or followed by something; or noise."""
    said = READY + RIGHT
    kind = chance.randrange(4)
    if kind == 0:
        return said[: chance.randrange(len(said))]
    if kind == 1:
        at = chance.randrange(len(said))
        return said[:at] + bytes([said[at] ^ 1 << chance.randrange(8)]) + said[at + 1 :]
    return said + chance.randbytes(chance.randrange(1, 64)) if kind == 2 else chance.randbytes(chance.randrange(64))


@linux_only
def test_whatever_a_server_says_the_command_is_run(inside):
    """This process is the interpreter of the command, and takes the right name for the answer that was not corrupted."""
    one = inside("return deny('no')")
    right, chance = one.ask_cold(), random.Random(20)
    for _ in range(ROUNDS):
        said = spoilt(chance)

        def converse(connection, request, said=said):
            with named(hashlib.sha256(request + RIGHT).hexdigest()[:15].encode()):
                for piece in (said[:3], said[3:9], said[9:]):
                    connection.sendall(piece)
                    time.sleep(0.002)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)

        with Fake(one.key, converse):
            assert one.started_for() == right, said


@linux_only
def test_an_answer_is_believed_only_of_the_interpreter_that_takes_its_name(inside):
    one = inside("return deny('no')")
    right = one.ask_cold()

    def as_fake(name, pid=None):
        def converse(connection, request):
            with named(hashlib.sha256(request + RIGHT).hexdigest()[:15].encode() if name else b"other"):
                connection.sendall(READY[:1] + (pid or os.getpid()).to_bytes(4, "little") + RIGHT)
                connection.recv(1)

        with Fake(one.key, converse):
            return one.ask()

    assert "of the fake" in as_fake(name=True)["stdout"]
    assert as_fake(name=False) == right
    assert as_fake(name=True, pid=one.node.process.pid) == right
    assert as_fake(name=True, pid=2**22 + 1) == right


@linux_only
def test_nobody_can_change_what_the_server_says_on_the_way(inside):
    one = inside("return deny('no')").warm()
    right = one.served()
    genuine = resident.folder() / f"{one.key}.real"
    (resident.folder() / f"{one.key}.sock").rename(genuine)

    def through(change_request, change_answer):
        def converse(connection, request):
            with socket.socket(socket.AF_UNIX) as server:
                server.connect(f"/proc/self/fd/{place}/{genuine.name}")
                server.sendall(change_request(request))
                said = b""
                while not said.endswith(b"\n"):  # of stdout
                    said += server.recv(1 << 16)
                connection.sendall(change_answer(said))
                connection.recv(1)

        with Fake(one.key, converse):
            processes = one.processes
            return one.ask(), one.processes - processes

    place = os.open(resident.folder(), os.O_RDONLY)
    try:
        assert through(bytes, bytes) == (right, 0)
        assert through(bytes, lambda said: said.replace(b'"deny"', b'"none"')) == (right, 1)
        assert through(lambda request: request.replace(b'"ls"', b'"id"'), bytes) == (right, 1)
    finally:
        os.close(place)


@linux_only
def test_a_server_that_is_ready_and_then_silent_ends_at_the_plugins_deadline(inside):
    one = inside("return deny('no')", timeout=-8.0)  # the plugin waits 10 s longer: 2 s

    def converse(connection, request):
        connection.sendall(READY)
        connection.recv(1)

    with Fake(one.key, converse):
        assert one.ask() == {"problem": "no answer within 2 s"}
        assert one.processes == 0


# --- files


def test_without_files_in_memory_they_are_in_the_folder_and_have_no_name(tmp_path, monkeypatch):
    monkeypatch.delattr(inline.os, "memfd_create", raising=False)
    monkeypatch.chdir(tmp_path)
    descriptor = inline.private_file()
    os.write(descriptor, b"x")
    assert inline._content(descriptor) == b"x" and not list(tmp_path.iterdir())
    os.close(descriptor)


# --- install


def test_install_writes_it_and_status_doctor_and_uninstall_know_it(tmp_path, monkeypatch):
    project = tmp_path / "p"
    project.mkdir()
    (project / "policy.py").write_text(
        "from onehook import Hooks, deny\nhooks = Hooks()\n\n@hooks.on('PreToolUse')\ndef guard(event):\n    return deny('no')\n"
    )
    hosts = ",".join(CONFIGS)

    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))

    def onehook(*words):
        done = CliRunner().invoke(main, [*words, "--hosts", hosts])
        assert done.exit_code == 0, done.output
        return done.stdout

    def written():
        machine = Machine(tmp_path, project, {}, "linux")
        paths = [config.places(machine)[0].path for config in CONFIGS.values()]
        return [path.read_bytes() for path in paths if path.exists()]

    onehook("install", "policy.py", "--yes", "--no-resident")
    plain = written()
    assert not any(CONNECTION.read_bytes() in content for content in plain)
    onehook("install", "policy.py", "--yes", "--resident", "--trust")
    connected = written()
    assert len(connected) == len(CONFIGS) and all(CONNECTION.read_bytes() in content for content in connected)
    assert [row["resident"] for row in json.loads(onehook("status", "--json"))["installed"]] == [True] * len(CONFIGS)
    assert onehook("doctor").count("valid; installed for") == len(CONFIGS)
    onehook("install", "policy.py", "--yes", "--no-resident")
    assert written() == plain
    onehook("install", "policy.py", "--yes", "--resident")
    onehook("uninstall", "policy.py", "--yes")
    assert written() == []
