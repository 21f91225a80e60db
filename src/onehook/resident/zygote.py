"""The warm process of a policy, and the forks that answer its events.

A few forks wait at the socket (spares), so that nothing has to be forked while an agent waits. One that takes an event becomes the process
that the client would have started: its words, variables, folder, umask, stdin, stdout and stderr. Then it does what the launcher does
(`answer`), tells the client its exit code, and ends. It shares nothing with the next.

If this process is killed, the spares end with it, and events that are being answered are answered. If it is asked once something of what
it has loaded was changed, it says no, and starts again.
"""

from __future__ import annotations

import _socket
import gc
import sys
import time
from select import POLLIN, poll

from onehook import cache
from onehook.resident import learning
from onehook.resident.asking import HEAD, MAGIC, PATIENCE, folder_of, is_private
from onehook.system import NOWHERE, os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Answer = Callable[[list[str], float], int]

SPARES = 2
IDLE = 900  # seconds without an event after which it ends
QUIET = 0.2  # seconds without a report after which the state is written, and lessons are learnt
REFUSED = 3600  # seconds before it is tried again, if it cannot work
MAX_REQUEST = 8 << 20  # the system allows no more words and variables
KEPT_TIMES = 2000
OLD = 7 * 86400  # seconds after which what a server has left in the folder is removed


