"""Resident mode on Windows, where processes cannot be forked: processes are started in advance, and each answers one event.

The server (launch.py --serve KEY POLICY) keeps a few spares running. A spare has imported what earlier events imported, waits at an
instance of a named pipe, becomes the process that the client would have started, answers as the launcher does, and ends. The policy runs
there as without resident mode: a thread enforces the deadline.

    client -> spare   MAGIC, length, number of words; in UTF-16, each followed by a zero: the words, the folder, the variables
    spare -> client   b"R" and its pid as soon as it has taken the connection
    client -> spare   b"G", microseconds since the client started, and stdin, stdout and stderr: handles that the client has duplicated
                      into this process (0: closed)
    spare -> client   b"W" before the answer is written, b"X" and the exit code afterwards

As on other systems, a spare that ends before b"W" has written nothing, and the client runs the command.

The name of the pipe is random, and is stored in a file in the state folder: nobody can have created a pipe of this name before, and the
access list of the first instance, which lets only this user and the system write, applies to all. The server keeps that instance.

A server never ends its spares: they notice that it has ended, and end unless a client has connected. So it learns by restarting: what
events have imported is stored in a file, and the next server starts spares that import it.
"""

from __future__ import annotations

import _thread
import sys
import time

from onehook import cache, threads
from onehook.core import Hooks
from onehook.isolate import hold_standard_descriptors, log_answer, write_answer
from onehook.policy import is_manifest
from onehook.resident import learning
from onehook.resident.folder import remove, sweep
from onehook.system import NOWHERE, os, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    from onehook.core import Output

    _winapi: Any
    msvcrt: Any
else:
    try:
        import _winapi
        import msvcrt
    except ImportError:  # for tests, which run on any system
        _winapi = msvcrt = None

MAGIC = b"OHW1"
SPARES = 3
IDLE = 900  # seconds without an event after which the server ends
QUIET = 0.5  # seconds without a report after which the state is written, and lessons are learnt
HANDOVER = 20  # seconds for the next server to become ready
LOST = 10  # spares that may end in a row without an event
REQUEST_WITHIN = 5000  # milliseconds for each piece of a request
PATIENCE = 1  # seconds to check files
KEPT_TIMES = 2000
ROUNDS = 3  # of a rehearsal
MAX_REQUEST = 8 << 20
MAX_LESSONS = 3000
MAX_INSTANCES = 64
_PIPES = "\\\\.\\pipe\\"
_REJECT_REMOTE = 8  # PIPE_REJECT_REMOTE_CLIENTS
_REHEARSED = 1500  # bytes of a payload that is kept to rehearse with
AT_START = ("TZ",)  # what an interpreter reads only once, when it starts; with -I it ignores its own variables


class Refused(Exception):
    """The other side has gone, or requests something that is not possible here: this process ends, and the client runs the command."""


def key_of(words: Sequence[str], cwd: str, variables: Any) -> str:
    """The name of the server for a command, as in onehook-client-windows.c."""
    policy = words[4]
    absolute = policy[:2] == "\\\\" or (policy[1:2] == ":" and policy[2:3] in ("\\", "/"))
    parts = [*words[:5], "" if absolute else cwd, *(variables.get(name, "") for name in AT_START)]
    number = 0xCBF29CE484222325  # FNV-1a
    for byte in "\0".join(parts).encode("utf-16-le", "surrogatepass"):
        number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{number:016x}"


def folder() -> str:
    return f"{state_folder()}\\resident"


def serve(
    argv: list[str],
    answer: Callable[[list[str], float, Callable[[bytes, float], None]], Output],
    requested: object,
    question_of: object,
    rehearse: Callable[..., None],
) -> NoReturn:
    """KEY POLICY: the server. KEY POLICY PIPE PID: one of its spares. The functions come from the runner, a layer above."""
    key, policy, *of_spare = argv
    try:
        if of_spare:
            Spare(policy, *of_spare).answer_next(answer, rehearse)
        hold_standard_descriptors()
        os.makedirs(folder(), exist_ok=True)
        os.chdir(folder())  # the event's folder could not be renamed while a process is in it
        lock = locked(f"{key}.lock")
        if lock is not None:
            Server(key, policy, lock).run()
    finally:
        os._exit(1)


