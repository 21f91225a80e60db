"""Answers from a terminal while no PIN is set: the hook listens in the folder of its request and checks the process that answers.

A file would not do: the agent can write any file that the person can. Of a connection, the system says which process made it, and that
process must have a terminal, and no agent among the processes above it. What this cannot tell is in docs/safety.md.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time

from onehook.codec import dumps
from onehook.desk.requests import MAX_BYTES, SOCKET, DeskError, folder, parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PATIENCE = 1.0  # seconds for the other side to send everything: who dribbles must not make the hook miss the agent's limit
_CLIENT = 10.0  # seconds that we wait for the hook


class Door:
    """Where a hook can be answered. Without such sockets, or without a way to know who is on the other side, it stays closed."""

    def __init__(self, path: str) -> None:
        self.socket: socket.socket | None = None
        if not hasattr(socket, "AF_UNIX"):
            return
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            for _ in _inside(path):
                listening.bind(SOCKET)
            listening.listen(8)
        except OSError:
            listening.close()
            return
        self.socket = listening

    def heard(self) -> tuple[socket.socket, dict[str, Any], str] | None:
        """The connection, what was sent on it, and why it does not count ("" if it does); None if there is no usable answer."""
        assert self.socket is not None
        try:
            connection, _ = self.socket.accept()
        except OSError:
            return None
        try:
            number = peer_of(connection)
            said = parsed(_received(connection, time.monotonic() + _PATIENCE))
            return connection, said, refusal(number)
        except OSError:
            connection.close()
            return None

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()


def reply(connection: socket.socket, problem: str) -> None:
    """`problem`: why the answer is not taken; "" if it is."""
    try:
        connection.sendall(dumps({"problem": problem}).encode("ascii"))
    except OSError:
        pass  # the process that answered has ended; the answer still counts
    connection.close()


def tell(id: str, statement: dict[str, Any]) -> str:
    """Answer a hook that waits; returns why it does not take the answer, or ""."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_CLIENT)
    try:
        for _ in _inside(f"{folder()}/{id}"):
            connection.connect(SOCKET)
        connection.sendall(dumps(statement).encode("ascii"))
        connection.shutdown(socket.SHUT_WR)
        answer = parsed(_received(connection, time.monotonic() + _CLIENT))
    except OSError as error:
        raise DeskError(f"request {id} no longer accepts answers ({error.strerror or error})") from None
    finally:
        connection.close()
    return str(answer.get("problem", f"request {id} no longer accepts answers"))


def _inside(path: str) -> Iterator[None]:
    """Work in this folder: the path of a socket may have only a hundred characters, and a state folder alone may have more."""
    back = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path)
        yield
    finally:
        os.fchdir(back)
        os.close(back)


def _received(connection: socket.socket, deadline: float) -> bytes:
    data = b""
    while len(data) <= MAX_BYTES:
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        more = connection.recv(1 << 16)
        if not more:
            break
        data += more
    return data


# --- who it is --------------------------------------------------------------------------------------------------------------------


def peer_of(connection: socket.socket) -> int:
    """The number of the process at the other end; 0 if the system does not report it."""
    if hasattr(socket, "SO_PEERCRED"):
        number, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return number if user == os.getuid() else 0
    if sys.platform == "darwin":
        return int(connection.getsockopt(0, 2))  # SOL_LOCAL, LOCAL_PEERPID
    return 0


def refusal(number: int) -> str:
    """Why an answer of this process does not count; "" if a person gives it, as far as can be seen."""
    from onehook.desk.people import agent_above, processes_above, terminal_of, variables_of
    from onehook.hosts import having

    if not number or not having("config"):  # a copied runtime does not know how to recognise agents
        return "this hook cannot verify who answers: set a PIN with `onehook approve --set-pin`"
    if not terminal_of(number):
        return "only a person at a terminal can answer: there is no terminal"
    who = agent_above(variables_of(number), processes_above(number))
    return f"only a person can answer, in a terminal of their own: {who}" if who else ""