def serve(argv: list[str], answer: Answer) -> NoReturn:
    """KEY POLICY [FOLDER]: see start() in asking.py. FOLDER is for tests; else it is by the variables."""
    key, policy = argv[:2]
    variables: Any = os.environ
    folder = argv[2] if argv[2:] else folder_of(variables).decode("utf-8", "surrogateescape")
    os.closerange(3, 1 << 16)  # what the agent had open
    for number in (0, 1, 2):
        os.dup2(os.open(NOWHERE, os.O_RDWR), number)
    os.closerange(3, 10)
    os.umask(0o077)
    os.chdir(folder)
    here = os.open(".", os.O_RDONLY)
    lock = os.open(f"{key}.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.lockf(lock, os.F_TLOCK, 0)  # as long as this process lives; its forks do not have it
    except OSError:
        os._exit(0)  # there is one already
    if not is_private(here):
        os._exit(1)
    Zygote(key, policy, answer, lock).run()


class Zygote:
    def __init__(self, key: str, policy: str, answer: Answer, lock: int) -> None:
        self.key, self.policy, self.answer, self.lock = key, policy, answer, lock
        self.begun = time.time()
        self.path, self.meta_path = list(sys.path), list(sys.meta_path)  # an event finds modules as if nothing had been learnt
        self.lessons: list[bytes] = []
        self.own: set[str] = {policy} if policy.startswith("/") else set()
        self.refused = _taken(f"{key}.refused")
        self.learnt_from = 0
        self.events = 0
        self.times: list[int] = []
        self.spares: set[int] = set()
        self.rest = b""
        self.listener = _listening(f"{key}.sock")
        self.told, self.tell = os.pipe()  # reports of the forks
        self.alive, self.life = os.pipe()  # its other end closes when this process ends
        self.woken, wake = os.pipe()
        for descriptor in (self.told, self.woken, wake):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.descriptors = 0
        self.files: dict[str, learning.State] = {}

    def run(self) -> NoReturn:
        self._settle()
        last = time.monotonic()
        waiting = poll()
        waiting.register(self.told, POLLIN)
        waiting.register(self.woken, POLLIN)
        changed = True
        while True:
            self._reap()
            while len(self.spares) < SPARES:
                self._fork()
            ready = waiting.poll(QUIET * 1000 if changed else IDLE * 1000)
            if self._heard():
                last, changed = time.monotonic(), True
            elif changed and not ready:
                self._learn()
                self._write_state()
                changed = False
            elif time.monotonic() - last > IDLE:
                self.end()

    def end(self) -> NoReturn:
        for name in ("sock", "state", "wait"):
            _remove(f"{self.key}.{name}")
        os._exit(0)

    # --- forks

    def _fork(self) -> None:
        child = os.fork()
        if child:
            self.spares.add(child)
            return
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor in (self.told, self.woken, self.life, self.lock):
                os.close(descriptor)
            Event(self).answer_next()
        finally:
            os._exit(1)

    def _reap(self) -> None:
        try:
            while True:
                child, _ = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                self.spares.discard(child)
        except ChildProcessError:
            return

    def _heard(self) -> bool:
        """Take what forks have reported."""
        for descriptor in (self.woken, self.told):
            try:
                data = os.read(descriptor, 1 << 16)
            except BlockingIOError:
                data = b""
        if not data:
            return False
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            kind, _, value = line.partition(b"\t")
            if kind == b"taken":
                self.spares.discard(int(value))
            elif kind == b"done":
                self.events += 1
                self.times = [*self.times[1 - KEPT_TIMES :], int(value)]
            elif kind == b"outdated":
                self._start_again()
            elif self.learnt_from < learning.LESSONS:
                self.lessons.append(line)
        return True

    # --- what it has loaded

    def _settle(self) -> None:
        """What is loaded stays: no fork has to copy it, because the collector has touched it."""
        gc.collect()
        gc.freeze()
        self.files = learning.watched(self.own)
        self.descriptors = learning.open_descriptors()

    def _learn(self) -> None:
        if not self.lessons:
            return
        self.learnt_from += 1
        lessons, self.lessons = self.lessons, []
        self.own |= learning.learn(dict.fromkeys(lessons), not self.refused)
        cache.save()
        trouble = learning.own_trouble(self.descriptors)
        if trouble and not self.refused:
            _put(f"{self.key}.refused", trouble)
            self._start_again()
        self._settle()  # spares that have not loaded it answer the next two events

    def _start_again(self) -> NoReturn:
        """In the place of this process. Spares end with it, and who is waiting runs its command."""
        os.execv(sys.executable, [sys.executable, "-I", "-S", cache.LAUNCHER, cache.SERVE, self.key, self.policy, os.getcwd()])

    def _write_state(self) -> None:
        times = sorted(self.times) or [0]
        p50, p99 = (times[int(len(times) * part)] / 1000 for part in (0.5, 0.99))
        fields = {
            "pid": os.getpid(), "since": int(self.begun), "events": self.events, "p50": p50, "p99": p99,
            "modules": len(sys.modules), "refused": self.refused, "policy": self.policy,
        }  # fmt: skip
        _put(f"{self.key}.state", "".join(f"{name}\t{value}\n" for name, value in fields.items()))


class Event:
    """A fork of the warm process: waits for an event, and becomes the process that would have been started for it."""

    def __init__(self, zygote: Zygote) -> None:
        self.zygote = zygote
        self.known = set(sys.modules), learning.compiled()

    def answer_next(self) -> NoReturn:
        connection = self._accepted()
        begun = time.monotonic()
        self._report(b"taken\t%d" % os.getpid())
        self.zygote.listener.close()
        connection.settimeout(PATIENCE)
        words, variables, umask = _read_request(connection)
        if learning.is_outdated(self.zygote.files):
            self._report(b"outdated")
            os._exit(0)
        connection.send(b"R" + os.getpid().to_bytes(4, "little"))
        waited = self._take_descriptors(connection)
        self._become(words, variables, umask)
        os.register_at_fork(after_in_child=connection.close)  # what a handler leaves behind must not keep the client waiting
        exit_code = self.zygote.answer(sys.argv[1:], waited)
        connection.settimeout(None)
        connection.send(bytes([ord("X"), exit_code & 0xFF]))
        self._report(b"done\t%d" % ((time.monotonic() - begun) * 1e6))
        os._exit(exit_code)

    def _accepted(self) -> _socket.socket:
        waiting = poll()
        waiting.register(self.zygote.listener.fileno(), POLLIN)
        waiting.register(self.zygote.alive, POLLIN)
        while True:
            if any(descriptor == self.zygote.alive for descriptor, _ in waiting.poll()):
                os._exit(0)  # the warm process has gone
            try:
                descriptor, _ = self.zygote.listener._accept()
                return _socket.socket(fileno=descriptor)
            except OSError:  # another spare was faster
                continue

    def _take_descriptors(self, connection: _socket.socket) -> float:
        """The client's folder, stdin, stdout and stderr become ours. Returns how long the client has been waiting."""
        data, ancillary, _, _ = connection.recvmsg(6, _socket.CMSG_SPACE(16))
        given = list(memoryview(ancillary[0][2]).cast("i")) if ancillary else []
        if data[:1] != b"G" or len(data) != 6 or len(given) != 1 + bin(data[5]).count("1"):
            os._exit(0)  # the client runs its command
        os.fchdir(given[0])
        rest = given[1:]
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if data[5] >> number & 1:
                os.dup2(rest.pop(0), number)
            else:
                os.close(number)
                setattr(sys, name, None)
        for descriptor in given:
            os.close(descriptor)
        return int.from_bytes(data[1:5], "little") / 1e6

    def _become(self, words: list[bytes], variables: dict[bytes, bytes], umask: int) -> None:
        ours: Any = os.environ
        clock = ours.get(b"TZ")
        for name in [name for name in ours if name not in variables]:
            os.unsetenv(name)
        for name, value in variables.items():
            os.putenv(name, value)
        ours.clear()  # os.environ, if somebody has imported os, shows the same
        ours.update(variables)
        if ours.get(b"TZ") != clock:
            time.tzset()
        os.umask(umask)
        argv = [word.decode(sys.getfilesystemencoding(), "surrogateescape") for word in words]
        sys.argv[:] = argv[3:]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = argv
        sys.path[:], sys.meta_path[:] = self.zygote.path, self.zygote.meta_path
        if self.zygote.learnt_from < learning.LESSONS:
            cache.LOADED.append(self._report_lessons)

    def _report_lessons(self) -> None:
        for piece in learning.pieces(learning.lessons(*self.known)):
            self._report(piece[:-1])

    def _report(self, line: bytes) -> None:
        try:
            os.write(self.zygote.tell, line + b"\n")
        except OSError:  # the warm process has gone
            pass


def _read_request(connection: _socket.socket) -> tuple[list[bytes], dict[bytes, bytes], int]:
    head = _received(connection, HEAD)
    size, umask, count = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8, 12))
    if head[:4] != MAGIC or size > MAX_REQUEST:
        os._exit(0)
    parts = _received(connection, size).split(b"\0")[:-1]
    if count < 5 or count > len(parts):
        os._exit(0)
    variables: dict[bytes, bytes] = {}
    for part in parts[count:]:
        name, equals, value = part.partition(b"=")
        if equals:
            variables.setdefault(name, value)
    return parts[:count], variables, umask & 0o777


def _received(connection: _socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(min(size - len(data), 1 << 20))
        if not more:
            os._exit(0)
        data += more
    return data


def _listening(path: str) -> _socket.socket:
    _remove(path)
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind(path)  # 0600, by the umask
    listener.listen(128)
    listener.settimeout(0)
    return listener


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _taken(path: str) -> str:
    """The content of a file, which is removed."""
    try:
        with open(path, encoding="utf-8") as file:
            content = file.read()
    except OSError:
        return ""
    _remove(path)
    return content


def _put(path: str, content: str) -> None:
    try:
        with open(f"{path}.new", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(content)
        os.replace(f"{path}.new", path)
    except OSError:
        pass
