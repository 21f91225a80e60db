"""The client's side of resident mode: pass an event to the warm process of a command, or run the command.

    CLIENT PYTHON -I -S LAUNCHER POLICY [OPTIONS]

What follows CLIENT is the command without resident mode, which is run whenever there is any doubt. So the client has no configuration,
decides nothing, and never reads stdin: the process that answers gets stdin, stdout and stderr themselves, once it has reported that it
is ready. That process reads stdin only after it has checked that it is up to date, and ends if it is not.

    client -> server   MAGIC, length, umask, number of words; the words, the variables (each NAME=VALUE and a zero byte)
    server -> client   b"R" and its pid as soon as it has taken the connection
    client -> server   b"G", microseconds since the client started, a bit for each of stdin, stdout and stderr that is open; and with it
                       the descriptors of the working folder and of those three
    server -> client   b"W" before the answer is written, b"X" and the exit code afterwards

A server that ends before b"W" has written nothing, and the command is run. After that, its output may already be on its way to the
agent, and nothing may follow it: the client ends as the command would if it had been killed at that moment.

An agent that asks from inside itself has no descriptors to pass on, and uses another form of the request: see inline.py.

Imports nothing of onehook: as a program, only this file is loaded.
"""

from __future__ import annotations

import _socket
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import NoReturn
else:
    import posix as os

MAGIC = b"OHR2"
HEAD = 16  # bytes before the words
PATIENCE = 1.0  # seconds until the server has to be ready; agents wait 10 s longer than the event may take (hostkit/config.py)
PAUSE = 10  # seconds before a server that cannot be reached is started again
KILLED = 137  # as a shell reports a command that was killed
SERVE = b"--serve"
FOLDER = b"/resident"
# What an interpreter reads only once, when it starts.
AT_START = (b"LANG", b"LC_ALL", b"LC_CTYPE", b"LD_LIBRARY_PATH", b"LD_PRELOAD", b"DYLD_LIBRARY_PATH", b"DYLD_INSERT_LIBRARIES")


# --- names -----------------------------------------------------------------------------------------------------------------------


def folder_of(variables: Mapping[bytes, bytes]) -> bytes:
    """Where the sockets are: in the state folder, which self_protect guards. b"" if none is known."""
    home = variables.get(b"HOME", b"")
    base = variables.get(b"XDG_STATE_HOME") or (home and home + b"/.local/state")
    state = variables.get(b"ONEHOOK_STATE_DIR") or (base and base + b"/onehook")
    return state + FOLDER if state[:1] == b"/" else b""


def key_of(words: Sequence[bytes], cwd: bytes, variables: Mapping[bytes, bytes]) -> str:
    """The name of the server for a command: its interpreter, launcher and policy, and what an interpreter reads when it starts."""
    parts = [*words[:5], b"" if words[4][:1] == b"/" else cwd, *(variables.get(name, b"") for name in AT_START)]
    number = 0xCBF29CE484222325  # FNV-1a
    for byte in b"\0".join(parts):
        number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{number:016x}"


def is_private(descriptor: int) -> bool:
    """Whether only this user owns and can access a folder."""
    status = os.fstat(descriptor)
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


# --- asking ----------------------------------------------------------------------------------------------------------------------


def request_of(words: Sequence[bytes], variables: Mapping[bytes, bytes], umask: int) -> bytes:
    body = b"".join([*(word + b"\0" for word in words), *(b"%s=%s\0" % pair for pair in variables.items())])
    return MAGIC + b"".join(number.to_bytes(4, "little") for number in (len(body), umask, len(words))) + body


def ready(server: _socket.socket, request: bytes) -> int:
    """Ask for an answer; returns the pid of the process that is ready to give it, 0 if none is ready in time."""
    server.settimeout(PATIENCE)
    server.sendall(request)
    data = server.recv(5, _socket.MSG_WAITALL)
    return int.from_bytes(data[1:], "little") if data[:1] == b"R" and len(data) == 5 else 0


def go(server: _socket.socket, descriptors: Sequence[int], begun: float) -> None:
    """Pass on what the event needs: the folder, stdin, stdout, stderr (-1 if it is closed)."""
    bits = sum(1 << number for number, descriptor in enumerate(descriptors[1:]) if descriptor >= 0)
    given = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in descriptors if descriptor >= 0)
    data = b"G" + int((time.monotonic() - begun) * 1e6).to_bytes(4, "little") + bytes([bits])
    server.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, given)])


def exit_code_of(server: _socket.socket) -> int | None:
    """The exit code, once there is one; None if the other side has ended without writing anything. It keeps the deadline itself, since it
    runs the same code."""
    server.settimeout(None)
    try:
        writes = server.recv(1) == b"W"
    except OSError:  # it has ended without reading everything
        writes = False
    if not writes:
        return None
    try:
        data = server.recv(2, _socket.MSG_WAITALL)
    except OSError:
        return KILLED
    return data[1] if data[:1] == b"X" and len(data) == 2 else KILLED


def is_ours(server: _socket.socket, python: bytes) -> bool:
    """Whether the listening process is this user's, and the interpreter of the command. On Linux; elsewhere the folder guarantees it."""
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:
        return True
    pid, uid = memoryview(server.getsockopt(_socket.SOL_SOCKET, option, 12)).cast("i")[:2]
    theirs, ours = os.stat(f"/proc/{pid}/exe"), os.stat(python)
    return uid == os.geteuid() and (theirs.st_dev, theirs.st_ino) == (ours.st_dev, ours.st_ino)


def answered(words: list[bytes], begun: float) -> int | None:
    """The exit code from the server; None if the command has to be run, which then does everything that is left to do."""
    variables: Mapping[bytes, bytes] = os.environ  # type: ignore[assignment]
    folder = folder_of(variables)
    standard = [number if is_open(number) else -1 for number in range(3)]  # before another file gets one of these numbers
    here = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
    key = key_of(words, os.getcwdb(), variables)
    if not folder:
        return None
    try:
        os.mkdir(folder, 0o700)
    except OSError:
        pass
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not is_private(place):
        return None
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.settimeout(PATIENCE)
    try:
        os.fchdir(place)  # a path to a socket can have no more than about 100 bytes
        server.connect(f"{key}.sock")
    except (FileNotFoundError, ConnectionRefusedError):
        os.fchdir(here)
        start(words, key, place)
        return None
    finally:
        os.fchdir(here)
    if not is_ours(server, words[0]):
        return None
    umask = os.umask(0)
    os.umask(umask)
    if not ready(server, request_of(words, variables, umask)):
        return None
    go(server, [here, *standard], begun)
    return exit_code_of(server)


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def start(words: list[bytes], key: str, place: int) -> None:
    """Start the server for the next event, unless that was tried a moment ago, or the server has refused."""
    wait = os.open(f"{key}.wait", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=place)
    now = time.time()
    if os.fstat(wait).st_mtime > now:
        return
    os.utime(wait, (now + PAUSE, now + PAUSE))
    child = os.fork()
    if child:
        os.waitpid(child, 0)  # the command must not find our child process when it waits for its own
        return
    os.setsid()
    nowhere = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    try:
        if not os.fork():
            os.execv(words[0], [*words[:4], SERVE, key.encode(), words[4]])
    finally:
        os._exit(0)


def main(argv: list[str]) -> NoReturn:
    begun = time.monotonic()
    words = [word.encode(sys.getfilesystemencoding(), "surrogateescape") for word in argv]
    exit_code = None
    try:
        if len(words) > 4:
            exit_code = answered(words, begun)
    except OSError:
        pass
    if exit_code is not None:
        os._exit(exit_code)
    os.execv(words[0], words)
