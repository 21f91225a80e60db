"""stdin -> host -> event -> handlers -> response -> output.

Rules of this file and of isolate.py, the only two that touch stdio on the way to a decision:
- stdout carries the host's JSON and nothing else; what a handler prints goes to stderr.
- stdin is read to its end, always, and never trusted.
- Whatever goes wrong becomes either the host's proven deny (fail closed, on an event that can be stopped) or an error on stderr and
  exit 1 (fail open).
"""

from __future__ import annotations

import os
import sys
import time

from onehook.codec import dumps, loads, text_of
from onehook.core import Event, HandlerError, Hooks, OnehookError, Options, Output, PayloadError, Response, UsageError, overlaid
from onehook.hostkit.effects import compile_response, gates
from onehook.hosts import HOSTS, happens, optional, resolve, wire_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from typing import Any, NoReturn

    from onehook.core import Drop
    from onehook.hostkit.effects import Row
    from onehook.hosts import Wire
else:
    import _signal  # signal itself brings in enum: 3 ms on every event

MAX_PAYLOAD = 64 * 1024 * 1024
MAX_POLICY = 4 * 1024 * 1024
PROBE_REASON = "onehook doctor: this is a probe"
USAGE = (
    "onehook run POLICY [--host ID] [--event NAME] [--fail open|closed] [--timeout S] [--ask-fallback [ID=]D] [--on-unsupported warn|deny]"
)


class Job:
    """One event on its way through: what is known so far, so that an error at any point can be answered in the host's words."""

    __slots__ = ("begun", "event", "event_name", "given", "hints", "hosts", "options", "policy", "probe", "source_says_closed", "wire")

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.policy = ""
        self.hosts: list[str] = []  # who may have sent it; more than one where hosts share an entry
        self.probe = ""  # doctor's question: load the policy, then answer this, whatever it says
        self.event_name = ""
        self.given: dict[str, Any] = {}  # options of the command line and of run(), which win over the policy's
        self.options = Options()
        self.source_says_closed = False
        self.wire: Wire | None = None
        self.event: Event | None = None
        self.hints: list[str] = []  # texts of a payload that could not be understood; one of them may name the event

    def settle(self, policy_options: dict[str, Any]) -> None:
        """Merge the policy's options under the given ones."""
        merged = dict(policy_options)
        merged.update({name: value for name, value in self.given.items() if value is not None})
        self.options = Options(merged)

    @property
    def closed(self) -> bool:
        """Fail closed? A policy that cannot be loaded cannot say it, so its source is asked too."""
        if self.given.get("fail"):
            return bool(self.given["fail"] == "closed")
        return self.options.fail == "closed" or self.source_says_closed


def parse_arguments(argv: list[str], job: Job) -> None:
    """Fill the job from the command line. By hand: argparse costs 8 ms on every event."""
    rest = list(argv)
    problems: list[str] = []
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            if job.policy:
                problems.append(f"unexpected argument {word!r}")
            job.policy = job.policy or word
            continue
        name, equals, value = word[2:].partition("=")
        # An option is never the value of another: `--event --fail closed` is an error that fails closed.
        if not equals and rest and not rest[0].startswith("--"):
            value = rest.pop(0)
        problem = _take_option(job, name, value) if value else f"--{name} needs a value"
        if problem:
            problems.append(problem)
            if name == "fail":  # nobody writes --fail to get the default
                job.given["fail"] = "closed"
    # The good options are in place before a bad one is reported, so that --fail closed holds for the report itself.
    if problems:
        raise UsageError(f"{problems[0]}\nusage: {USAGE}")


def _take_option(job: Job, name: str, value: str) -> str:
    if name == "host":
        job.hosts.append(value)
    elif name == "event":
        job.event_name = value
    elif name == "probe" and value in ("allow", "deny"):
        job.probe = value
    else:
        try:
            job.given.update(Options.read(name.replace("-", "_"), value))
        except UsageError as error:
            return f"--{name}: {error}"
    return ""


