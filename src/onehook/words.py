"""From a policy's message to the host's words: what is written to stdout and stderr, and the exit code.

Whatever went wrong becomes either the host's proven deny (fail closed, on an event that can be stopped) or an error on stderr and an exit
code on which the host continues (fail open).
"""

from __future__ import annotations

from onehook.codec import dumps, loads
from onehook.core import STOPS, Event, HandlerError, Options, Output, Response, overlaid, withheld
from onehook.hostkit.effects import compile_response, gates
from onehook.hosts import HOSTS, wire_of
from onehook.policy import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from onehook.core import Drop
    from onehook.hostkit.effects import Row
    from onehook.hosts import Wire
    from onehook.policy import Message

PROBE_REASON = "onehook doctor: this is a probe"
_PROBES = {"deny": Response("deny", PROBE_REASON), "allow": Response()}


def concluded(wire: Wire, event: Event, message: Message, options: Options, noise: str = "", probe: str = "") -> Output:
    """The answer to an event. `noise`: what the policy printed; `probe`: what doctor expects instead of any answer except an error."""
    problem = message.get("error")
    response = message.get("response")
    if probe:
        options.mode = "enforce"  # the question is whether a deny would take effect
    if problem is None and isinstance(response, dict):
        try:
            return words_of(wire, event, _PROBES[probe] if probe else Response(**response, by=message.get("by")), options, noise)
        except Exception as error:
            problem = told(error)
    if message.get("unpinned") and gates(wire, event):  # whatever `fail` is: the options of another policy do not count
        reason = f"onehook: {problem}. Ask the person to run `onehook trust`, which shows the change and pins the new version"
        output = words_of(wire, event, Response("deny", reason), options, noise)
        output.error = str(problem)
        return output
    output = failed(wire, event, str(problem), options, noise)
    output.by = message.get("by") or []
    return output


def words_of(wire: Wire, event: Event, response: Response, options: Options, noise: str = "") -> Output:
    """The host's words for the policy's answer."""
    drops: list[Drop] = []
    if options.mode == "observe":
        response = withheld(response)
    if event._pause is not None:
        from onehook.pause import announced

        response, noise = announced(event._pause, wire, event, response, noise)
    if response.withheld:
        noise = _lines(*map(recorded, response.withheld), noise)
    if event.event in STOPS:
        from onehook.stopguard import guarded

        response, drops = guarded(event, response, options)
    answer, lost = compile_response(wire, event, response, options)
    drops += lost
    try:
        output = wire.render(event, answer, bool(drops or noise))
    except (TypeError, ValueError) as error:  # a number of the payload's own input may have no JSON form (1e999)
        raise HandlerError(f"the answer cannot be written as JSON: {error}") from None
    if answer.native is not None and wire.ID in answer.native:
        _add_native(output, answer.native[wire.ID])
    output.answer = answer
    output.by = response.by or []
    output.event = event
    return with_chatter(output, drops, noise)


def _add_native(output: Output, native: dict[str, Any]) -> None:
    """Put back into the answer, which is the last line, what a program answered in the host's own format and no field can express."""
    before, newline, last = output.stdout.rpartition("\n")
    body = loads(last) if last else {}
    output.stdout = f"{before}{newline}{dumps(overlaid(body, native))}"


def with_chatter(output: Output, drops: list[Drop], noise: str) -> Output:
    output.dropped = drops
    if not output.alone:
        output.stderr = _lines(*map(str, drops), noise.rstrip("\n"), output.stderr)
    return output


_WOULD = {
    "modified_input": "change the input",
    "modified_output": "change the result",
    "additional_context": "add context for the model",
    "user_message": "show a message to the user",
    "message": "show a message to the user",
    "lint_command": "run a command",
}


def recorded(record: dict[str, Any]) -> str:
    """A record of a decision without effect, for a person."""
    by = f" ({record['by']})" if record["by"] else ""
    if "error" in record:
        return f"[onehook] observed error: {record['error']}"
    decision = record.get("decision")
    acts = [decision] if decision else []
    acts += [what for field, what in _WOULD.items() if field in record]
    would = decision if decision == "log" else f"would {' and '.join(dict.fromkeys(acts)) or 'answer'}"
    return f"[onehook] {would}: {record['reason']}{by}" if record.get("reason") else f"[onehook] {would}{by}"


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


# --- errors ----------------------------------------------------------------------------------------------------------------------


def failed(wire: Wire, event: Event, problem: str, options: Options, noise: str = "") -> Output:
    """The answer to an error that came up after the event was known."""
    if options.fail == "closed" and gates(wire, event):
        if options.mode == "observe":
            output = words_of(wire, event, Response("deny", _reason(problem)), options, noise)
        else:
            output = _denial(wire, event, problem, noise)
    else:
        output = Output("", wire.TRAITS.error_exit, _complaint(problem, noise))
    output.error, output.event = problem, event
    return output


def failed_blindly(wire: Wire | None, names: Container[str], problem: str, options: Options, unreadable: bool) -> Output:
    """The answer to an error that keeps us from knowing the event.

    `wire`: the host, if that much is known. `names`: what may name the event, from the command line and the payload. `unreadable`: the
    payload is at fault.
    """
    output = _blind_denial(wire, names, problem) if options.fail == "closed" and options.mode != "observe" else None
    if output is None:
        stdout, exit_code = ("", 1) if wire is None else wire.TRAITS.unreadable if unreadable else ("", wire.TRAITS.error_exit)
        output = Output(stdout, exit_code, _complaint(problem))
    output.error = problem
    return output


def _complaint(problem: str, noise: str = "") -> str:
    return _lines(noise.rstrip("\n"), f"[onehook] error: {problem}")


def _reason(problem: str) -> str:
    return f"onehook: {problem} (blocked: fail=closed)"


def _denial(wire: Wire, event: Event, problem: str, noise: str = "") -> Output:
    reason = _reason(problem)
    output = words_of(wire, event, Response("deny", reason), Options(), noise)
    if not output.alone and reason not in output.stderr:
        output.stderr = _lines(output.stderr, reason)  # not every event of every host has a channel for the reason
    return output


def _blind_denial(wire: Wire | None, names: Container[str], problem: str) -> Output | None:
    """The host's proven deny; None if the event can only be one where a deny prevents nothing."""
    wires = [wire_of(host) for host in HOSTS] if wire is None else [wire]
    rows = [(name, row) for each in wires for name, row in each.EVENTS.items() if name in names or row.event in names]
    gating = [(name, row) for name, row in rows if row.gates]
    if rows and not gating:
        return None
    if wire is None or not gating:
        # Exit 2 with the reason on stderr is the only form of deny that needs no event; every host here obeys it.
        return Output("", 2, _reason(problem), alone=True)
    event = _event_named(wire, *gating[0])
    return _denial(wire, event, problem) if gates(wire, event) else None


def _event_named(wire: Wire, name: str, row: Row) -> Event:
    event = Event(row.event, wire.ID)
    event.native_event = name
    return event
