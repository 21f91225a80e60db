"""A fork of the warm process: waits for an event, and becomes the process that would have been started for it."""

from __future__ import annotations

import _socket
import sys
import time

from onehook import cache
from onehook.isolate import Child, lenient_output, log_answer, write, write_answer
from onehook.resident import inline, learning
from onehook.resident.asking import HEAD, MAGIC, PATIENCE, is_open, request_of
from onehook.resident.inline import Refused, received
from onehook.system import NOWHERE, os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from onehook.core import Output
    from onehook.isolate import Question
    from onehook.resident.zygote import Zygote

LEAVE = signal.SIGUSR1  # tells a spare to end, unless it has taken an event: then who waits for it runs its command
REQUEST_WITHIN = 10  # seconds: an agent that asks from inside itself may be busy once it has connected
MAX_REQUEST = 8 << 20  # the system allows no more words and variables
MAX_ORDER = 1 << 17  # bytes of a payload that is read by two processes; a larger one is worth a fork
_REHEARSED = 1500  # bytes of a payload that is kept to rehearse with


class Spare:
    def __init__(self, zygote: Zygote) -> None:
        self.zygote = zygote
        self.known = set(sys.modules), learning.compiled()
        self.body, self.count, self.here = b"", 0, -1
        self.prepared: Prepared | None = None
        self.inline: inline.Inline | None = None
        self.taken, self.next = False, -1  # next: the number that the next descriptor gets

    def answer_next(self) -> NoReturn:
        if not self.zygote.is_manifest:
            self.prepared = Prepared(self)
            Child.ready.append(self.prepared)
        self.rehearse()
        connection = self._accepted()
        self.zygote.listener.close()
        connection.settimeout(REQUEST_WITHIN)
        umask = self._read_request(connection)
        begun = time.monotonic()
        connection.settimeout(PATIENCE)
        connection.send(b"R" + os.getpid().to_bytes(4, "little"))
        self._report(b"taken\t%d" % os.getpid())
        if learning.is_outdated(self.zygote.files):  # nothing of the client's has been touched yet
            self._report(b"outdated")
            os._exit(0)
        waited = self._take_descriptors(connection) if self.inline is None else self._take_inline(self.inline)
        if self.prepared is not None:
            self.prepared.become(umask)
        self.become(umask)
        self.attend()
        os.register_at_fork(after_in_child=connection.close)  # what a handler leaves behind must not keep the client waiting
        output = self.zygote.answer(sys.argv[1:], waited, self._heard)
        connection.settimeout(None)
        if self.inline is None:
            exit_code = self._tell(connection, output)
        else:
            exit_code = write(output)
            self.inline.tell(exit_code)
        self._report(b"done\t%d" % ((time.monotonic() - begun) * 1e6))
        if self.inline is not None:
            self.inline.linger()
        os._exit(exit_code)

    def _tell(self, connection: _socket.socket, output: Output) -> int:
        """The client ends as soon as the answer is written, and does not wait for its line in the log."""
        connection.send(b"W")
        exit_code = write_answer(output)
        connection.send(bytes([ord("X"), exit_code & 0xFF]))
        nowhere = os.open(NOWHERE, os.O_RDWR)
        for number in (0, 1):  # an agent may wait until they are closed; what goes wrong with the log is reported on stderr
            os.dup2(nowhere, number)
        log_answer(output)
        return exit_code

    def rehearse(self) -> None:
        """Every page of memory that is written to now need not be copied while an agent waits."""
        if self.zygote.last is not None:
            try:
                self._take_from_ourselves(*self.zygote.last)
                self.zygote.rehearse(sys.argv[1:])
            except Exception:  # then the event takes a little longer
                pass

    def _take_from_ourselves(self, words: list[str], data: bytes) -> None:
        """Take a request as from a client that is where and what this process is."""
        ours, theirs = _socket.socketpair()
        theirs.settimeout(0)  # nobody reads it meanwhile: what is too large raises
        umask = os.umask(0o077)
        variables: Any = os.environ
        argv = [*[b"-"] * 4, *(word.encode("utf-8", "surrogateescape") for word in words)]
        theirs.sendall(request_of(argv, variables, umask))
        stdin, write_end = os.pipe()
        given = (os.open(".", os.O_RDONLY), stdin, 1, 2)
        os.write(write_end, data)
        rights = b"".join(number.to_bytes(4, sys.byteorder) for number in given)
        theirs.sendmsg([b"G\0\0\0\0\7"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        self._read_request(ours)
        learning.is_outdated(self.zygote.files)
        self._take_descriptors(ours)
        self.become(umask)
        for number in (*given[:2], write_end, self.here):
            os.close(number)

    def _accepted(self) -> _socket.socket:
        """The next client. Not by poll(), which wakes all spares for one."""
        self.next = os.dup(0)
        os.close(self.next)
        signal.signal(LEAVE, self._leave)
        while os.getppid() == self.zygote.pid:  # which may have ended before this process came here
            try:
                descriptor, _ = self.zygote.listener._accept()  # type: ignore[attr-defined]
            except OSError:  # nobody came for a while
                continue
            self.taken = True
            return _socket.socket(fileno=descriptor)
        os._exit(0)  # the warm process was killed

    def _leave(self, *_: object) -> None:
        """The signal may come when a client has been accepted, and this process does not know it yet; its descriptor is there."""
        if not self.taken and not is_open(self.next):
            os._exit(0)

    def _read_request(self, connection: _socket.socket) -> int:
        """Returns the umask."""
        head = received(connection, HEAD)
        size, umask, self.count = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8, 12))
        if head[:4] not in (MAGIC, inline.MAGIC) or size > MAX_REQUEST or self.count < 5:
            raise Refused
        self.body = received(connection, size)
        if head[:4] == inline.MAGIC:
            self.inline = inline.Inline(connection, head + self.body)
        # Without a process of its own for the policy, an exit of the policy is one of this process, and the client would not be told of it.
        if self.body.count(b"\0") < self.count or b"\0--isolation" in self.body:
            raise Refused
        return umask & 0o777

    def _take_descriptors(self, connection: _socket.socket) -> float:
        """The client's stdin, stdout and stderr become ours. Returns how long the client has been waiting."""
        data, ancillary, _, _ = connection.recvmsg(6, _socket.CMSG_SPACE(16))
        given = list(memoryview(ancillary[0][2]).cast("i")) if ancillary else []
        if data[:1] != b"G" or len(data) != 6 or len(given) != 1 + bin(data[5]).count("1"):
            raise Refused
        self.here, *rest = given
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if data[5] >> number & 1:
                os.dup2(rest[0], number)
                os.close(rest.pop(0))
            else:
                os.close(number)
                setattr(sys, name, None)
        return int.from_bytes(data[1:5], "little") / 1e6

    def _take_inline(self, given: inline.Inline) -> float:
        self.here = given.take()
        return 0

    def become(self, umask: int) -> None:
        *parts, _ = self.body.split(b"\0")
        variables: dict[bytes, bytes] = {}
        for part in parts[self.count :]:
            name, equals, value = part.partition(b"=")
            if equals:
                variables.setdefault(name, value)
        ours: Any = os.environ
        clock = ours.get(b"TZ")
        for name in [name for name in ours if name not in variables]:
            os.unsetenv(name)
        for name, value in variables.items():
            if ours.get(name) != value:
                os.putenv(name, value)
        ours.clear()  # os.environ, if somebody has imported os, shows the same
        ours.update(variables)
        if ours.get(b"TZ") != clock:
            time.tzset()
        os.umask(umask)
        os.fchdir(self.here)
        argv = [word.decode(sys.getfilesystemencoding(), "surrogateescape") for word in parts[: self.count]]
        sys.argv[:] = argv[3:]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = argv
        sys.path[:], sys.meta_path[:] = self.zygote.path, self.zygote.meta_path

    def attend(self) -> None:
        """Have reported what is loaded from now on."""
        if self.zygote.learnt_from < learning.LESSONS:
            cache.LOADED.append(self._report_lessons)

    def _report_lessons(self) -> None:
        lines = learning.lessons(*self.known, own=sys.argv[1:2] == [self.zygote.policy])
        for piece in learning.pieces(lines):
            self._report(piece[:-1])

    def _heard(self, data: bytes, begun: float) -> None:
        """stdin has been read: the process for the policy reads the event at the same time as this one."""
        if self.prepared is not None:
            self.prepared.hear(data, begun)
        # An event like this one is what the next spares rehearse with.
        if self.zygote.last is None and len(data) < _REHEARSED and sum(map(len, sys.argv)) < 400:
            words = "\0".join(sys.argv[1:]).encode("utf-8", "surrogateescape")
            self._report(b"event\t%s\t%s" % (words.hex().encode(), data.hex().encode()))

    def _report(self, line: bytes) -> None:
        try:
            os.write(self.zygote.tell, line + b"\n")
        except OSError:  # the warm process has gone
            pass


