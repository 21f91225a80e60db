"""The hook's side: a person is asked, and the call is held until there is an answer or the agent would stop waiting.

Whatever happens here, nothing is allowed but by an answer that a person gave to this very call. The end of patience is a denial that says
how to approve, and what is raised here is one too (runner.held).
"""

from __future__ import annotations

import os
import select
import sys
import time

from onehook.desk import pin
from onehook.desk.peer import Door, reply
from onehook.desk.requests import ANSWER, Request, answers, call_of, is_waiting, new_id, put_once, read, session_of, sweep, take
from onehook.desk.statements import genuine, is_statement, named
from onehook.log.wake import spawn
from onehook.places import config_folder
from onehook.system import project_of, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event, Options
    from onehook.hosts import Wire
    from onehook.policy import Message

MARGIN = 5.0  # seconds before the agent stops waiting: time to write the answer, on a busy machine too
_TICK = 0.15  # seconds between two checks of the folder
_MOST_REFUSALS = 5  # that the log gets to hear of
_AGENT = "the agent has ended"


def held(wire: Wire, event: Event, message: Message, options: Options, begun: float, policy: str) -> Message:
    """The message of a policy that asks, with a person's answer in place of the ask.

    In it are then also `approver`, who answered, and `refused`, what claimed to be an answer and was not.
    """
    until = time.time() + patience(options, begun)
    content = content_of(wire, event, message, policy, until)
    refused: list[str] = []
    statement = earlier(content) or waited_for(content, refused, wire.caps(event).progress)
    response = answered(statement, content, message["response"])
    by = [*(message.get("by") or ()), *_person(statement)]
    return {**message, "response": response, "by": by, "approver": statement.get("by"), "refused": refused}


def patience(options: Options, begun: float) -> float:
    """Seconds to wait for a person: as long as the agent waits for us, less a margin."""
    host = options.host_timeout or options.timeout + 10  # what install gives an entry by itself
    return max(0.0, min(options.ask_wait, host - MARGIN - (time.monotonic() - begun)))


def content_of(wire: Wire, event: Event, message: Message, policy: str, until: float) -> dict[str, Any]:
    """What the person gets to see: see desk.answers.Asked."""
    response = message["response"]
    change = response.get("modified_input")
    shown = event if change is None else event.rewritten(change)
    plain = shown.to_dict()
    return {
        "id": new_id(),
        "time": time.time(),
        "until": until,
        "host": event.host,
        "host_version": event.host_version,
        "model": event.model,
        "session": event.session_id,
        "agent": event.agent_type or event.agent_id,
        "project": project_of(event.cwd),
        "cwd": event.cwd,
        "event": event.event,
        "tool": event.tool,
        "native_tool": event.native_tool,
        "input": shown.tool_input,
        "command": str(shown.command),
        "paths": plain["paths"],
        "url": plain["url"],
        "mcp": plain["mcp"],
        "changes": plain["changes"],
        "prompt": event.prompt,
        "reason": response.get("reason") or "",
        "by": [_printable(one) for one in message.get("by") or ()],
        "policy": policy,
        "rewritable": rewritable(wire, event),
    }


def _printable(one: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in one.items() if value is None or isinstance(value, (str, int, float))}


def rewritable(wire: Wire, event: Event) -> list[str]:
    """The parts of the input that an answer can change on this agent."""
    caps = wire.caps(event)
    if not event.command or caps["modified_input"].given("allow").kind != "honoured":
        return []
    names = event.spelled({"command": ""})
    return ["command"] if caps.rewrites is None or caps.rewrites.issuperset(names) else []


def tell_people(id: str) -> None:
    """Start the process that notifies people of a request, if there may be anyone to notify. A failure to notify must not fail the
    request."""
    if not (variable("DISPLAY") or variable("WAYLAND_DISPLAY") or sys.platform == "darwin" or _has_settings()):
        return
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        spawn([sys.executable, "-I", "-c", _NOTIFY, root, id])
    except OSError:
        return


# In a copied runtime this part is missing: there, the onehook that is installed for this interpreter has it.
_NOTIFY = "import sys; sys.path.append(sys.argv[1]); from onehook.desk.notify import main; main(sys.argv[2])"


def _has_settings() -> bool:
    try:
        with open(f"{config_folder()}/onehook.toml", "rb") as file:
            return b"[desk]" in file.read(1 << 20)
    except OSError:
        return False


# --- the answer -------------------------------------------------------------------------------------------------------------------


def earlier(content: dict[str, Any]) -> dict[str, Any]:
    """An answer that was given to an earlier attempt at the same call, or for the rest of the session; {} if there is none."""
    public = pin.public_key()
    if not public:
        return {}
    now, call, session = time.time(), call_of(content), session_of(content)
    for path, data in answers():
        claim = named(data)
        here = claim and claim["id"] == os.path.basename(path)  # and not a copy, without the record that it was used
        fits = here and now < claim["until"] and (claim["session"] == session or (claim["call"] == call and not claim["session"]))
        if fits and genuine(data, public) and (claim["session"] or (not is_waiting(claim["id"]) and take(path))):
            return claim
    return {}