def locked(path: str) -> int | None:
    """A descriptor that prevents other processes from locking this file while this one runs; None if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_BINARY | os.O_NOINHERIT)  # type: ignore[attr-defined,unused-ignore]
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def start(command: Sequence[str]) -> Any:
    """Start a process without a window and without our open handles."""
    import subprocess

    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, creationflags=_winapi.CREATE_NO_WINDOW, stdin=nowhere, stdout=nowhere, stderr=nowhere)


def serving(*words: str) -> list[str]:
    return [sys.executable, "-I", "-S", cache.LAUNCHER, cache.SERVE, *words]


# --- the server ------------------------------------------------------------------------------------------------------------------


class Server:
    def __init__(self, key: str, policy: str, lock: int) -> None:
        import queue

        self.key, self.policy, self.lock = key, policy, lock
        self.begun = time.time()
        self.lessons, self.refused, self.learnt_from = _kept_lessons(f"{key}.lessons")
        self.news: dict[bytes, None] = {}  # what events have imported that was not learnt yet
        self.last = b""  # an event to rehearse with; it is not stored in a file, so the next server does not get it
        self.last_is_call = False
        self.events, self.lost = 0, 0
        self.times: list[int] = []
        self.waiting: set[int] = set()  # spares, by their number
        self.busy: set[int] = set()
        self.number = 0
        self.is_known = False  # whether clients find the pipe
        self.heard: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self.pipe = f"onehook-{os.urandom(16).hex()}"
        # The first instance already has a client, so that it stays and no other client gets it.
        first = _winapi.FILE_FLAG_FIRST_PIPE_INSTANCE
        self.held = [
            _instance(self.pipe, first),
            _winapi.CreateFile(_PIPES + self.pipe, _winapi.GENERIC_READ, 0, 0, _winapi.OPEN_EXISTING, 0, 0),
        ]

    def run(self) -> NoReturn:
        from queue import Empty

        sweep()
        last = written = time.monotonic()
        changed = False
        while True:
            # Nothing is started while an event is being answered, unless otherwise the next one would have to wait.
            while len(self.waiting) < (1 if self.busy else SPARES):
                self._start_spare()
            try:
                self._hear(*self.heard.get(timeout=QUIET if changed else IDLE))
                last, changed, quiet = time.monotonic(), True, False
            except Empty:
                quiet = True
            now = time.monotonic()
            if changed and (quiet or now - written > 5 * QUIET):
                changed, written = False, now
                self._write_state()
                if self.news:
                    self._learn()
            elif now - last > IDLE:
                self._end()

    def _end(self) -> NoReturn:
        for suffix in ("pipe", "state", "wait"):
            remove(f"{self.key}.{suffix}")
        os._exit(0)

    def _start_spare(self) -> None:
        import subprocess

        self.number += 1
        self.waiting.add(self.number)
        spare = subprocess.Popen(
            serving(self.key, self.policy, self.pipe, str(os.getpid())),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        told = [*self.lessons, *([self.last] if self.last else []), *([b"attend"] if self.learnt_from < learning.LESSONS else [])]
        _thread.start_new_thread(self._listen, (self.number, spare, b"\n".join(told)))

    def _listen(self, number: int, spare: Any, told: bytes) -> None:
        """In a thread: give a spare what it needs, and receive what it reports."""
        try:
            spare.stdin.write(told)
            spare.stdin.close()
            for line in spare.stdout:
                self.heard.put((number, line.rstrip(b"\r\n")))
            spare.wait()
        except OSError:
            pass
        self.heard.put((number, b"gone"))

    def _hear(self, number: int, line: bytes) -> None:
        kind, _, value = line.partition(b"\t")
        if kind in (b"gone", b"done"):
            self.busy.discard(number)
        if kind == b"gone" and number in self.waiting:
            self.waiting.discard(number)
            self.lost += 1
            if self.lost > LOST:
                self._end()
        elif kind == b"ready" and not self.is_known:
            self.is_known = _put(f"{self.key}.pipe", self.pipe)
            self._write_state()
        elif kind == b"taken":
            self.waiting.discard(number)
            self.busy.add(number)
        elif kind == b"done":
            self.lost = 0
            self.events += 1
            self.times = [*self.times[1 - KEPT_TIMES :], int(value)]
        elif kind == b"outdated":
            self._start_again()
        elif kind == b"refused":
            self.refused = value.decode("utf-8", "replace")
            self.lessons = [line for line in self.lessons if _is_known(line)]
            self._start_again()
        elif kind == b"event":
            is_call = value[:1] == b"1"
            if not self.last or (is_call and not self.last_is_call):
                self.last, self.last_is_call = line, is_call
        elif kind in (b"module", b"pattern") and line not in self.lessons and not (self.refused and not _is_known(line)):
            self.news[line] = None

    def _learn(self) -> None:
        self.lessons += self.news
        self.learnt_from += 1
        self._start_again()

    def _start_again(self) -> NoReturn:
        """Restart as another process. The spares of this one answer until those of the other are ready."""
        from queue import Empty

        head = f"learnt\t{self.learnt_from}\nrefused\t{self.refused}\n".encode("utf-8", "surrogateescape")
        _put(f"{self.key}.lessons", head + b"".join(line + b"\n" for line in self.lessons))
        os.close(self.lock)
        start(serving(self.key, self.policy))
        until = time.monotonic() + HANDOVER
        while _content(f"{self.key}.pipe") == self.pipe.encode() and time.monotonic() < until:
            try:
                number, line = self.heard.get(timeout=0.05)
            except Empty:
                continue
            if line in (b"taken", b"gone"):
                self.waiting.discard(number)
            if not self.waiting:
                self._start_spare()
        os._exit(0)

    def _write_state(self) -> None:
        times = sorted(self.times) or [0]
        p50, p99 = (times[int(len(times) * part)] / 1000 for part in (0.5, 0.99))
        fields = {
            "pid": os.getpid(), "since": int(self.begun), "events": self.events, "p50": p50, "p99": p99,
            "modules": sum(line.startswith(b"module") for line in self.lessons), "refused": self.refused, "policy": self.policy,
        }  # fmt: skip
        _put(f"{self.key}.state", "".join(f"{name}\t{value}\n" for name, value in fields.items()))


def _instance(name: str, flags: int = 0) -> Any:
    """An instance of a pipe, without an access list: the default lets this user, administrators and the system write."""
    access = _winapi.PIPE_ACCESS_DUPLEX | _winapi.FILE_FLAG_OVERLAPPED | flags
    return _winapi.CreateNamedPipe(_PIPES + name, access, _winapi.PIPE_WAIT | _REJECT_REMOTE, MAX_INSTANCES, 1 << 16, 1 << 16, 0, 0)


def _is_known(lesson: bytes) -> bool:
    kind, name, origin = lesson.decode("utf-8", "surrogateescape").split("\t", 2)
    return kind == "pattern" or learning.is_known(name, origin)


def _kept_lessons(path: str) -> tuple[list[bytes], str, int]:
    """What a server has left: its lessons, and for a server that is just replacing it, why packages are not loaded and how often it
    has learnt."""
    lines = _content(path).splitlines()
    found = dict(line.split(b"\t", 1) for line in lines[:2] if b"\t" in line)
    lessons = [line for line in lines[2:] if line.count(b"\t") == 2][:MAX_LESSONS]
    try:
        if os.stat(path).st_mtime > time.time() - HANDOVER:
            return lessons, found[b"refused"].decode("utf-8", "replace"), int(found[b"learnt"])
    except (OSError, KeyError, ValueError):  # there is no file, or we did not write it
        return [], "", 0
    return lessons, "", 0


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _put(path: str, content: str | bytes) -> bool:
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    for _ in range(50):  # a process that is reading it keeps it from being replaced
        try:
            with open(f"{path}.new", "wb") as file:
                file.write(data)
            os.replace(f"{path}.new", path)
            return True
        except OSError:
            time.sleep(0.01)
    return False


# --- a spare ---------------------------------------------------------------------------------------------------------------------


class Spare:
    def __init__(self, policy: str, pipe: str, server: str) -> None:
        self.policy = policy
        self.server = _winapi.OpenProcess(_winapi.SYNCHRONIZE, False, int(server))
        told = _all_of(0)
        self.reports = os.dup(1)
        nowhere = os.open(NOWHERE, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os.close(nowhere)
        self.lines = told.splitlines()
        self.pipe = pipe
        self.connection: Any = None
        self.begun = 0.0
        self.data = b""  # what was read from stdin
        self.exit_code: int | None = None  # of an answer that was written
        self.files: dict[str, Any] = {}  # checked for each event
        self.ours: dict[str, Any] = {}  # checked after it
        self.quick = False
        self.known: tuple[set[str], set[Any]] = (set(), set())

    def answer_next(self, answer: Callable[..., Output], rehearse: Callable[..., None]) -> NoReturn:
        path, meta_path = list(sys.path), list(sys.meta_path)  # an event finds modules as if nothing had been learnt
        self._learn()
        self._rehearse(rehearse)
        sys.path[:], sys.meta_path[:] = path, meta_path
        self.known = set(sys.modules), learning.compiled()
        self.connection = _instance(self.pipe)
        self._accept()
        self.begun = time.monotonic()
        self.report(b"taken")
        self._send(b"R" + os.getpid().to_bytes(4, "little"))
        self._take_request()
        waited = self._take_handles()
        threads.WRITE.append(self.write)
        os._exit(self.write(answer(sys.argv[1:], waited, self._heard)))

    # --- before an event

    def _learn(self) -> None:
        lessons = [line for line in self.lines if line.startswith((b"module\t", b"pattern\t"))]
        origins = (line.split(b"\t", 2)[2].decode("utf-8", "surrogateescape") for line in lessons if line.startswith(b"module"))
        before = states(origins)  # what changes while it is being imported is out of date
        learning.learn(lessons, packages=True)
        if Hooks.made:  # they would not count as the policy's own if the policy breaks (policy.made_since)
            self.report(b"refused\ta package that the policy imports makes a Hooks object when it is imported")
            os._exit(0)
        if self.policy.endswith(".py"):
            learning.keep_code(self.policy)
        files, ours = learning.watched((), packs=not self.policy.endswith(".py"))
        self.files, self.ours = ({**states(paths), **{path: before[path] for path in before if path in paths}} for paths in (files, ours))

    def _rehearse(self, rehearse: Callable[..., None]) -> None:
        """Answer an event like the last one with an empty policy: none of the user's code runs, and nothing is written. Not for rules,
        which would be kept for the event: on Windows, the change time that shows whether they are current is the time of creation."""
        sample = next((line for line in self.lines if line.startswith(b"event\t")), b"")
        if not sample or is_manifest(self.policy):
            return
        try:
            words, payload = (bytes.fromhex(part.decode()) for part in sample.split(b"\t")[2:])
            for _ in range(ROUNDS):
                rehearse(words.decode("utf-8", "surrogateescape").split("\0"), payload)
        except Exception:  # then the event takes a little longer
            pass
        Hooks.made.clear()

    def _accept(self) -> None:
        self.report(b"ready")
        coming = _winapi.ConnectNamedPipe(self.connection, overlapped=True)
        if _winapi.WaitForMultipleObjects([coming.event, self.server], False, _winapi.INFINITE) != _winapi.WAIT_OBJECT_0:
            os._exit(0)  # the server has ended; a client that connects now gets no answer, and runs its command
        coming.GetOverlappedResult(True)

    # --- an event

    def _take_request(self) -> None:
        head = self._received(12)
        size, count = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8))
        if head[:4] != MAGIC or size > MAX_REQUEST or count < 5:
            raise Refused
        *parts, _ = self._received(size).decode("utf-16-le", "surrogatepass").split("\0")
        words, here, variables = parts[:count], parts[count], parts[count + 1 :]
        self._end_unless_quick()
        if is_outdated(self.files):
            self.report(b"outdated")
            raise Refused  # nothing has been read
        self.quick = True
        _take_variables(variables)
        os.chdir(here)
        sys.argv[:] = words[3:]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = words

    def _end_unless_quick(self) -> None:
        """If the file system does not answer, end this process, since the client waits as long as it lives."""

        def look() -> None:
            time.sleep(PATIENCE)
            if not self.quick:
                os._exit(1)

        _thread.start_new_thread(look, ())

    def _take_handles(self) -> float:
        """The client's stdin, stdout and stderr become ours. Returns how long the client has been waiting."""
        data = self._received(29)
        if data[:1] != b"G":
            raise Refused
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            handle = int.from_bytes(data[5 + 8 * number : 13 + 8 * number], "little")
            if handle:
                flags = os.O_BINARY | (os.O_WRONLY if number else os.O_RDONLY)  # type: ignore[attr-defined,unused-ignore]
                descriptor = msvcrt.open_osfhandle(handle, flags)
                os.dup2(descriptor, number)
                os.close(descriptor)
            else:
                os.close(number)
                setattr(sys, name, None)
        return int.from_bytes(data[1:5], "little") / 1e6

    def _heard(self, data: bytes, _: float) -> None:
        self.data = data

    def write(self, output: Output, stdout: int = 1, stderr: int = 2) -> int:
        """Write the answer and tell the client, which then ends without waiting for the line in the log. Only once: if the policy runs in a
        thread, its answer may be written before output_of() returns."""
        if self.exit_code is not None:
            return self.exit_code
        self._send(b"W")
        self.exit_code = write_answer(output, stdout, stderr)
        self._send(bytes([ord("X"), self.exit_code & 0xFF]))
        nowhere = os.open(NOWHERE, os.O_RDWR)
        for number in (0, stdout):  # an agent may wait until they are closed; problems with the log are reported on stderr
            os.dup2(nowhere, number)
        log_answer(output, stderr)
        self._report_event()
        return self.exit_code

    def _report_event(self) -> None:
        """Report how long it took, what was imported, and an event for the next spares to rehearse with."""
        self.report(b"done\t%d" % ((time.monotonic() - self.begun) * 1e6))
        if is_outdated(self.ours):
            self.report(b"outdated")
        if b"attend" in self.lines:
            self.report(b"\n".join(learning.lessons(*self.known, own=sys.argv[1:2] == [self.policy])))
        if sys.argv[1:2] == [self.policy] and len(self.data) < _REHEARSED and sum(map(len, sys.argv)) < 400:
            is_call = b"PreToolUse" in self.data
            words = "\0".join(sys.argv[1:]).encode("utf-8", "surrogateescape")
            self.report(b"event\t%d\t%s\t%s" % (is_call, words.hex().encode(), self.data.hex().encode()))

    # --- both ways

    def report(self, line: bytes) -> None:
        try:
            os.write(self.reports, line + b"\n")
        except OSError:  # the server has ended
            pass

    def _send(self, data: bytes) -> None:
        work, _ = _winapi.WriteFile(self.connection, data, overlapped=True)
        work.GetOverlappedResult(True)  # raises if the client has ended

    def _received(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            work, _ = _winapi.ReadFile(self.connection, size - len(data), overlapped=True)
            if _winapi.WaitForSingleObject(work.event, REQUEST_WITHIN) != _winapi.WAIT_OBJECT_0:
                raise Refused
            work.GetOverlappedResult(True)
            data += work.getbuffer()
        return data


def _all_of(descriptor: int) -> bytes:
    chunks = []
    while chunk := os.read(descriptor, 1 << 16):
        chunks.append(chunk)
    return b"".join(chunks)


def _take_variables(block: Iterable[str]) -> None:
    theirs = {}
    for part in block:
        name, equals, value = part.partition("=")
        if name and equals:  # the variables of drives start with "=", and come with the folder
            theirs[name.upper()] = value
    ours = os.environ
    for name in [name for name in ours if name not in theirs]:
        del ours[name]
    for name, value in theirs.items():
        if ours.get(name) != value:
            if not value:
                raise Refused  # the C runtime would remove it
            ours[name] = value


# --- out of date? ----------------------------------------------------------------------------------------------------------------


def states(paths: Iterable[str]) -> dict[str, Any]:
    """What changes when a file does. cache.state_of uses the change time, which is the time of creation on Windows."""
    return {path: _state_of(path) for path in paths}


def is_outdated(files: dict[str, Any]) -> bool:
    return any(_state_of(path) != state for path, state in files.items())


def _state_of(path: str) -> Any:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)
