"""Launchers in forks of a warm process: the one of resident mode (onehook/resident).

Most of what a hook's process costs is the start of its interpreter and the import of our modules, and the tests start thousands. `run`
gives a process all that subprocess.run would: arguments, variables, folder, umask, and pipes of its own; as a client of resident mode does,
so that every test which does not ask for a new process (`cold` in the harness) is one of resident mode, too.
"""

from __future__ import annotations

import _socket
import array
import atexit
import contextlib
import functools
import os
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
LOCALE = ("LANG", "LC_ALL", "LC_CTYPE")  # an interpreter looks at these once, when it starts
CHUNK = 1 << 16

_server: list[subprocess.Popen] = []


@functools.cache
def folder(pid):
    """A short path: that of a socket has no more than about 100 bytes."""
    return tempfile.TemporaryDirectory(prefix="onehook-")


def fits(argv, env):
    """Whether this starts the launcher, with nothing else that an interpreter looks at when it starts. Threads are not for the server."""
    is_launcher = POSSIBLE and (*argv[:4],) == COMMAND and len(argv) > 4 and not any(word.startswith("--isolation") for word in argv)
    return is_launcher and all(env.get(name) == os.environ.get(name) for name in LOCALE)


def run(argv, stdin, cwd, env, timeout):
    """As subprocess.run does. Whatever the server cannot answer is run anew, as a client would do it."""
    answer = by_server(argv, stdin, cwd, env, timeout)
    if answer is None:
        return subprocess.run(argv, input=stdin, capture_output=True, timeout=timeout, cwd=cwd, env=env, check=False)
    return answer


def by_server(argv, stdin, cwd, env, timeout):
    """None if the server has not so much as read stdin: it is outdated, as after the first import of a module without compiled bytes."""
    begun = time.monotonic()
    with contextlib.closing(connected()) as server, contextlib.ExitStack() as opened:
        os.umask(umask := os.umask(0))
        words, variables = [os.fsencode(word) for word in argv], {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        (theirs, write), (read_out, stdout), (read_err, stderr) = (os.pipe() for _ in range(3))
        here = os.open(cwd or ".", os.O_RDONLY)
        opened.callback(os.close, theirs)  # at the end: what nobody has read is then still in it
        child = None
        try:
            child = asking.ready(server, asking.request_of(words, variables, umask))
            asking.go(server, [here, theirs, stdout, stderr], begun)
        except OSError:
            pass
        for descriptor in (here, stdout, stderr):
            os.close(descriptor)
        try:
            out, err, unsent = exchange((write, read_out, read_err), stdin, begun + timeout)
        except BaseException:
            with contextlib.suppress(ProcessLookupError, TypeError):
                os.kill(child, signal.SIGKILL)
            raise
        exit_code = asking.exit_code_of(server) if child else None
        if exit_code is None and unsent + waiting_in(theirs) == len(stdin):
            return None
    return subprocess.CompletedProcess(argv, -signal.SIGKILL if exit_code in (None, asking.KILLED) else exit_code, out, err)


def waiting_in(pipe):
    """How many bytes are to be read from a pipe."""
    import fcntl  # not on Windows
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def connected():
    """A connection to the server of this process, which is started for the first."""
    for _ in range(3000):
        if not _server or _server[0].poll() is not None:
            _server[:] = [started()]
        server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            server.connect(f"{folder(os.getpid()).name}/tests.sock")
            return server
        except OSError:
            server.close()
            time.sleep(0.01)
    raise AssertionError("the warm process does not start")


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
