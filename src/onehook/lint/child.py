"""Runs as a script, in a separate process: loads a policy as the launcher does, and describes it or runs its handlers.

child.py describe POLICY RESULT    the options and the handlers
child.py probe POLICY RESULT       the handlers' answers to the events on stdin
child.py load POLICY RESULT        only loads the policy, for -X importtime

What the policy prints is ignored; the result goes to a file, one JSON document per line. No module imports this one, and it imports
little, so that a handler pays for its own imports here as it does in a hook.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event, HandlerError, Hooks, Registration

BEGIN_MARK, END_MARK = "onehook: the policy begins", "onehook: the policy ends"
ENOUGH = 1.0  # seconds for one handler's events; a slower handler is not run on all of them


class Result:
    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)

    def add(self, document: dict[str, Any]) -> None:
        from onehook.codec import dumps

        os.write(self.descriptor, dumps(document).encode() + b"\n")


def described(hooks: Hooks) -> dict[str, Any]:
    handlers = []
    for registration in hooks.registrations:
        code = code_of(registration.handler)
        handlers.append(
            {
                "name": registration.name,
                "event": registration.event,
                "tools": list(registration.tools),
                "hosts": list(registration.hosts),
                "file": code.co_filename if code else "",
                "line": code.co_firstlineno if code else 0,
                "stood_in_on": stood_in_on(registration),
                "same_as": [hooks.registrations.index(other) for other in hooks.registrations if other.handler is registration.handler],
            }
        )
    return {"options": hooks.options, "joins": hooks.joins, "handlers": handlers}


def stood_in_on(registration: Registration) -> list[str]:
    """The hosts on which another event stands in for this one, for a program of a manifest."""
    from onehook.hosts import HOSTS
    from onehook.manifest.load import Wanted

    return [host for host in HOSTS if registration.stand_ins(host)] if isinstance(registration, Wanted) else []


def code_of(handler: Any) -> Any:
    """The code of a function, even if it is wrapped, bound, or an object's __call__."""
    for _ in range(10):
        if hasattr(handler, "__code__"):
            wrapped = getattr(handler, "__wrapped__", None)
            if wrapped is None:
                return handler.__code__
            handler = wrapped
        elif hasattr(handler, "func"):
            handler = handler.func  # functools.partial
        else:
            handler = type(handler).__dict__.get("__call__")
    return None


def probe(hooks: Hooks, result: Result) -> None:
    """Run each handler on its events: which kinds of answers it gives, what it raises, how long the first call takes."""
    from onehook.codec import loads
    from onehook.runner import read_stdin

    for group in loads(read_stdin().decode())["handlers"]:
        result.add({"begun": group["index"]})
        result.add({"index": group["index"], **probed(hooks.registrations[group["index"]], group["rounds"])})


def probed(registration: Registration, rounds: list[list[Any]]) -> dict[str, Any]:
    from onehook.hosts import wire_of

    answers: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    calls, first, about = 0, 0.0, ""
    code = code_of(registration.handler)
    begun = time.monotonic()
    for host, native_event, payload in rounds:
        event = wire_of(host).parse(payload, native_event)
        if not registration.wants(event):
            continue
        calls += 1
        started = time.perf_counter()
        answer, error = called(registration, event)
        if not about:
            first, about = time.perf_counter() - started, f"{event.native_event} {event.native_tool}".strip()
        if error is not None:
            raised = [kind.__name__ for kind in type(error.cause).__mro__] if error.cause is not None else []
            line = line_in(code.co_filename, error.cause, 0) if code and error.cause is not None else 0
            about_it = f"{event.native_event} {event.native_tool}".strip()
            errors.append({"host": host, "about": about_it, "text": str(error), "raised": raised, "line": line})
        if answer is not None and answer not in answers:
            answers.append(answer)
        if time.monotonic() - begun > ENOUGH:
            break
    return {"answers": answers, "errors": errors, "first_ms": first * 1000, "about": about, "calls": calls}


def called(registration: Registration, event: Event) -> tuple[dict[str, Any] | None, HandlerError | None]:
    from onehook.core import HandlerError, call

    try:
        answer = call(registration, event)
    except HandlerError as error:
        return None, error
    if answer is None:
        return None, None
    fields = [name for name in answer.given() if name != "withheld"]  # what has no effect cannot be lost
    return {"decision": answer.decision, "fields": fields, "keys": sorted(map(str, answer.modified_input or {}))}, None


def main(mode: str, policy: str, result_path: str) -> None:
    from onehook.policy import load_policy, told
    from onehook.resident.learning import cannot_be_shared, open_descriptors

    result = Result(result_path)
    opened = open_descriptors()
    sys.stderr.write(f"{BEGIN_MARK}\n")
    try:
        hooks = load_policy(policy)
    except BaseException as error:  # SystemExit too: a policy must not exit
        from onehook.rules.keys import WrongKey

        text, line = (error.what, error.line) if isinstance(error, WrongKey) else (told(error), line_in(policy, error))
        result.add({"error": text, "line": line})
        return
    sys.stderr.write(f"{END_MARK}\n")
    if mode == "describe":
        result.add({**described(hooks), "unshared": cannot_be_shared(opened)})
    elif mode == "probe":
        probe(hooks, result)


def line_in(policy: str, error: BaseException, line: int = 1) -> int:
    """The line of the policy where an error was raised, or the last one on the way there; `line` if there is none."""
    if isinstance(error, SyntaxError):
        return error.lineno or 1
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == os.path.abspath(policy):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def like_the_launcher() -> None:
    """Make packages importable as in a hook: those next to onehook first, site only if one is not found."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.append(os.path.dirname(package))
    from onehook.cache import SiteOnDemand

    sys.meta_path.append(SiteOnDemand)


if __name__ == "__main__":
    like_the_launcher()
    main(*sys.argv[1:4])
    os._exit(0)