def read_stdin(seconds: float = 0) -> bytes:
    """Everything on stdin, within this time (0: no limit).

    A hook that exits before its host has written all is reported as failed, so what is too much is read and thrown away.
    """
    disarm = alarm(seconds) if seconds else None
    chunks: list[bytes] = []
    size = 0
    while True:
        try:
            chunk = os.read(0, 1 << 16)
        except BlockingIOError:  # some hosts hand their own non-blocking pipe down
            os.set_blocking(0, True)
            continue
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise PayloadError(f"stdin was not closed within {seconds:g} s") from None
            break
        if not chunk:
            break
        size += len(chunk)
        if size <= MAX_PAYLOAD:
            chunks.append(chunk)
        else:
            chunks.clear()
    if disarm is not None:
        disarm()
    if size > MAX_PAYLOAD:
        raise PayloadError(f"the payload is larger than {MAX_PAYLOAD >> 20} MB")
    return b"".join(chunks)


def alarm(seconds: float) -> Callable[[], object] | None:
    """Have TimeoutError raised in a system call that takes longer; returns what calls it off. None where there are no timers (Windows)."""
    if not hasattr(_signal, "setitimer"):
        return None

    def late(*_: object) -> None:
        raise TimeoutError

    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM, _signal.SIGCHLD))  # a mask is inherited from the host
    _signal.signal(_signal.SIGALRM, late)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)
    return lambda: _signal.setitimer(_signal.ITIMER_REAL, 0)


def take_payload(job: Job, data: bytes) -> Event:
    """The event of a payload; job.wire is set as soon as it is known."""
    _guess_wire(job)
    payload = loads(text_of(data))
    if not isinstance(payload, dict):
        raise PayloadError("the payload is not a JSON object")
    job.hints = [value for value in payload.values() if isinstance(value, str)]
    job.wire = resolve(job.hosts, payload)
    job.event = job.wire.parse(payload, job.event_name)
    if job.hosts and job.wire.ID not in job.hosts and _answers_itself(job, job.wire.ID):
        job.event.echo = True
    job.event.echo = job.event.echo or not happens(job.wire, job.event)
    return job.event


def _answers_itself(job: Job, host: str) -> bool:
    """Whether the host that runs this entry of another host has one of its own for the same event and policy."""
    own = optional(host, "own_entries")
    assert job.event is not None
    return own is not None and own.answers(job.event.event, job.policy, job.given.get("fail") == "closed")


def conclude(job: Job, response: Response, noise: str = "") -> Output:
    """The host's words for the policy's answer."""
    assert job.wire is not None and job.event is not None
    if job.event.event in ("Stop", "SubagentStop"):
        from onehook.stopguard import guarded

        response, drops = guarded(job.event, response, job.options)
    else:
        drops = []
    answer, lost = compile_response(job.wire, job.event, response, job.options)
    drops += lost
    try:
        output = job.wire.render(job.event, answer, bool(drops or noise))
    except (TypeError, ValueError) as error:  # a number of the payload's own input may have no JSON form (1e999)
        raise HandlerError(f"the answer cannot be written as JSON: {error}") from None
    if answer.native is not None and job.wire.ID in answer.native:
        _add_native(output, answer.native[job.wire.ID])
    output.answer = answer
    return _with_chatter(output, drops, noise)


def _add_native(output: Output, native: dict[str, Any]) -> None:
    """What a program said in the host's own words beyond any field, put back into the answer, which is the last line."""
    before, newline, last = output.stdout.rpartition("\n")
    body = loads(last) if last else {}
    output.stdout = f"{before}{newline}{dumps(overlaid(body, native))}"


def probed(job: Job, response: Response) -> Response:
    """The policy's answer, or what doctor asked to hear instead. Only an answer is replaced, never an error."""
    if not job.probe:
        return response
    return Response("deny", PROBE_REASON) if job.probe == "deny" else Response()


def _with_chatter(output: Output, drops: list[Drop], noise: str) -> Output:
    output.dropped = drops
    if not output.alone:
        parts = [str(drop) for drop in drops] + [noise.rstrip("\n"), output.stderr]
        output.stderr = "\n".join(part for part in parts if part)
    return output


