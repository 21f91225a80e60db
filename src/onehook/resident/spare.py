"""A fork of the warm process that waits for an event, and becomes the process that would have been started for it."""

from __future__ import annotations

import _socket
import sys
import time
from select import POLLIN, poll

from onehook import cache
from onehook.core import STOPS
from onehook.isolate import Child, log_answer, settle_in, write, write_answer
from onehook.policy import read_ahead
from onehook.resident import inline, learning
from onehook.resident.asking import HEAD, MAGIC, is_open, request_of
from onehook.resident.inline import Refused, received
from onehook.system import NOWHERE, os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from onehook.core import Output
    from onehook.isolate import Question
    from onehook.resident.zygote import Zygote

LEAVE = signal.SIGUSR1  # makes a spare end, unless it has taken an event: then the waiting client runs its command
REQUEST_WITHIN = 10  # seconds: an agent that asks from inside itself may be busy once it has connected
PATIENCE = 1  # seconds to check files
MAX_REQUEST = 8 << 20  # bytes; the system does not allow more words and variables
MAX_ORDER = 1 << 17  # bytes of a payload that two processes read; a larger one justifies a fork
_REHEARSED = 1500  # bytes of a payload that is kept to rehearse with
_SYNTAX = frozenset("|&;<>()$`*?[]{}!#~\\\n\"'")  # in a command that is more than words
# Seconds for which to poll for a message from the other process before waiting for it: on a virtual machine, waking up
# takes 0.1 to 0.2 ms, and happens four times.
_SOON = 0.0005


def timeval(seconds: int) -> bytes:
    """struct timeval: two longs, on all systems that have fork."""
    return seconds.to_bytes(8, sys.byteorder) + bytes(8)


