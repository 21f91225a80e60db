"""Where a policy runs: in a separate process, so that nothing that it does can decide by accident.

forked: the parent forks, and waits for the child's message until the deadline. A handler that hangs in C code, calls os._exit, dies of
a signal or leaves children behind is then an error like any other, and what it prints goes to a file that no host waits for. A fork of
a bare interpreter costs half a millisecond.

threaded (threads.py): where there is no fork (Windows), a thread enforces the deadline.

here: for a manifest, which runs no Python code except ours. Its programs are separate processes, so a fork would only cost time.

All of them ask with policy.message_of, and pass the message and what was printed to `finish`, which turns them into the answer.
"""

from __future__ import annotations

import gc
import sys
import time

from onehook.cache import save
from onehook.codec import dumps, loads
from onehook.core import Hooks, Options, Output, PayloadError
from onehook.policy import message_of
from onehook.system import NOWHERE, os, signal, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    from onehook.core import Event
    from onehook.policy import Message

    Finish = Callable[[Message, str], Output]
    Surrounding = Callable[["Question", Finish], Output]

# With our own lines it fits the smallest pipe buffer (16 KB), so that a host that reads stdout to its end first cannot block us.
MAX_NOISE = 12 * 1024
MAX_ANSWER = 16 * 1024 * 1024
_MAX_KEPT = 4 * 1024 * 1024  # bytes of output that a policy may have in memory before everything except its end is discarded
TICK = 0.05  # seconds between two checks of that
_AFTERLIFE = 2  # seconds that a policy's atexit functions may take after the answer was given


class Question:
    """One event for one policy, and how long the policy may take."""

    __slots__ = ("begun", "event", "given", "load", "meanwhile", "options")

    def __init__(
        self,
        load: Callable[[], Hooks],
        event: Event,
        given: Mapping[str, Any],
        options: Mapping[str, Any],
        begun: float,
        meanwhile: Callable[[], object] | None = None,
    ) -> None:
        self.load = load
        self.event = event
        self.given = given  # options of the command line
        self.options = options  # the policy's, as far as they are known before it is loaded
        self.begun = begun
        self.meanwhile = meanwhile  # what the waiting process can do while the policy runs in another

    def seconds(self, options: Mapping[str, Any] | None = None) -> float:
        """The time for the whole event, with these options of the policy."""
        known = self.options if options is None else options
        return float(self.given.get("timeout") or known.get("timeout") or Options().timeout)

    def left(self, options: Mapping[str, Any] | None = None) -> float:
        """How many of those seconds are left; never 0, which would mean no limit."""
        return max(0.001, self.begun + self.seconds(options) - time.monotonic())


HELD: list[int] = []  # standard descriptors that the host had closed; what is written there reaches nobody


def hold_standard_descriptors() -> None:
    """A host may start us with stdout or stderr closed; what is opened next would take its number, and be written to."""
    try:
        while True:
            descriptor = os.open(NOWHERE, os.O_RDWR)
            if descriptor > 2:
                os.close(descriptor)
                return
            HELD.append(descriptor)
    except OSError:
        return  # there is no /dev/null to hold them with


def write(output: Output, stdout: int = 1, stderr: int = 2) -> int:
    """Write an answer and log it; returns the exit code."""
    exit_code = write_answer(output, stdout, stderr)
    log_answer(output, stderr)
    return exit_code


def log_answer(output: Output, stderr: int = 2) -> None:
    """Do what is left to do when the answer is written."""
    problem = output.after() if output.after is not None else ""
    save()
    if problem and not output.alone:
        _written(stderr, f"[onehook] {problem}")


def write_answer(output: Output, stdout: int = 1, stderr: int = 2) -> int:
    """Returns the exit code, which must carry the decision if the rest does not reach the host."""
    told = _written(stderr, output.stderr)
    if _written(stdout, output.stdout):
        # If the host reads the reason from stderr, it may treat exit 2 without one as a failed hook. stdout has the deny too.
        return output.exit_code if told or not (output.alone and output.stdout) else 0
    answer = output.answer
    if answer is None or (answer.decision not in ("deny", "ask") and (answer.modified_input or answer.modified_output) is None):
        return output.exit_code
    if not output.stderr:
        _written(stderr, f"onehook: the answer cannot be written to stdout (blocked): {answer.reason or answer.decision}")
    return output.exit_code or 2


def _written(descriptor: int, text: str) -> bool:
    data = f"{text}\n".encode("utf-8", "backslashreplace") if text else b""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:  # some hosts hand their own non-blocking pipe down
            os.set_blocking(descriptor, True)
        except OSError:
            return False  # the host has ended or closed this end
    return not text or descriptor not in HELD


