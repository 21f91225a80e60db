"""The policy in a process of its own, so that nothing that it does can decide by accident.

The parent reads stdin, forks, and waits for the child's answer until the deadline. A handler that hangs in C code, calls os._exit, dies of
a signal or leaves children behind is then an error like any other, and what it prints goes to a file that no host waits for. A fork of
a bare interpreter costs half a millisecond. Where there is no fork (Windows), a thread keeps the deadline: it cannot interrupt C code
that holds the interpreter lock, and os._exit inside a policy is final there; docs/safety.md says so.
"""

from __future__ import annotations

import gc
import os
import sys

from onehook.codec import dumps, loads
from onehook.core import Hooks, OnehookError, Output, PayloadError, Response
from onehook.runner import alarm, checked, conclude, fail, is_manifest, load_policy, probed, source_says_closed, told, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from typing import Any, NoReturn

    from onehook.runner import Job
else:
    import _signal  # signal itself brings in enum: 3 ms on every event

# With our own lines it fits the smallest pipe buffer (16 KB), so that a host that reads stdout to its end first cannot block us.
MAX_NOISE = 12 * 1024
_AFTERLIFE = 2  # seconds that a policy's atexit functions may take after the answer was given


def run_policy(job: Job, hooks: Hooks | None) -> Output:
    _hold_standard_descriptors()
    if hooks is None and is_manifest(job.policy):
        return _here(job)
    if hasattr(os, "fork") and job.options.isolation == "process":
        return _forked(job, hooks)
    return _threaded(job, hooks)


def _hold_standard_descriptors() -> None:
    """A host may start us with stdout or stderr closed; what is opened next would take its number, and be written to."""
    try:
        while True:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor > 2:
                os.close(descriptor)
                return
    except OSError:
        return  # no /dev/null here: nothing to hold them with


def _policy(job: Job, hooks: Hooks | None) -> Hooks:
    gc.freeze()
    gc.enable()  # the launcher had switched it off
    return load_policy(job.policy, job.given) if hooks is None else hooks


def _message(error: BaseException) -> str:
    """What a person is told. The traceback goes to the policy's stderr."""
    cause = error.__cause__ if isinstance(error, OnehookError) else error
    if cause is not None:
        try:
            import traceback

            traceback.print_exception(type(cause), cause, cause.__traceback__)
        except Exception:  # stderr may be closed, __str__ may raise
            pass
    return told(error) if isinstance(error, OnehookError) else f"the policy raised {told(error)}"


def _made() -> dict[str, Any]:
    """How a policy that broke half-way wants to fail: it has perhaps made its Hooks already."""
    made = [hooks.options for hooks in Hooks.made]
    closed = [options for options in made if options.get("fail") == "closed"]
    return (closed or made or [{}])[-1]


# --- in this process -----------------------------------------------------------------------------------------------------------


class _Heard:
    """Replaces sys.stderr: what is written there comes after the answer, in one piece."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text = (self.text + text)[-MAX_NOISE:]


def _here(job: Job) -> Output:
    """A manifest runs no Python code but ours, and its programs are processes of their own, so a fork would only cost time."""
    real, heard = sys.stderr, _Heard()
    sys.stderr = heard
    message: dict[str, Any] = {}
    disarm = None
    try:
        policy = load_policy(job.policy, job.given)
        message["options"] = policy.options
        job.settle(policy.options)
        disarm = alarm(job.options.timeout)  # should we ourselves hang; programs are ended before
        assert job.event is not None
        message["response"] = checked(policy.dispatch(job.event)).to_dict()
    except Exception as error:
        message["error"] = told(error)
    finally:
        sys.stderr = real
        if disarm is not None:
            disarm()
    return _concluded(job, message, "", heard.text)


# --- with fork -----------------------------------------------------------------------------------------------------------------


def _forked(job: Job, hooks: Hooks | None) -> Output:
    read_end, write_end = os.pipe()
    noise = _noise_file()
    reader = _Reader(read_end)
    deadline = _Deadline(reader, job.begun)
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _child(job, hooks, write_end, noise)
    os.close(write_end)
    deadline.arm(job.options.timeout)
    if reader.line() and isinstance(reader.message.get("options"), dict):
        job.settle(reader.message["options"])
        deadline.arm(job.options.timeout)
        reader.line()
    deadline.disarm()
    problem = ""
    if "response" not in reader.message and "error" not in reader.message:
        problem = reader.garbled or "the policy's process ended without an answer"
        if deadline.passed:
            problem = f"the policy took longer than {job.options.timeout:g} s"
        _kill(child)
    return _concluded(job, reader.message, problem, _read_noise(noise))


class _Deadline:
    """Ends the waiting when time is up or the child is gone.

    The signal handlers raise nothing, since that could lose what had just been read: they make the pipe non-blocking, so that the read
    that is under way, or the next one, comes back.
    """

    def __init__(self, reader: _Reader, begun: float) -> None:
        import time

        self.now = time.monotonic
        self.begun = begun
        self.passed = False
        self.reader = reader
        _signal.signal(_signal.SIGALRM, self._on_alarm)
        _signal.signal(_signal.SIGCHLD, self._on_child)

    def _on_alarm(self, *_: object) -> None:
        self.passed = True
        os.set_blocking(self.reader.descriptor, False)

    def _on_child(self, *_: object) -> None:
        os.set_blocking(self.reader.descriptor, False)

    def arm(self, seconds: float) -> None:
        _signal.setitimer(_signal.ITIMER_REAL, max(0.001, self.begun + seconds - self.now()))

    def disarm(self) -> None:
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)


class _Reader:
    """The child's messages: one JSON object a line, first the policy's options, then the answer or the error."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.buffer = b""
        self.message: dict[str, Any] = {}
        self.garbled = ""

    def line(self) -> bool:
        """Take the next message into self.message; False when there will be none."""
        while b"\n" not in self.buffer:
            try:
                chunk = os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                return False
            if not chunk:
                return False
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        try:
            self.message.update(loads(line.decode("utf-8")))
        except (PayloadError, ValueError, TypeError):
            self.garbled = "the policy wrote into the pipe that carries its answer"
            return False
        return True