def waited_for(content: dict[str, Any], refused: list[str], progress: str = "") -> dict[str, Any]:
    """Put a request before people, and wait; what is returned has a `problem` if nobody answered. `progress`: as in Caps."""
    sweep(time.time())
    watch = _Watch()
    request = Request(content)
    request.publish()
    door = Door(request.folder) if not pin.is_set() else None
    try:
        watch.guard(door)
        if progress:
            os.write(1, f"{progress % f'onehook: a person is asked (onehook approve {request.id})'}\n".encode("ascii"))
        tell_people(request.id)
        return _wait(request, watch, door, refused)
    finally:
        if door is not None:
            door.close()
        request.withdraw()


def _wait(request: Request, watch: _Watch, door: Door | None, refused: list[str]) -> dict[str, Any]:
    end = time.monotonic() + request.content["until"] - time.time()  # even if the clock is changed in the meantime
    while True:
        late = time.monotonic() >= end
        statement = _from_file(request, refused)
        if not statement and not late and watch.at_the_door(_TICK):
            statement = _from_terminal(request, door, refused)
        if statement:
            return statement
        if late or watch.alone:
            return {"problem": _AGENT if watch.alone else ""}


class _Watch:
    """Waits for someone to connect, and notices if the agent has ended: then nobody reads what we write."""

    def __init__(self) -> None:
        self.alone = False
        self.door = -1
        self.poll = select.poll() if hasattr(select, "poll") else None
        if self.poll is None:
            return
        self.poll.register(1, 0)
        if self.poll.poll(0):  # nobody ever read it
            self.poll.unregister(1)

    def guard(self, door: Door | None) -> None:
        if self.poll is not None and door is not None and door.socket is not None:
            self.door = door.socket.fileno()
            self.poll.register(self.door, select.POLLIN)

    def at_the_door(self, seconds: float) -> bool:
        if self.poll is None:
            time.sleep(seconds)
            return False
        ready = [number for number, _ in self.poll.poll(seconds * 1000)]
        self.alone = 1 in ready
        return self.door in ready


def _from_file(request: Request, refused: list[str]) -> dict[str, Any]:
    path = f"{request.folder}/{ANSWER}"
    if not os.path.lexists(path):
        return {}
    data = read(path)
    statement = genuine(data, pin.public_key()) if data is not None else {}
    if statement and _is_for(statement, request):
        return statement if take(request.folder) else {"problem": "the answer was used by another process"}
    _refuse(refused, f"an answer to request {request.id} that was not given with the PIN")
    try:
        os.unlink(path)
    except OSError:
        pass
    return {}


def _refuse(refused: list[str], what: str) -> None:
    if len(refused) < _MOST_REFUSALS:
        refused.append(what)


def _is_for(statement: dict[str, Any], request: Request) -> bool:
    """An answer to what this hook asks, and not to what somebody made of it on disk."""
    return bool(statement["id"] == request.id and statement["digest"] == request.digest)


def _from_terminal(request: Request, door: Door | None, refused: list[str]) -> dict[str, Any]:
    heard = door.heard() if door is not None else None
    if heard is None:
        return {}
    connection, statement, problem = heard
    if not problem and (not is_statement(statement) or not _is_for(statement, request)):
        problem = "this is not an answer to the current request: review it again"
    if not problem and pin.is_set():
        problem = "a PIN was set in the meantime: only an answer with the PIN counts"
    if problem:
        _refuse(refused, f"an answer to request {request.id}: {problem}")
    elif not put_once(f"{request.folder}/{ANSWER}", b"{}") or not take(request.folder):
        problem = f"request {request.id} has already been answered"
    reply(connection, problem)
    return {} if problem else statement


# --- what becomes of it -----------------------------------------------------------------------------------------------------------


def answered(statement: dict[str, Any], content: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """The policy's answer with the person's decision in it."""
    if statement.get("decision") == "deny":
        return _denied(response, f"A person denied this: {statement['words']}" if statement["words"] else "A person denied this.")
    if statement.get("decision") != "allow":
        return _denied(response, _unanswered(statement.get("problem", ""), content))
    change = statement["input"]
    if change is None:
        return {**response, "decision": "allow", "reason": None}
    if list(change) != content["rewritable"]:
        want = ", ".join(f"{name}: {value}" for name, value in change.items())
        return _denied(response, f"A person wants this to be done differently, and asks you to do the following instead. {want}")
    return {**response, "decision": "allow", "reason": None, "modified_input": {**(response.get("modified_input") or {}), **change}}


def _denied(response: dict[str, Any], reason: str) -> dict[str, Any]:
    kept = {name: value for name, value in response.items() if name != "modified_input"}
    return {**kept, "decision": "deny", "reason": reason}


def _unanswered(problem: str, content: dict[str, Any]) -> str:
    why = f"{content['reason']}\n\n" if content["reason"] else ""
    if problem:
        return f"{why}This needs a person's approval: {problem}."
    return (
        f"{why}This needs a person's approval, and nobody answered in time. Only a person can approve it, by running "
        f"`onehook approve {content['id']}` in a terminal of their own: tell them, and try the same call again afterwards."
    )


def _person(statement: dict[str, Any]) -> list[dict[str, Any]]:
    """Who answered, for the log."""
    if "decision" not in statement:
        return []
    how = f"{statement['via']}, for the session" if statement["session"] else statement["via"]
    reason = f"{how}: {statement['words']}" if statement["words"] else how
    return [{"kind": "person", "name": statement["by"], "said": statement["decision"], "reason": reason}]