def fail(job: Job, message: str, noise: str = "", unreadable: bool = False) -> Output:
    """The answer to an error: the host's proven deny under fail closed, else no opinion and the error on stderr."""
    denial = _denial(job, f"onehook: {message} (blocked: fail=closed)", noise) if job.closed else None
    if denial is not None:
        denial.error = message
        return denial
    parts = [noise.rstrip("\n"), f"[onehook] error: {message}"]
    stdout, exit_code = "", 1
    if job.wire is not None:
        stdout, exit_code = job.wire.UNREADABLE if unreadable else ("", job.wire.ERROR_EXIT)
    output = Output(stdout, exit_code, "\n".join(part for part in parts if part))
    output.error = message
    return output


def _denial(job: Job, reason: str, noise: str) -> Output | None:
    """The host's proven deny, or None on an event where a deny prevents nothing."""
    if job.event is None:
        rows = _possible_events(job)
        gating = [(name, row) for name, row in rows if row.gates]
        if rows and not gating:
            return None
        if job.wire is None or not gating:
            # Exit 2 with the reason on stderr is the one form of deny that needs no event; every host here obeys it.
            return Output("", 2, reason, alone=True)
        name, row = gating[0]
        job.event = Event(row.event, job.wire.ID)
        job.event.native_event = name
    assert job.wire is not None
    if not gates(job.wire, job.event):
        return None
    job.options.on_unsupported = "warn"
    output = conclude(job, Response("deny", reason), noise)
    if not output.alone and reason not in output.stderr:
        output.stderr = f"{output.stderr}\n{reason}".lstrip("\n")  # not every event of every host has a channel for the reason
    return output


def _possible_events(job: Job) -> list[tuple[str, Row]]:
    """What an event that could not be read may be, by --event and by the texts in the payload; empty if nothing is known."""
    names = [*job.hints, job.event_name]
    wires = [job.wire] if job.wire is not None else [wire_of(host) for host in HOSTS]
    return [(name, row) for wire in wires for name, row in wire.EVENTS.items() if name in names or row.event in names]


def load_policy(path: str, given: dict[str, Any] | None = None) -> Hooks:
    """The Hooks object of a policy file: the one named `hooks`, or the only one; of a manifest, the one that it describes.

    `given`: the options of the command line, which a manifest's programs follow where they say nothing themselves.
    """
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise UsageError(f"the policy {path} cannot be read: {error.strerror}") from None
    if is_manifest(path):
        from onehook.manifest.load import load_manifest

        return load_manifest(path, source, given)
    module = type(sys)("onehook_policy")
    module.__file__ = os.path.abspath(path)
    sys.modules["onehook_policy"] = module
    # Appended, never inserted: a json.py beside the policy must not become json.
    sys.path.append(os.path.dirname(module.__file__))
    # Compiled from the source each time: a .pyc in the repository could be forged without the policy changing.
    exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)
    return hooks_in(module.__dict__, path)


def is_manifest(path: str) -> bool:
    return path.endswith(".toml")


def hooks_in(namespace: dict[str, Any], path: str) -> Hooks:
    named = namespace.get("hooks")
    if isinstance(named, Hooks):
        return named
    found = [value for value in namespace.values() if isinstance(value, Hooks)]
    distinct = [hooks for index, hooks in enumerate(found) if hooks not in found[:index]]
    if len(distinct) == 1:
        return distinct[0]
    what = "no Hooks object" if not distinct else f"{len(distinct)} Hooks objects and none named `hooks`"
    raise UsageError(f"{path} has {what}; write `hooks = Hooks()` in it")


def source_says_closed(path: str) -> bool:
    """Whether a policy that cannot be loaded was written to fail closed."""
    try:
        if not os.path.isfile(path):  # a FIFO would be waited for
            return False
        with open(path, "rb") as file:
            source = file.read(MAX_POLICY)
    except (OSError, ValueError):
        return False
    plain = b"".join(source.replace(b"\0", b"").split()).replace(b"'", b'"')  # without the zeros, UTF-16 reads like ASCII
    return b'fail="closed"' in plain or b'"fail":"closed"' in plain


def answer(job: Job, data: bytes, hooks: Callable[[], Hooks]) -> Output:
    """The whole way in this process, without a deadline: for tests and for `onehook fire`."""
    try:
        event = take_payload(job, data)
    except Exception as error:
        return fail(job, told(error), unreadable=isinstance(error, PayloadError))
    try:
        policy = hooks()
        job.settle(policy.options)
        return conclude(job, checked(policy.dispatch(event)))
    except Exception as error:
        return fail(job, told(error))