class Spare:
    def __init__(self, zygote: Zygote) -> None:
        self.zygote = zygote
        self.known = set(sys.modules), learning.compiled()
        self.body, self.count, self.here = b"", 0, -1
        self.data = b""  # what was read from stdin
        self.prepared: Prepared | None = None
        self.inline: inline.Inline | None = None
        self.taken, self.next = False, -1  # next: the number that the next descriptor gets
        self.told = False  # whether the warm process knows that this one has taken an event
        self.variables = b""  # those of this process, in the form of a request

    def answer_next(self) -> NoReturn:
        if not self.zygote.is_manifest:
            self.prepared = Prepared(self)
            Child.ready.append(self.prepared)
        self.rehearse()
        _keep_to_half(0)
        connection = self._accepted()
        begun = time.monotonic()
        _keep_to_any()
        connection.send(b"R" + os.getpid().to_bytes(4, "little"))  # the client continues in the meantime
        self.zygote.listener.close()
        # Not with settimeout(), which polls the connection before every read and write.
        connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVTIMEO, timeval(REQUEST_WITHIN))
        umask = self._read_request(connection)
        if self.prepared is not None:
            self.prepared.become(umask)
        if self._is_outdated():
            self._report(b"outdated")
            os._exit(0)  # nothing has been read, and the client runs the command
        self.become(umask)
        waited = self._take_descriptors(connection) if self.inline is None else self._take_inline(self.inline)
        os.fchdir(self.here)
        self.attend()
        if self.prepared is None or not _is_readable(0):
            self.say_taken()
        os.register_at_fork(after_in_child=connection.close)  # processes that a handler leaves behind must not keep the client waiting
        output = self.zygote.answer(sys.argv[1:], waited, self._heard)
        if self.inline is None:
            exit_code = self._tell(connection, output)
        else:
            exit_code = write(output)
            self.inline.tell(exit_code)
        self._report(b"done\t%d" % ((time.monotonic() - begun) * 1e6))
        self._report_sample(output)
        if self.inline is not None:
            self.inline.linger()
        os._exit(exit_code)

    def _is_outdated(self) -> bool:
        """If the file system does not answer, end this process, since the client waits as long as it lives."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        outdated = cache.is_outdated(self.zygote.files)
        signal.alarm(0)
        return outdated

    def _tell(self, connection: _socket.socket, output: Output) -> int:
        """Tell the client that the answer is written, so that it ends without waiting for the line in the log."""
        connection.send(b"W")
        exit_code = write_answer(output)
        connection.send(bytes([ord("X"), exit_code & 0xFF]))
        nowhere = os.open(NOWHERE, os.O_RDWR)
        for number in (0, 1):  # an agent may wait until they are closed; problems with the log are reported on stderr
            os.dup2(nowhere, number)
        log_answer(output)
        return exit_code

    def rehearse(self) -> None:
        """Write to memory pages now, so that they need not be copied while an agent waits."""
        try:
            for words, payload in self.zygote.rehearsed()[-1:]:
                self._take_from_ourselves(words, payload)
                self.zygote.rehearse(sys.argv[1:])
            # Events of a policy in Python differ only in the policy's own code, which a rehearsal does not run.
            for words, payload in self.zygote.rehearsed()[:-1] if self.zygote.is_manifest else ():
                if _is_readable(self.zygote.listener.fileno()):  # somebody is waiting
                    break
                self.zygote.rehearse(words, payload)
        except Exception:  # then the event takes a little longer
            pass

    def _take_from_ourselves(self, words: list[str], data: bytes) -> None:
        """Take a request as if from a client with this process's folder and variables."""
        ours, theirs = _socket.socketpair()
        for end in (ours, theirs):
            end.settimeout(0)  # nobody else reads or writes it, so an operation that would block raises
        umask = os.umask(0o077)
        variables: Any = os.environ
        argv = [*[b"-"] * 4, *(word.encode("utf-8", "surrogateescape") for word in words)]
        theirs.sendall(request_of(argv, variables, umask))
        stdin, write_end = os.pipe()
        given = (os.open(".", os.O_RDONLY), stdin, 1, 2)
        os.write(write_end, data)
        rights = b"".join(number.to_bytes(4, sys.byteorder) for number in given)
        self._read_request(ours)
        cache.is_outdated(self.zygote.files)
        theirs.sendmsg([b"G\0\0\0\0\7"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        self.become(umask)
        self._take_descriptors(ours)
        os.fchdir(self.here)
        for number in (*given[:2], write_end, self.here):
            os.close(number)

    def _accepted(self) -> _socket.socket:
        """The next client. Not with poll(), which wakes all spares for one client."""
        self.next = os.dup(0)
        os.close(self.next)
        signal.signal(LEAVE, self._leave)
        while os.getppid() == self.zygote.pid:  # which may have ended before this process got here
            try:
                descriptor, _ = self.zygote.listener._accept()  # type: ignore[attr-defined]
            except OSError:  # nobody came for a while
                continue
            self.taken = True
            return _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, descriptor)  # passed explicitly, so that the system is not asked
        os._exit(0)  # the warm process was killed

    def _leave(self, *_: object) -> None:
        """End, unless a client was accepted. The signal may arrive before this process knows of the client, but the descriptor exists."""
        if not self.taken and not is_open(self.next):
            os._exit(0)

    def _read_request(self, connection: _socket.socket) -> int:
        """Returns the umask. Reads exactly the request: the next bytes may carry the descriptors."""
        head = received(connection, HEAD)
        size, umask, self.count = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8, 12))
        if head[:4] not in (MAGIC, inline.MAGIC) or size > MAX_REQUEST or self.count < 5:
            raise Refused
        self.body = received(connection, size)
        if head[:4] == inline.MAGIC:
            self.inline = inline.Inline(connection, head + self.body)
        # Without a separate process for the policy, an exit in the policy ends this process, and the client would not notice.
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
        """Take over the words, variables and umask of a request. The caller enters the folder."""
        *words, variables = self.body.split(b"\0", self.count)
        if variables != self.variables:
            self._take_variables(variables)
        os.umask(umask)
        argv = [word.decode(sys.getfilesystemencoding(), "surrogateescape") for word in words]
        sys.argv[:] = argv[3:]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = argv
        sys.path[:], sys.meta_path[:] = self.zygote.path, self.zygote.meta_path

    def _take_variables(self, block: bytes) -> None:
        variables: dict[bytes, bytes] = {}
        for part in block.split(b"\0"):
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
        ours.clear()  # os.environ, if os was imported, shares this dict
        ours.update(variables)
        if ours.get(b"TZ") != clock:
            time.tzset()
        self.variables = block

    def attend(self) -> None:
        """Report what is loaded from now on."""
        if self.zygote.learnt_from < learning.LESSONS:
            cache.LOADED.append(self._report_lessons)

    def is_own(self) -> bool:
        """Whether the event is one of the policy that the warm process is for; the tests' process has no policy."""
        return sys.argv[1:2] == [self.zygote.policy]

    def _report_lessons(self) -> None:
        lines = learning.lessons(*self.known, own=self.is_own())
        for piece in learning.pieces(lines):
            self._report(piece[:-1])

    def _heard(self, data: bytes, begun: float) -> None:
        """stdin was read: let the process for the policy read the event at the same time as this one."""
        if self.prepared is not None:
            self.prepared.hear(data, begun)
        self.data = data

    def say_taken(self) -> None:
        """Have another spare forked. This wakes the warm process, which then uses a processor that the policy's process could use."""
        if not self.told:
            self.told = True
            self._report(b"taken\t%d" % os.getpid())

    def _report_sample(self, output: Output) -> None:
        """Report an event for the next spares to rehearse with. Events of one kind take the same path through the code: they have the same
        tool, a command that either is plain words or has to be parsed, and an answer or none. A stop is not rehearsed."""
        event = output.event
        if event is None or event.event in STOPS or not self.is_own():
            return
        is_call, is_plain = event.event == "PreToolUse", _SYNTAX.isdisjoint(event.command)
        kind = f"{is_call:d} {event.event} {event.tool} {is_plain:d} {bool(output.by):d}".encode("ascii", "replace")
        if self.zygote.wants(kind) and len(self.data) < _REHEARSED and sum(map(len, sys.argv)) < 400:
            words = "\0".join(sys.argv[1:]).encode("utf-8", "surrogateescape")
            self._report(b"event\t%s\t%s\t%s" % (kind, words.hex().encode(), self.data.hex().encode()))

    def _report(self, line: bytes) -> None:
        try:
            os.write(self.zygote.tell, line + b"\n")
        except OSError:  # the warm process has gone
            pass


