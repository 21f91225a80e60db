"""An event that an agent asks about from inside itself, with no process of its own: connection.js of hostkit, in Bun or Node.

JavaScript can hand over no descriptors, so all that an event needs comes over the connection, and all that it gives goes back:

    agent -> server   the request as of asking.py, with MAGIC; random bytes, the lengths of folder and stdin; the working folder, stdin
    server -> agent   b"R" and its pid once it is ready; b"X", the exit code, the lengths of stdout and stderr; stdout, stderr

Nothing of an answer reaches the agent before all of it is there, so until then, and whatever happens, the agent can run the command.

Nor can JavaScript ask the system who listens. So on Linux the process that answers takes a digest of all that was said for its name, which
nobody but itself can do: the agent looks for that name, and for the interpreter of the command, at the pid.
"""

from __future__ import annotations

import sys

from onehook.system import os, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

MAGIC = b"OHI1"
MAX_STDIN = 8 << 20  # for more than that, the start of a process makes no difference
LINGER = 60  # seconds in which the agent looks whose answer it is; seen with Kilo 7.7.9, load 8: it heard nothing for 21 s at its start
_HEAD = 24  # bytes before the folder
_MAX_FOLDER = 1 << 15
_NAME = 15  # bytes that the name of a process has


class Refused(Exception):
    """The other side has gone, or asks for what cannot be done here: this process ends, and who waits for it runs the command."""


class Inline:
    def __init__(self, connection: _socket.socket, request: bytes) -> None:
        self.connection = connection
        self.said = sha256()
        self.said.update(request)

    def take(self) -> int:
        """Files without a name become stdin, stdout and stderr. Returns the working folder."""
        head = self._received(_HEAD)
        length, size = (int.from_bytes(head[at : at + 4], "little") for at in (16, 20))
        if length > _MAX_FOLDER or size > MAX_STDIN:
            raise Refused
        here = os.open(self._received(length), os.O_RDONLY | os.O_CLOEXEC)
        for number in range(3):
            file = private_file()
            os.dup2(file, number)
            os.close(file)
        while size:
            size -= os.write(0, self._received(min(size, 1 << 16)))
        os.lseek(0, 0, 0)
        return here

    def _received(self, size: int) -> bytes:
        data = received(self.connection, size)
        self.said.update(data)
        return data

    def tell(self, exit_code: int) -> None:
        outputs = [_content(number) for number in (1, 2)]
        head = bytes([ord("X"), exit_code & 0xFF]) + b"".join(len(output).to_bytes(4, "little") for output in outputs)
        answer = b"".join([head, *outputs])
        self.said.update(answer)
        if sys.platform == "linux":
            name = os.open("/proc/self/comm", os.O_WRONLY)
            os.write(name, self.said.hexdigest()[:_NAME].encode())
            os.close(name)
        self.connection.settimeout(LINGER)
        self.connection.sendall(answer)

    def linger(self) -> None:
        """Until the agent has seen whose answer it is."""
        try:
            self.connection.recv(1)
        except OSError:
            pass


def private_file() -> int:
    """A file without a name: in memory, or else in the folder of the sockets, which nobody else can enter."""
    try:
        return os.memfd_create("onehook")
    except (AttributeError, OSError):
        path = f"{os.getpid()}-{os.urandom(8).hex()}.tmp"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink(path)
        return descriptor


def _content(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, 0)
    return os.read(descriptor, os.fstat(descriptor).st_size)


def received(connection: _socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(min(size - len(data), 1 << 20))
        if not more:
            raise Refused
        data += more
    return data
