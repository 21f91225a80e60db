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

from onehook.codec import loads, text_of
from onehook.core import Event, HandlerError, Hooks, OnehookError, Options, Output, PayloadError, Response, UsageError
from onehook.hosts import resolve, wire_of
from onehook.hosts.effects import compile_response, gates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from onehook.core import Drop
    from onehook.hosts import Wire

MAX_PAYLOAD = 64 * 1024 * 1024
USAGE = "onehook run POLICY [--host ID] [--event NAME] [--fail open|closed] [--timeout S] [--ask-fallback D] [--on-unsupported warn|deny]"


class Job:
    """One event on its way through: what is known so far, so that an error at any point can be answered in the host's words."""

    __slots__ = ("event", "event_name", "given", "host", "options", "policy", "source_says_closed", "wire")

    def __init__(self) -> None:
        self.policy = ""
        self.host = ""
        self.event_name = ""
        self.given: dict[str, Any] = {}  # options of the command line and of run(), which win over the policy's
        self.options = Options()
        self.source_says_closed = False
        self.wire: Wire | None = None
        self.event: Event | None = None

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
    problem = ""
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            if job.policy:
                problem = problem or f"unexpected argument {word!r}"
            job.policy = job.policy or word
            continue
        name, equals, value = word[2:].partition("=")
        if not equals:
            if not rest:
                problem = problem or f"--{name} needs a value"
                break
            value = rest.pop(0)
        problem = _take_option(job, name, value) or problem
    # The good options are in place before a bad one is reported, so that --fail closed holds for the report itself.
    if problem:
        raise UsageError(f"{problem}\nusage: {USAGE}")


def _take_option(job: Job, name: str, value: str) -> str:
    if name == "host":
        job.host = value
    elif name == "event":
        job.event_name = value
    else:
        option = name.replace("-", "_")
        try:
            number = float(value) if option in ("timeout", "stop_limit") else value
            Options.check({option: number})
        except (ValueError, UsageError) as error:
            return f"--{name}: {error}"
        job.given[option] = number
    return ""


def read_stdin() -> bytes:
    """Everything on stdin. A hook that exits before its host has written all is reported as failed, so too much is read and thrown away."""
    chunks: list[bytes] = []
    size = 0
    while True:
        try:
            chunk = os.read(0, 1 << 16)
        except OSError:
            break
        if not chunk:
            break
        size += len(chunk)
        if size <= MAX_PAYLOAD:
            chunks.append(chunk)
        else:
            chunks.clear()
    if size > MAX_PAYLOAD:
        raise PayloadError(f"the payload is larger than {MAX_PAYLOAD >> 20} MB")
    return b"".join(chunks)


def take_payload(job: Job, data: bytes) -> Event:
    """The event of a payload; job.wire is set as soon as it is known."""
    if job.host:
        job.wire = wire_of(job.host)
    payload = loads(text_of(data))
    if not isinstance(payload, dict):
        raise PayloadError("the payload is not a JSON object")
    job.wire = resolve(job.host, payload)
    job.event = job.wire.parse(payload, job.event_name)
    return job.event


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
    output = _with_chatter(job.wire.render(job.event, answer, bool(drops or noise)), drops, noise)
    output.answer = answer
    return output


def _with_chatter(output: Output, drops: list[Drop], noise: str) -> Output:
    output.dropped = drops
    if not output.alone:
        parts = [str(drop) for drop in drops] + [noise.rstrip("\n"), output.stderr]
        output.stderr = "\n".join(part for part in parts if part)
    return output


def fail(job: Job, message: str, noise: str = "", unreadable: bool = False) -> Output:
    """The answer to an error: the host's proven deny under fail closed, else no opinion, the error on stderr, exit 1."""
    if job.closed:
        reason = f"onehook: {message} (blocked: fail=closed)"
        if job.event is None or job.wire is None:
            if job.wire is None or _could_gate(job.wire, job.event_name):
                # Exit 2 with the reason on stderr is the one form of deny that needs no event; every host here obeys it.
                return Output("", 2, reason, alone=True)
        elif gates(job.wire, job.event):
            job.options.on_unsupported = "warn"
            return conclude(job, Response("deny", reason), noise)
    parts = [noise.rstrip("\n"), f"[onehook] error: {message}"]
    stdout, exit_code = job.wire.UNREADABLE if unreadable and job.wire is not None else ("", 1)
    return Output(stdout, exit_code, "\n".join(part for part in parts if part))


