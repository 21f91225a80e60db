"""Launchers in forks of one that has loaded all it needs.

Most of what a hook's process costs is the start of its interpreter and the import of our modules, and the tests start thousands. `run`
gives a process all that subprocess.run would: arguments, variables, folder, umask, and pipes of its own. But the process is a fork of one
that has been started as the launcher is, has gone as far as `main`, and has done nothing else; there `main` runs, and ends it.
What comes before `main` is tested with new processes: see `cold` in the harness.
"""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import onehook

PACKAGE = Path(onehook.__file__).resolve().parent
COMMAND = (sys.executable, "-I", "-S", str(PACKAGE / "launch.py"))
POSSIBLE = hasattr(os, "fork") and hasattr(socket, "send_fds")
LOCALE = ("LANG", "LC_ALL", "LC_CTYPE")  # an interpreter looks at these once, when it starts
CHUNK = 1 << 16

_idle: list[Launcher] = []


@atexit.register
def end():
    while _idle:
        _idle.pop().end()


def fits(argv, env):
    """Whether this starts the launcher, with nothing else that an interpreter looks at when it starts."""
    return POSSIBLE and (*argv[:4],) == COMMAND and all(env.get(name) == os.environ.get(name) for name in LOCALE)


def run(argv, stdin, cwd, env, timeout):
    """As subprocess.run does. Two at a time, from two threads, are forks of two launchers."""
    launcher = _idle.pop() if _idle else Launcher()
    try:
        pipes = launcher.start(argv[3:], cwd or os.getcwd(), env)
        stdout, stderr = exchange(pipes, stdin, time.monotonic() + timeout)
        exit_code = launcher.exit_code()
    except BaseException:
        launcher.end()
        raise
    _idle.append(launcher)
    return subprocess.CompletedProcess(argv, exit_code, stdout, stderr)


class Launcher:
    def __init__(self):
        self.requests, theirs = socket.socketpair()
        argv = [*COMMAND[:3], str(Path(__file__).with_name("launched.py")), str(PACKAGE.parent), str(theirs.fileno())]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        env = {name: os.environ[name] for name in LOCALE if name in os.environ}
        with theirs:
            self.process = subprocess.Popen(argv, pass_fds=[theirs.fileno()], env=env, **pipes)
        self.child = 0

    def start(self, argv, cwd, env):
        """Our ends of the pipes to the new process."""
        os.umask(umask := os.umask(0))
        variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        data = marshal.dumps((argv, os.fsencode(cwd), variables, umask))
        (stdin, write), (read_out, stdout), (read_err, stderr) = (os.pipe() for _ in range(3))
        socket.send_fds(self.requests, [len(data).to_bytes(4, "little")], [stdin, stdout, stderr])
        self.requests.sendall(data)
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        self.child = self.number()
        return write, read_out, read_err

    def number(self):
        return int.from_bytes(self.requests.recv(4, socket.MSG_WAITALL), "little")

    def exit_code(self):
        return os.waitstatus_to_exitcode(self.number())

    def end(self):
        """With what it runs."""
        self.process.kill()
        self.process.communicate()
        self.requests.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)


def exchange(pipes, data, until):
    """Write stdin, and read stdout and stderr to their ends."""
    stdin, *outputs = pipes
    data = memoryview(data)
    read = {descriptor: b"" for descriptor in outputs}
    with selectors.DefaultSelector() as waiting:
        os.set_blocking(stdin, False)
        waiting.register(stdin, selectors.EVENT_WRITE)
        for descriptor in outputs:
            waiting.register(descriptor, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(until - time.monotonic())
            if not ready and time.monotonic() > until:
                raise subprocess.TimeoutExpired("a fork", 0, *read.values())
            for key, _ in ready:
                if key.fd == stdin:
                    data = written(stdin, data)
                    more = data
                else:
                    more = os.read(key.fd, CHUNK)
                    read[key.fd] += more
                if not more:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return read.values()


def written(descriptor, data):
    """What is left to write; nothing, if nobody reads it."""
    try:
        return data[os.write(descriptor, data[:CHUNK]) :]
    except BrokenPipeError:
        return data[:0]