def _concluded(job: Job, message: dict[str, Any], problem: str, noise: str) -> Output:
    if isinstance(message.get("options"), dict):
        job.settle(message["options"])
    else:  # it was not loaded
        job.settle(message.get("made") or {})
        job.source_says_closed = source_says_closed(job.policy)
    if not problem and isinstance(message.get("response"), dict):
        try:
            return conclude(job, probed(job, Response(**message["response"])), noise)
        except Exception as error:
            problem = told(error)
    return fail(job, problem or str(message.get("error")), noise)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # the group first; it may not have been made yet
        try:
            kill(child, _signal.SIGKILL)
            break
        except OSError:
            continue
    try:
        os.waitpid(child, 0)
    except OSError:
        pass


def _child(job: Job, hooks: Hooks | None, pipe: int, noise: int) -> NoReturn:
    try:
        os.setpgid(0, 0)  # so that a deadline ends what a handler started, too
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(noise, 1)
        os.dup2(noise, 2)
        _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.alarm(int(job.options.timeout) + _AFTERLIFE)  # should the parent be killed, nobody else ends this process
        _lenient_output()
        result = _child_answer(job, hooks, pipe)
        _flush()
        _send(pipe, result)
        os.close(pipe)
        _signal.alarm(_AFTERLIFE)
        if "atexit" in sys.modules:
            sys.modules["atexit"]._run_exitfuncs()
    finally:
        os._exit(0)


def _child_answer(job: Job, hooks: Hooks | None, pipe: int) -> dict[str, Any]:
    assert job.event is not None
    try:
        policy = _policy(job, hooks)
        _send(pipe, {"options": policy.options})
        job.settle(policy.options)
        _signal.alarm(int(job.options.timeout) + _AFTERLIFE)
        return {"response": checked(policy.dispatch(job.event)).to_dict()}
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: an exit is not an answer
        return {"error": _message(error), "made": _made()}


def _send(pipe: int, message: dict[str, Any]) -> None:
    data = dumps(message).encode("ascii") + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _lenient_output() -> None:
    """A policy that prints must not fail because the host closed stdout, or because a command holds what the locale cannot spell."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream: Any = getattr(sys, name)
        try:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        except AttributeError:
            if stream is None:
                setattr(sys, name, open(descriptor, "w", encoding="utf-8", errors="backslashreplace", closefd=False))  # noqa: SIM115


def _flush() -> None:
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except Exception:  # a handler may have closed, replaced or deleted it
            continue


def _noise_file() -> int:
    """An anonymous file for what the policy and its children print: a child left behind then holds nothing that a host waits for."""
    try:
        return os.memfd_create("onehook")
    except (AttributeError, OSError):
        folder = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"
        path = os.path.join(folder, f"onehook-{os.getpid()}-{os.urandom(8).hex()}")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_TEMPORARY", 0), 0o600)
        except OSError:
            return os.open(os.devnull, os.O_RDWR)  # better to lose what is printed than not to run the policy
        if not hasattr(os, "O_TEMPORARY"):
            os.unlink(path)
        return descriptor


def _read_noise(descriptor: int) -> str:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    os.lseek(descriptor, max(0, size - MAX_NOISE), os.SEEK_SET)
    return os.read(descriptor, MAX_NOISE).decode("utf-8", "backslashreplace")


# --- without fork --------------------------------------------------------------------------------------------------------------


def _threaded(job: Job, hooks: Hooks | None) -> Output:
    """Runs the policy here, and writes the answer itself: stdout stays turned away from the host, since threads may go on printing."""
    import _thread

    real = [os.dup(1), os.dup(2)]

    def let_go() -> None:
        while real:
            os.close(real.pop())

    noise = _noise_file()
    for descriptor in (1, 2):
        os.dup2(noise, descriptor)
    if hasattr(os, "register_at_fork"):  # a forked child that stays behind must not keep a host waiting, nor answer in our place
        os.register_at_fork(after_in_child=let_go)
    _lenient_output()
    loaded: dict[str, Any] = {}
    result: dict[str, Any] = {}
    settled = _thread.allocate_lock()

    def finish(problem: str = "") -> Output:
        _flush()
        output = _concluded(job, {"made": _made(), **loaded, **result}, problem, _read_noise(noise))
        if real:
            write(output, *real)
        return Output("", output.exit_code)

    def watch() -> None:
        import time

        while time.monotonic() - job.begun < job.options.timeout:
            time.sleep(min(0.05, job.options.timeout))
            if result:
                return
        if settled.acquire(False):
            exit_code = 2 if job.closed else 1
            try:
                exit_code = finish(f"the policy took longer than {job.options.timeout:g} s").exit_code
            finally:
                os._exit(exit_code)

    _thread.start_new_thread(watch, ())
    try:
        policy = _policy(job, hooks)
        job.settle(policy.options)
        loaded["options"] = policy.options
        assert job.event is not None
        result["response"] = checked(policy.dispatch(job.event)).to_dict()
    except BaseException as error:
        result["error"] = _message(error)
    settled.acquire()  # never released: if the watcher has it, this process ends there
    return finish()