def told(error: BaseException) -> str:
    """What a person is told about an error that came up in onehook or while a policy was loaded."""
    try:
        text = str(error)
    except Exception:  # __str__ is the policy's code too
        text = ""
    if isinstance(error, OnehookError):
        return text
    return type(error).__name__ + (f": {text}" if text else "")


def checked(response: Response) -> Response:
    """A rewrite must survive JSON before it is promised."""
    if response.modified_input is not None:
        try:
            dumps(response.modified_input)
        except (TypeError, ValueError) as error:
            raise HandlerError(f"modified_input cannot be written as JSON: {error}") from None
    return response


def respond(argv: list[str], hooks: Hooks | None, overrides: dict[str, Any], host: str | None = None) -> Output:
    """Answer the event on stdin, with the policy in a process of its own. Whatever goes wrong, stdin is read and an answer given."""
    job = Job()
    output = _respond(job, argv, hooks, overrides, host)
    if os.environ.get("ONEHOOK_RECORD"):
        from onehook.recorder import keep

        keep(job, output)
    return output


def _respond(job: Job, argv: list[str], hooks: Hooks | None, overrides: dict[str, Any], host: str | None) -> Output:
    problem = _prepare(job, argv, hooks, overrides, host)
    unreadable = False
    try:
        event = take_payload(job, read_stdin(job.options.timeout))
        if event.echo and not problem:
            return conclude(job, Response())  # without loading the policy
        if not problem:
            from onehook.isolate import run_policy

            return run_policy(job, hooks)
    except Exception as error:  # not only OnehookError: a defect of ours must not become an allow either
        unreadable = isinstance(error, PayloadError) and not problem
        problem = problem or told(error)
    job.source_says_closed = any(source_says_closed(word) for word in argv)
    return fail(job, problem, unreadable=unreadable)


def _guess_wire(job: Job) -> None:
    """Before the payload is read: the named host, so that an unreadable payload is answered in its words."""
    known = [name for name in job.hosts if name in HOSTS]
    if known:
        job.wire = wire_of(known[0])


def _prepare(job: Job, argv: list[str], hooks: Hooks | None, overrides: dict[str, Any], host: str | None) -> str:
    """Settle the options; returns what is wrong with them."""
    problems: list[str] = []
    for name, value in overrides.items():
        try:
            job.given.update(Options.checked({name: value}))
        except UsageError as error:
            problems.append(str(error))
    try:
        parse_arguments(argv, job)
        if hooks is None and not job.policy:
            problems.append(f"no policy given\nusage: {USAGE}")
    except UsageError as error:
        problems.append(str(error))
    job.settle(hooks.options if hooks is not None else {})
    if host:
        job.hosts = [host]
    _guess_wire(job)  # an error before the payload is read is answered in its words too
    return problems[0] if problems else ""


def write(output: Output, stdout: int = 1, stderr: int = 2) -> None:
    for descriptor, text in ((stderr, output.stderr), (stdout, output.stdout)):
        data = f"{text}\n".encode("utf-8", "backslashreplace") if text else b""
        while data:
            try:
                data = data[os.write(descriptor, data) :]
            except BlockingIOError:  # some hosts hand their own non-blocking pipe down
                os.set_blocking(descriptor, True)
            except OSError:
                break  # the host has gone or closed this end; the exit code still says it


def run(hooks: Hooks, host: str | None = None, **options: Any) -> NoReturn:
    """Answer the event on stdin with this policy and exit. Options given here win over those of the Hooks object."""
    output = respond(sys.argv[1:], hooks, options, host)
    write(output)
    # What the policy printed before run() was called is still in the buffer of sys.stdout, and has been shown on stderr.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(output.exit_code)


def main(argv: list[str]) -> NoReturn:
    """The launcher's way: no interpreter shutdown, since nothing is left to clean up."""
    try:
        output = respond(argv, None, {})
    except BaseException as error:  # the last line of defence, and KeyboardInterrupt
        closed = any("closed" in word or source_says_closed(word) for word in argv)
        output = Output("", 2 if closed else 1, f"[onehook] internal error: {type(error).__name__}: {error}", alone=True)
    write(output)
    os._exit(output.exit_code)