class Prepared(Child):
    """The process for the policy, forked in advance. It gets exactly what the other process has received and read."""

    def __init__(self, spare: Spare) -> None:
        super().__init__()
        self.spare = spare
        self.orders, self.theirs = _socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            try:
                self.orders.close()
                spare.zygote.listener.close()
                os.close(self.read_end)
                spare.rehearse()
                settle_in(self.noise.descriptor)
                _keep_to_half(1)
                self.ask_as_ordered(self.theirs)
            finally:
                os._exit(0)
        self.theirs.close()

    def become(self, umask: int) -> None:
        """Become the process that the client would have started, at the same time as the other process does."""
        spare = self.spare
        head = b"".join(number.to_bytes(4, "little") for number in (len(spare.body), spare.count, umask))
        self._send(head + spare.body)

    def hear(self, data: bytes, begun: float) -> None:
        if len(data) > MAX_ORDER:  # end it now: its exit must not be mistaken for that of the process that is forked instead
            Child.ready.remove(self)
            self.orders.close()
            os.waitpid(self.pid, 0)
            self.spare.say_taken()
            return
        head = len(data).to_bytes(4, "little") + int(begun * 1e9).to_bytes(8, "little")
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, self.spare.here.to_bytes(4, sys.byteorder))]
        try:
            self.orders.sendmsg([head], rights)
        except OSError:  # it was killed; the pipe shows that too
            return
        self._send(data)

    def start(self, question: Question) -> int:
        self._send(b"G")
        os.close(self.write_end)
        return self.pid

    def _send(self, data: bytes) -> None:
        try:
            self.orders.sendall(data)
        except OSError:
            pass

    def wait(self) -> None:
        _look_for(self.read_end)

    def tick(self) -> None:
        super().tick()
        self.spare.say_taken()

    def linger(self) -> None:
        """Wait: freeing the memory of a process that ends takes half a millisecond, in which the client could end."""
        self.theirs.recv(1)

    def ask_as_ordered(self, orders: _socket.socket) -> NoReturn:
        """Wait for the orders of the other process, and ask the policy. Runs in the new process."""
        spare = self.spare
        head = received(orders, 12)  # Refused: the event does not need the policy, or the other process has ended
        _keep_to_any()
        size, spare.count, umask = (int.from_bytes(head[at : at + 4], "little") for at in (0, 4, 8))
        spare.body = received(orders, size)
        spare.become(umask)
        spare.attend()
        request = spare.zygote.requested(sys.argv[1:])
        read_ahead(request.policy)
        _look_for(orders.fileno())
        head, ancillary, _, _ = orders.recvmsg(12, _socket.CMSG_SPACE(4))
        if len(head) != 12:
            raise Refused
        (here,) = memoryview(ancillary[0][2]).cast("i")
        os.fchdir(here)
        data = received(orders, int.from_bytes(head[:4], "little"))
        question = spare.zygote.question_of(request, data, int.from_bytes(head[4:], "little") / 1e9)
        _look_for(orders.fileno())
        received(orders, 1)  # the other process has determined that the policy is to be asked
        self.ask(question)


_PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []  # where this process may run


def _keep_to_half(half: int) -> None:
    """Keep this process to half of the processors. A process that is woken is placed on the processor of the one that wakes it, and waits
    for it there; so two that should run at the same time are kept apart until both are awake."""
    _keep_to(_PROCESSORS[half::2])


def _keep_to_any() -> None:
    _keep_to(_PROCESSORS)


def _keep_to(processors: list[int]) -> None:
    if len(_PROCESSORS) > 1:
        try:
            os.sched_setaffinity(0, processors)
        except OSError:  # this process may no longer use them
            pass


def _is_readable(descriptor: int) -> bool:
    looking = poll()
    looking.register(descriptor, POLLIN)
    return bool(looking.poll(0))


def _look_for(descriptor: int) -> None:
    """Return as soon as there is something to read, or after a moment: see _SOON."""
    looking = poll()
    looking.register(descriptor, POLLIN)
    until = time.monotonic() + (_SOON if len(_PROCESSORS) > 1 else 0)
    while not looking.poll(0) and time.monotonic() < until:
        pass
