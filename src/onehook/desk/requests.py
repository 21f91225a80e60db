"""Requests and answers on disk. One folder for each request, below the state folder, and nothing in it is ever changed:

    desk/ID/request.json   what is asked; its hook holds a lock on it for as long as it waits
    desk/ID/answer.json    the one answer: a link that is made or refused, so there is never a second one, nor half of one
    desk/ID/used           the answer has been taken, by the one process that could make this file
    desk/ID/socket         where a terminal answers while no PIN is set (peer.py)
    desk/pin.json          what the person's answers are checked with (pin.py)

A folder is created and removed by a rename, with everything in it. So at whatever moment a process is killed, every request is either
absent, waiting, answered, or abandoned, which the lock shows.
"""

from __future__ import annotations

import os
import sys
import time

from onehook.codec import dumps, loads
from onehook.core import OnehookError, PayloadError
from onehook.lock import release, try_acquire
from onehook.system import digest, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

REQUEST, ANSWER, USED, SOCKET, PIN = "request.json", "answer.json", "used", "socket", "pin.json"
MAX_BYTES = 8 << 20
LATE = 3600  # seconds for which a request that nobody answered in time can still be answered, for the next attempt
NEXT_TRY = 900  # seconds for which such an answer counts
AT_ONCE = 60  # seconds for which an answer that was given while the hook waited counts, in case the hook is killed before it reads it
SESSION = 12 * 3600  # seconds for which an answer counts for the rest of the session, at most
KEPT = 24 * 3600  # seconds for which a request that is done with is kept, so that nobody can answer it again


class DeskError(OnehookError):
    """A request or an answer cannot be written, read or accepted; the message explains why."""


def folder() -> str:
    return f"{state_folder()}/desk"


def make_folder() -> None:
    """The folder of the desk, which only its owner can access."""
    for path in (state_folder(), folder()):
        os.makedirs(path, mode=0o700, exist_ok=True)


def call_of(request: dict[str, Any]) -> str:
    """The same call by the same agent in the same project, as one string: what an answer for the next attempt is bound to.

    For a command, only the command line counts: other fields, such as a description, differ from attempt to attempt.
    """
    what = {"command": request["command"], "cwd": request["cwd"]} if request["command"] else {"input": _sorted(request["input"])}
    who = {name: request[name] for name in ("host", "project", "event", "native_tool")}
    return digest(dumps({**who, **what}).encode("ascii"))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def session_of(request: dict[str, Any]) -> str:
    """What an answer for the session is bound to: this session of this agent, this tool, and whoever asks, for the same reason."""
    asking = sorted([one["kind"], one["name"], one.get("reason", "")] for one in request["by"] if one["said"] == "ask")
    what = asking or call_of(request)  # if the policy does not name who asks, every other call asks again
    return digest(dumps([request["host"], request["session"] or request["id"], request["native_tool"], what]).encode("ascii"))


# --- writing: the hook ------------------------------------------------------------------------------------------------------------


class Request:
    """A request that this process waits for an answer to. Its lock ends with the process, however that ends."""

    __slots__ = ("bytes", "content", "descriptor", "digest", "folder", "id")

    def __init__(self, content: dict[str, Any]) -> None:
        self.id = content["id"]
        self.content = content
        self.bytes = dumps(content).encode("ascii")
        self.digest = digest(self.bytes)
        self.folder = f"{folder()}/{self.id}"
        self.descriptor = -1
        if len(self.bytes) > MAX_BYTES:
            raise DeskError(f"the request is larger than {MAX_BYTES >> 20} MB")

    def publish(self) -> None:
        """Put it where people see it; OSError if that is not possible."""
        hidden = f"{folder()}/.{self.id}"
        make_folder()
        os.mkdir(hidden, 0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self.descriptor = os.open(f"{hidden}/{REQUEST}", flags, 0o600)
        _write_all(self.descriptor, self.bytes)
        if sys.platform == "win32":  # a folder with an open file cannot be renamed there
            os.close(self.descriptor)
            os.rename(hidden, self.folder)
            self.descriptor = os.open(f"{self.folder}/{REQUEST}", os.O_RDWR)
            try_acquire(self.descriptor)
            return
        try_acquire(self.descriptor)
        os.rename(hidden, self.folder)

    def withdraw(self) -> None:
        """Nobody waits for it now: remove it."""
        release(self.descriptor)
        os.close(self.descriptor)


def new_id() -> str:
    """Short enough to type, and long enough that no two are the same: the time, and 40 random bits."""
    return f"{int(time.time()):08x}-{os.urandom(5).hex()}"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def put_once(path: str, data: bytes) -> bool:
    """Write a file atomically; False if it already exists."""
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        _write_all(descriptor, data)
        os.close(descriptor)
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)
    return True


def take(path: str) -> bool:
    """Whether this process is the one that may use an answer, which is in the folder `path`."""
    try:
        os.close(os.open(f"{path}/{USED}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    return True


# --- reading ----------------------------------------------------------------------------------------------------------------------


def read(path: str) -> bytes | None:
    """The content of one of onehook's files; None if it does not exist, or if anyone but its owner can read or write it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        foreign = os.name != "nt" and (status.st_uid not in (os.getuid(), 0) or status.st_mode & 0o077)
        if status.st_mode & 0o170000 != 0o100000 or foreign or status.st_size > MAX_BYTES:
            return None
        return file.read(MAX_BYTES)


def parsed(data: bytes | None) -> dict[str, Any]:
    """The JSON object in a file; empty for anything else."""
    try:
        value = loads((data or b"{}").decode("utf-8"))
    except (PayloadError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


_NAME = frozenset("0123456789abcdef-")


def ids() -> list[str]:
    """Of all requests, oldest first."""
    try:
        return sorted(name for name in os.listdir(folder()) if "-" in name and _NAME.issuperset(name))
    except OSError:
        return []


def is_waiting(id: str) -> bool:
    """Whether a hook still waits for this answer: it holds the lock."""
    try:
        descriptor = os.open(f"{folder()}/{id}/{REQUEST}", os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        return not try_acquire(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def answers() -> Iterator[tuple[str, bytes]]:
    """Every stored answer: the folder of its request, and its content."""
    for id in ids():
        data = read(f"{folder()}/{id}/{ANSWER}")
        if data is not None:
            yield f"{folder()}/{id}", data


def sweep(now: float) -> None:
    """Remove requests and answers that can no longer be used. Nothing here may fail an event."""
    try:
        names = os.listdir(folder())
    except OSError:
        return
    for name in names:
        path = f"{folder()}/{name}"
        try:
            age = now - os.stat(path).st_mtime
            if name.startswith("."):
                if age > LATE:
                    _remove(path)
            elif "-" in name and age > KEPT and not is_waiting(name):
                os.rename(path, f"{folder()}/.{name}")
                _remove(f"{folder()}/.{name}")
        except OSError:
            continue  # another process removes it


def _remove(path: str) -> None:
    for name in os.listdir(path):
        os.unlink(f"{path}/{name}")
    os.rmdir(path)