class Prepared(Child):
    """The process for the policy, forked in advance. It is told what the other one has been told and has read, and no more."""

    def __init__(self, spare: Spare) -> None:
        super().__init__()
        self.spare = spare
        orders, theirs = _socket.socketpair()
        self.orders = orders
        self.pid = os.fork()
        if not self.pid:
            try:
                orders.close()
                spare.zygote.listener.close()
                lenient_output()
                spare.rehearse()
                self.ask(self._ordered(theirs))
            finally:
                os._exit(0)
        theirs.close()

    def become(self, umask: int) -> None:
        """As the other process becomes one that the client would have started, at the same time."""
        spare = self.spare
        head = b"".join(number.to_bytes(4, "little") for number in (len(spare.body), spare.count, umask))
        try:
            self.orders.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, spare.here.to_bytes(4, sys.byteorder))])
            self.orders.sendall(spare.body)
        except OSError:  # it was killed; the pipe says so, too
            pass

    def hear(self, data: bytes, begun: float) -> None:
        if len(data) > MAX_ORDER:  # now: the signal of its end must not be taken for one of the process that is forked instead
            Child.ready.remove(self)
            self.orders.close()
            os.waitpid(self.pid, 0)
            return
        try:
            self.orders.sendall(len(data).to_bytes(4, "little") + int(begun * 1e9).to_bytes(8, "little") + data)
        except OSError:
            pass

    def start(self, question: Question) -> int:
        try:
            self.orders.send(b"G")
        except OSError:
            pass
        os.close(self.write_end)
        return self.pid

    def _ordered(self, orders: _socket.socket) -> Question:
        head, ancillary, _, _ = orders.recvmsg(12, _socket.CMSG_SPACE(4))
        if len(head) != 12:
            raise Refused  # the event needs no policy, or the other process has gone
        size, count, umask = (int.from_bytes(head[at : at + 4], "little") for at in (0, 4, 8))
        spare = self.spare
        (spare.here,) = memoryview(ancillary[0][2]).cast("i")
        spare.body, spare.count = received(orders, size), count
        spare.become(umask)
        spare.attend()
        head = received(orders, 12)
        data = received(orders, int.from_bytes(head[:4], "little"))
        question = spare.zygote.question_of(sys.argv[1:], data, int.from_bytes(head[4:], "little") / 1e9)
        received(orders, 1)  # the other one has found that the policy is to be asked
        orders.close()
        return question