def alarm(seconds: float) -> Callable[[], object] | None:
    """Have TimeoutError raised in a system call that takes longer; returns what cancels it. None where there are no timers (Windows)."""
    if not hasattr(signal, "setitimer"):
        return None

    def late(*_: object) -> None:
        raise TimeoutError

    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM, signal.SIGCHLD))  # a mask is inherited from the host
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return lambda: signal.setitimer(signal.ITIMER_REAL, 0)


# --- in this process -----------------------------------------------------------------------------------------------------------


class _Heard:
    """Replaces sys.stderr: what is written there is written after the answer, in one piece."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text = (self.text + text)[-MAX_NOISE:]


def here(question: Question, finish: Finish) -> Output:
    real, heard = sys.stderr, _Heard()
    disarm: list[Callable[[], object] | None] = []

    def tell(options: dict[str, Any]) -> None:
        disarm.append(alarm(question.left(options)))  # in case we ourselves hang; programs are ended before that

    sys.stderr = heard  # type: ignore[assignment,unused-ignore]
    try:
        message = message_of(question.load, question.event, tell)
    finally:
        sys.stderr = real
        for call_off in disarm:
            if call_off is not None:
                call_off()
    save()
    return finish(message, heard.text)


# --- with fork -----------------------------------------------------------------------------------------------------------------


class Child:
    """The process that asks the policy, before the question is known: it is forked once it is, or was forked in advance (resident/)."""

    ready: list[Child] = []  # noqa: RUF012  (those that were forked in advance)

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self.noise = Noise()

    def start(self, question: Question) -> int:
        child = os.fork()
        if child == 0:
            try:
                os.close(self.read_end)
                settle_in(self.noise.descriptor)
                self.ask(question)
            finally:
                os._exit(0)
        os.close(self.write_end)
        return child

    def ask(self, question: Question) -> NoReturn:
        """In the new process."""
        _ask(question, self.write_end, self.linger)

    def linger(self) -> None:
        """In the new process, before it ends."""

    def wait(self) -> None:
        """Before the next message is read."""

    def tick(self) -> None:
        """The policy is still running."""
        self.noise.trim()


def forked(question: Question, finish: Finish) -> Output:
    process = Child.ready.pop() if Child.ready else Child()
    noise, reader = process.noise, _Reader(process.read_end, process.wait)
    deadline = _Deadline(reader, process.tick, question.begun)
    child = process.start(question)
    message = reader.message
    deadline.arm(question.seconds())
    if question.meanwhile is not None:
        question.meanwhile()
    if reader.line() and isinstance(message.get("options"), dict):
        deadline.arm(question.seconds(message["options"]))
        reader.line()
    deadline.disarm()
    if "response" not in message and "error" not in message:
        message["error"] = reader.garbled or "the policy's process ended without an answer"
        if deadline.passed:
            message["error"] = too_slow(deadline.seconds)
        _kill(child)
    return finish(message, noise.text())


def too_slow(seconds: float) -> str:
    return f"the policy took longer than {seconds:g} s"


class _Deadline:
    """Ends the wait when time is up or the child has ended, and limits what the child prints until then.

    The signal handlers raise nothing, since that could lose what was just read: they make the pipe non-blocking, so that the current read,
    or the next one, returns.
    """

    def __init__(self, reader: _Reader, tick: Callable[[], None], begun: float) -> None:
        self.begun = begun
        self.seconds = 0.0
        self.passed = False
        self.reader = reader
        self.tick = tick
        signal.signal(signal.SIGALRM, self._on_alarm)
        signal.signal(signal.SIGCHLD, self._on_child)

    def _on_alarm(self, *_: object) -> None:
        self.tick()
        if time.monotonic() < self.begun + self.seconds:
            return
        self.passed = True
        self.reader.late = True
        os.set_blocking(self.reader.descriptor, False)

    def _on_child(self, *_: object) -> None:
        os.set_blocking(self.reader.descriptor, False)

    def arm(self, seconds: float) -> None:
        self.seconds = seconds
        left = max(0.001, self.begun + seconds - time.monotonic())
        signal.setitimer(signal.ITIMER_REAL, min(left, TICK), TICK)

    def disarm(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


class _Reader:
    """The child's messages: one JSON object a line, first the policy's options, then the answer or the error."""

    def __init__(self, descriptor: int, wait: Callable[[], None] = lambda: None) -> None:
        self.descriptor = descriptor
        self.wait = wait
        self.rest = b""  # what was read after the last message
        self.message: dict[str, Any] = {}
        self.garbled = ""
        self.late = False  # set when the deadline has passed: the rest of a long answer must not be read

    def line(self) -> bool:
        """Take the next message into self.message; False when there will be none."""
        chunks = [self.rest]
        size = len(self.rest)
        if b"\n" not in self.rest:
            self.wait()
        while b"\n" not in chunks[-1]:
            try:
                chunk = b"" if self.late else os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                return False
            if not chunk:
                return False
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_ANSWER:
                self.garbled = f"the policy's answer is larger than {MAX_ANSWER >> 20} MB"
                return False
        line, _, self.rest = b"".join(chunks).partition(b"\n")
        try:
            self.message.update(loads(line.decode("utf-8")))
        except (PayloadError, ValueError, TypeError):
            self.garbled = "the policy wrote into the pipe that carries its answer"
            return False
        return True


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # the group first; it may not exist yet
        try:
            kill(child, signal.SIGKILL)
            break
        except OSError:
            continue
    try:
        os.waitpid(child, 0)
    except OSError:
        pass


def settle_in(noise: int) -> None:
    """In the process for the policy: it no longer shares the host's streams, and what it prints goes to this file."""
    os.setpgid(0, 0)  # so that a deadline also ends what a handler started
    os.dup2(os.open(NOWHERE, os.O_RDONLY), 0)
    os.dup2(noise, 1)
    os.dup2(noise, 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    lenient_output()


def _ask(question: Question, pipe: int, linger: Callable[[], None]) -> NoReturn:
    def tell(options: dict[str, Any]) -> None:
        _send(pipe, {"options": options})
        _outlive(question.seconds(options))

    try:
        _outlive(question.seconds())
        collect_garbage_again()
        message = message_of(question.load, question.event, tell)
        save()
        flush()
        _send(pipe, message)
        os.close(pipe)
        _outlive(0)
        if "atexit" in sys.modules:
            sys.modules["atexit"]._run_exitfuncs()
        linger()
    finally:
        os._exit(0)


def _outlive(seconds: float) -> None:
    """End this process some time after the deadline: if the parent is killed, nobody else does."""
    signal.alarm(int(seconds) + _AFTERLIFE)


def collect_garbage_again() -> None:
    gc.freeze()
    gc.enable()  # the launcher had switched it off


def _send(pipe: int, message: dict[str, Any]) -> None:
    data = dumps(message).encode("ascii") + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def lenient_output() -> None:
    """A policy that prints must not fail because the host closed stdout, or because a command contains what the locale cannot encode."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream: Any = getattr(sys, name)
        try:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        except AttributeError:
            if stream is None:
                setattr(sys, name, open(descriptor, "w", encoding="utf-8", errors="backslashreplace", closefd=False))  # noqa: SIM115


def flush() -> None:
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except Exception:  # a handler may have closed, replaced or deleted it
            continue


class Noise:
    """What the policy and its children print; the end of it is shown."""

    def __init__(self) -> None:
        self.descriptor = _noise_file()
        self.kept = b""  # the end of what was discarded

    def _end(self) -> bytes:
        start = max(0, os.fstat(self.descriptor).st_size - MAX_NOISE)
        if hasattr(os, "pread"):
            return self.kept + os.pread(self.descriptor, MAX_NOISE, start)  # pread, since the position belongs to the writers
        os.lseek(self.descriptor, start, 0)
        return os.read(self.descriptor, MAX_NOISE)

    def trim(self) -> None:
        """Discard what will not be shown. The writers continue where they were, and the gap before takes no memory."""
        try:
            if os.fstat(self.descriptor).st_blocks * 512 > _MAX_KEPT:
                for _ in range(4):  # what is written between the check and the cut would be lost; there is no waiting for a constant writer
                    size = os.fstat(self.descriptor).st_size
                    self.kept = self._end()[-MAX_NOISE:]
                    if os.fstat(self.descriptor).st_size == size:
                        break
                os.ftruncate(self.descriptor, 0)
        except (AttributeError, OSError):  # no such numbers here (Windows)
            pass

    def text(self) -> str:
        return self._end()[-MAX_NOISE:].decode("utf-8", "backslashreplace")


def _noise_file() -> int:
    """An anonymous file for what the policy and its children print: a child left behind then holds nothing that a host waits for."""
    try:
        return os.memfd_create("onehook")
    except (AttributeError, OSError):
        path = f"{variable('TMPDIR') or variable('TEMP') or '/tmp'}/onehook-{os.getpid()}-{os.urandom(8).hex()}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_TEMPORARY", 0), 0o600)
        except OSError:
            return os.open(NOWHERE, os.O_RDWR)  # better to lose what is printed than not to run the policy
        if not hasattr(os, "O_TEMPORARY"):
            os.unlink(path)
        return descriptor
