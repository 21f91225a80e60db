"""Launchers in forks of a warm process: the one of resident mode (onehook/resident).

Most of the cost of a hook's process is starting the interpreter and importing onehook's modules, and the tests start thousands. `run` gives
a process everything that subprocess.run would: arguments, variables, folder, umask and separate pipes. It does so as a client of resident
mode does, so every test that does not ask for a new process (`cold` in the harness) also tests resident mode.
"""

from __future__ import annotations

import _socket
import array
import atexit
import contextlib
import functools
import os
import select
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import workers

import onehook
from onehook.resident import asking

PACKAGE = Path(onehook.__file__).resolve().parent
COMMAND = (sys.executable, "-I", "-S", str(PACKAGE / "launch.py"))
POSSIBLE = hasattr(os, "fork")
LOCALE = ("LANG", "LC_ALL", "LC_CTYPE")  # an interpreter reads these once, when it starts
CHUNK = 1 << 16
ASKED = {"input", "capture_output", "env", "cwd", "timeout", "check"}  # the arguments of subprocess.run that are used to start launchers
real_run = subprocess.run

_server: list[subprocess.Popen] = []
_borrowed: list[str] = []  # in a fork made by a test: the folder of the server of the process it was forked from


@functools.cache
def folder(pid):
    """A short path: the path of a socket is limited to about 100 bytes."""
    return tempfile.TemporaryDirectory(prefix="onehook-")


def fits(argv, env):
    """Whether this starts the launcher with nothing that an interpreter reads only at its start. The server does not run threads."""
    is_launcher = POSSIBLE and (*argv[:4],) == COMMAND and len(argv) > 4 and not any(word.startswith("--isolation") for word in argv)
    return is_launcher and all(env.get(name) == os.environ.get(name) for name in LOCALE)


def run(argv, stdin, cwd, env, timeout):
    """Like subprocess.run. What the server cannot answer is run again in a new process, as a client would do."""
    answer = by_server(argv, stdin, cwd, env, timeout)
    if answer is None:
        return real_run(argv, input=stdin, capture_output=True, timeout=timeout, cwd=cwd, env=env, check=False)
    return answer


def by_server(argv, stdin, cwd, env, timeout):
    """None if the server has not even read stdin: it is outdated, as after the first import of a module without compiled bytecode."""
    until = time.monotonic() + timeout
    server = connected()
    if server is None:
        return None
    with contextlib.closing(Started(argv, cwd, env, server)) as one:
        try:
            out, err, unsent = exchange(one.pipes, stdin, until)
        except BaseException:
            one.kill()
            raise
        if one.ended() is None and unsent + waiting_in(one.theirs) == len(stdin):
            return None
    return subprocess.CompletedProcess(argv, one.wait(), out, err)


class Started:
    """A process that is not waited for, and this side's ends of its stdin, stdout and stderr (`pipes`), which the caller closes."""

    def __init__(self, argv, cwd, env, server):
        begun = time.monotonic()
        self.server = server
        os.umask(umask := os.umask(0))
        words, variables = [os.fsencode(word) for word in argv], {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        (self.theirs, write), (read_out, stdout), (read_err, stderr) = (os.pipe() for _ in range(3))
        self.pipes = write, read_out, read_err
        self.code = ()  # not known yet
        self.pid = None
        here = os.open(cwd or ".", os.O_RDONLY)
        try:
            self.pid = asking.ready(self.server, asking.request_of(words, variables, umask))
            asking.go(self.server, [here, self.theirs, stdout, stderr], begun)
        except OSError:
            pass
        for descriptor in (here, stdout, stderr):
            os.close(descriptor)

    def takes(self, data):
        """Write all of stdin, which is no more than a pipe holds. False if the server is outdated and has exited without reading it."""
        with os.fdopen(self.pipes[0], "wb") as stdin:
            stdin.write(data)
        while waiting_in(self.theirs) == len(data):
            if self.poll() is not None:
                return False
            time.sleep(0.002)
        return True

    def ended(self):
        """Wait until it has ended; its exit code, or None if it is gone without a reply."""
        if self.code == ():
            self.code = asking.exit_code_of(self.server) if self.pid else None
        return self.code

    def wait(self):
        """The exit code in the form of subprocess.Popen."""
        return -signal.SIGKILL if self.ended() in (None, asking.KILLED) else self.code

    def poll(self):
        return self.wait() if self.code != () or select.select([self.server], [], [], 0)[0] else None

    def kill(self):
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def close(self):
        """Close everything except the pipes."""
        os.close(self.theirs)  # closed last, so that what nobody has read is still in it
        self.server.close()


def waiting_in(pipe):
    """How many bytes can be read from a pipe."""
    import fcntl  # not on Windows
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def connected():
    """A connection to the server of this process, which the first call starts. None if the server is borrowed and has ended."""
    for _ in range(3000):
        if not _borrowed and (not _server or _server[0].poll() is not None):
            _server[:] = [started()]
        server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            server.connect(f"{_borrowed[0] if _borrowed else folder(os.getpid()).name}/tests.sock")
            return server
        except OSError:
            server.close()
            if _borrowed:
                return None
            time.sleep(0.01)
    raise AssertionError("the warm process does not start")


def shared():
    """For `use` in a fork of this process."""
    connected().close()
    return folder(os.getpid()).name


def use(place):
    """In a fork: let the server of the parent process run the launchers that are started with subprocess.run."""
    _borrowed[:] = [place]
    subprocess.run = run_any


def run_any(argv, **named):
    """subprocess.run, except that launchers are run by `run`."""
    if {*named} == ASKED and fits(argv, named["env"]):
        return run(argv, named["input"], named["cwd"], named["env"], named["timeout"])
    return real_run(argv, **named)


def started():
    env = {name: os.environ[name] for name in LOCALE if name in os.environ}
    nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.Popen([*COMMAND, "--serve", "tests", "-", folder(os.getpid()).name], env=env, start_new_session=True, **nowhere)


@atexit.register
def end():
    for server in _server:
        server.terminate()
        server.wait()
        folder(os.getpid()).cleanup()


workers.AT_END.append(end)


def exchange(pipes, data, until):
    """Write stdin, and read stdout and stderr to their ends. Returns both, and how many bytes of stdin were not written by then."""
    stdin, *outputs = pipes
    data = memoryview(data)
    read = {descriptor: b"" for descriptor in outputs}
    left = set(outputs)
    with selectors.DefaultSelector() as waiting, open(stdin, "wb", buffering=0) as file:
        os.set_blocking(stdin, False)
        waiting.register(stdin, selectors.EVENT_WRITE)
        for descriptor in outputs:
            waiting.register(descriptor, selectors.EVENT_READ)
        while left:
            ready = waiting.select(until - time.monotonic())
            if not ready and time.monotonic() > until:
                raise subprocess.TimeoutExpired("a fork", 0, *read.values())
            for key, _ in ready:
                if key.fd == stdin:
                    data = data[os.write(stdin, data[:CHUNK]) :]
                    if not data:
                        waiting.unregister(stdin)
                        file.close()
                    continue
                more = os.read(key.fd, CHUNK)
                read[key.fd] += more
                if not more:
                    left.discard(key.fd)
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return *read.values(), len(data)
