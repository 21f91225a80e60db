"""An event that an agent sends from inside itself, without a separate process: connection.js of hostkit, in Bun or Node.

JavaScript cannot pass descriptors, so everything that an event needs comes over the connection, and the whole answer goes back over it:

    agent -> server   the request as in asking.py, with MAGIC; random bytes, the lengths of folder and stdin; the working folder, stdin
    server -> agent   b"R" and its pid once it is ready; b"X", the exit code, the lengths of stdout and stderr; stdout, stderr

The agent acts on an answer only once it is complete, so until then it can run the command, whatever happens.

JavaScript cannot ask the system which process listens, either. So on Linux the answering process renames itself to a digest of everything
that was sent, which no other process can do to it: the agent checks that name, and the interpreter of the command, at the pid.
"""

from __future__ import annotations

import sys

from onehook.system import os, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

MAGIC = b"OHI1"
MAX_STDIN = 8 << 20  # for more than that, starting a process makes no difference
LINGER = 60  # seconds for the agent to check who answered; seen with Kilo 7.7.9, load 8: it was unresponsive for 21 s at its start
_HEAD = 24  # bytes before the folder
_MAX_FOLDER = 1 << 15
_NAME = 15  # bytes in the name of a process


class Refused(Exception):
    """The other side has gone, or requests something that is not possible here: this process ends, and the waiting side runs the
    command."""


class Inline:
    def __init__(self, connection: _socket.socket, request: bytes) -> None:
        self.connection = connection
        self.said = sha256(request)

    def take(self) -> int:
        """Make unnamed files our stdin, stdout and stderr. Returns the working folder."""
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
        """Wait until the agent has verified who answered."""
        try:
            self.connection.recv(1)
        except OSError:
            pass


def private_file() -> int:
    """An unnamed file: in memory, or else in the folder of the sockets, which nobody else can enter."""
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