def _could_gate(wire: Wire, event_name: str) -> bool:
    """Whether an event that could not be read may be one that a deny prevents. Unknown counts as yes."""
    for name, row in wire.EVENTS.items():
        if event_name in (name, row.event):
            return row.gates
    return True


def load_policy(path: str) -> Hooks:
    """The Hooks object of a policy file: the one named `hooks`, or the only one."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise UsageError(f"the policy {path} cannot be read: {error.strerror}") from None
    module = type(sys)("onehook_policy")
    module.__file__ = os.path.abspath(path)
    sys.modules["onehook_policy"] = module
    # Appended, never inserted: a json.py beside the policy must not become json.
    sys.path.append(os.path.dirname(module.__file__))
    # Compiled from the source each time: a .pyc in the repository could be forged without the policy changing.
    exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)
    return hooks_in(module.__dict__, path)


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
        with open(path, "rb") as file:
            return b'fail="closed"' in file.read().replace(b" ", b"").replace(b"'", b'"')
    except OSError:
        return False


def answer(job: Job, data: bytes, hooks: Callable[[], Hooks]) -> Output:
    """The whole way in this process, without a deadline: for tests and for `onehook fire`."""
    try:
        event = take_payload(job, data)
    except OnehookError as error:
        return fail(job, str(error), unreadable=isinstance(error, PayloadError))
    try:
        policy = hooks()
        job.settle(policy.options)
        return conclude(job, checked(policy.dispatch(event)))
    except OnehookError as error:
        return fail(job, str(error))


def checked(response: Response) -> Response:
    """A rewrite must survive JSON before it is promised."""
    if response.modified_input is not None:
        from onehook.codec import dumps

        try:
            dumps(response.modified_input)
        except (TypeError, ValueError) as error:
            raise HandlerError(f"modified_input cannot be written as JSON: {error}") from None
    return response


def respond(argv: list[str], hooks: Hooks | None, overrides: dict[str, Any]) -> Output:
    """Answer the event on stdin, with the policy in a process of its own."""
    job = Job()
    try:
        Options.check(overrides)
        job.given.update(overrides)
        parse_arguments(argv, job)
        if hooks is not None:
            job.settle(hooks.options)
        elif not job.policy:
            raise UsageError(f"no policy given\nusage: {USAGE}")
    except OnehookError as error:
        _drain()
        return fail(job, str(error))
    try:
        take_payload(job, read_stdin())
    except OnehookError as error:
        job.source_says_closed = job.source_says_closed or source_says_closed(job.policy)
        return fail(job, str(error), unreadable=isinstance(error, PayloadError))
    from onehook.isolate import run_policy

    return run_policy(job, hooks)


def _drain() -> None:
    try:
        read_stdin()
    except PayloadError:
        pass


def write(output: Output) -> None:
    for descriptor, text in ((2, output.stderr), (1, output.stdout)):
        data = f"{text}\n".encode("utf-8", "backslashreplace") if text else b""
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:
            pass  # the host has gone or closed this end; the exit code still says it


def run(hooks: Hooks, host: str | None = None, **options: Any) -> NoReturn:
    """Answer the event on stdin with this policy and exit. Options given here win over those of the Hooks object."""
    argv = sys.argv[1:]
    if host:
        argv = [*argv, "--host", host]
    output = respond(argv, hooks, options)
    write(output)
    sys.stdout.flush()
    sys.exit(output.exit_code)


def main(argv: list[str]) -> NoReturn:
    """The launcher's way: no interpreter shutdown, since nothing is left to clean up."""
    try:
        output = respond(argv, None, {})
    except BaseException as error:  # the last line of defence: our own defect must not become an allow either
        closed = "closed" in argv
        output = Output("", 2 if closed else 1, f"[onehook] internal error: {type(error).__name__}: {error}", alone=True)
    write(output)
    os._exit(output.exit_code)
