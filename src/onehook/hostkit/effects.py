"""From the answer that a policy gave to the answer that takes effect on one host.

Each host's wire module says, for an event, what it honours (its caps). Here the rest is taken out, each with a Drop that names field,
host, event and why, so that render gets an answer of which every field works.
"""

from __future__ import annotations

from onehook.core import STOPS, Drop, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from onehook.core import Event, Options
    from onehook.hosts import Wire

    # effect -> True where it takes effect, a text saying why it does not; an effect that is not named is not honoured.
    # Effects: approve (an allow skips the permission prompt), allow (it is understood, if only as going on), deny, ask, reason (of a
    # deny or an ask), ask_reason, allow_reason, note (a reason with no decision), user_message, modified_input, additional_context,
    # message, lint_command. Beside them: `rewrites`, the input keys that a rewrite can change; `silent`, the event takes no answer at
    # all; `ask_can_pass` and `ask_warning` for a host that takes ask and mishandles it.
    Caps = Mapping[str, "bool | str | frozenset[str] | Becomes | Beside | Hollow"]


class Row:
    """What a native event is: the unified event, the tool that it implies, the answer's shape, and whether a deny prevents something.

    `confirmed`: the agent also sends it when nothing happens, and the host's confirm.py tells which.
    """

    __slots__ = ("confirmed", "event", "gates", "shape", "tool")

    def __init__(self, event: str, shape: str, gates: bool = False, tool: str = "", confirmed: bool = False) -> None:
        self.event = event
        self.shape = shape
        self.gates = gates
        self.tool = tool
        self.confirmed = confirmed


class StandIn:
    """A moment that the host has no event of its own for, and the event by which it can be told all the same.

    For programs of a manifest, which were written for a host that has it and cannot be changed. `tool`: only with this unified tool.
    `source`: of a SessionStart, why the session starts.
    """

    __slots__ = ("event", "source", "tool")

    def __init__(self, event: str, tool: str = "", source: str = "") -> None:
        self.event = event
        self.tool = tool
        self.source = source


class Becomes:
    """A field that takes effect as another one. With `why`, that is a loss, and a warning reports it."""

    __slots__ = ("field", "why")

    def __init__(self, field: str, why: str = "") -> None:
        self.field = field
        self.why = why


class Beside:
    """A field that takes effect only beside one decision."""

    __slots__ = ("decision", "why")

    def __init__(self, decision: str, why: str) -> None:
        self.decision = decision
        self.why = why


class Hollow:
    """Something that the host ignores: it is written anyway, since other surfaces of the host may obey it, and a warning reports it."""

    __slots__ = ("why",)

    def __init__(self, why: str) -> None:
        self.why = why


NO_CHANNEL = "the host has no channel for it on this event"


def compile_response(wire: Wire, event: Event, response: Response, options: Options) -> tuple[Response, list[Drop]]:
    """The answer with every field that this host cannot honour taken out, and what was taken out."""
    caps = wire.caps(event)
    drops: list[Drop] = []
    answer = response.copy()
    if answer.decision in ("deny", "ask") and answer.reason is not None and not answer.reason.strip():
        answer.reason = None  # a blank reason is none: Codex takes a denial without one for a failed hook, and runs the tool
    own_words = answer.reason is not None or answer.decision not in ("deny", "ask")
    if answer.decision == "deny" and answer.reason is None:
        answer.reason = "denied by policy"
    if not _passes_ask(answer, caps, options, event.host):
        if _can_deny(wire, event, caps):
            _settle_ask(event, answer, caps, options, drops)
        _settle_decision(event, answer, caps, drops)
    _settle_reason(event, answer, caps, drops if own_words else [])  # a reason that was put in here is no loss
    for field in ("user_message", "modified_input", "additional_context", "message", "lint_command"):
        cap = caps.get(field)
        if isinstance(cap, Beside):
            cap = cap.decision == answer.decision or cap.why
        if getattr(answer, field) is not None and cap is not True:
            _lose(event, answer, field, cap, drops)
    _settle_rewrite(event, answer, caps, drops)
    if caps.get("silent") is True and drops:
        drops[:] = [Drop(event.host, event.native_event, ", ".join(d.field for d in drops), "this event takes no answer")]
    if drops and options.on_unsupported == "deny" and answer.decision != "deny" and wire.EVENTS[event.native_event].gates:
        lost = ", ".join(drop.field for drop in drops)
        answer = Response("deny", f"{event.host} cannot honour {lost} on {event.native_event} (on_unsupported=deny)")
    return answer, drops


def _lose(event: Event, answer: Response, field: str, cap: object, drops: list[Drop]) -> None:
    """Take a field out of the answer, or move it where it takes effect."""
    if isinstance(cap, Hollow):
        drops.append(Drop(event.host, event.native_event, field, cap.why))
        return
    if isinstance(cap, Becomes):
        taken = getattr(answer, cap.field) is not None
        if taken or cap.why:
            drops.append(Drop(event.host, event.native_event, field, f"{cap.field} is shown instead" if taken else cap.why))
        if not taken:
            setattr(answer, cap.field, getattr(answer, field))
    else:
        drops.append(Drop(event.host, event.native_event, field, cap if isinstance(cap, str) else NO_CHANNEL))
    setattr(answer, field, None)


def _ask_fallback(options: Options, host: str) -> str:
    by_host: str | None = getattr(options, f"{host}_ask_fallback", None)
    return by_host or options.ask_fallback


def _passes_ask(answer: Response, caps: Caps, options: Options, host: str) -> bool:
    """Whether an ask goes to the host unchanged although the host mishandles it, because the policy opted out of the downgrade."""
    return answer.decision == "ask" and caps.get("ask_can_pass") is True and _ask_fallback(options, host) == "ask"


def _can_deny(wire: Wire, event: Event, caps: Caps) -> bool:
    """Whether a denial is worth writing: one that some surface of the host may obey is, where it prevents something."""
    deny = caps.get("deny")
    return deny is True or (isinstance(deny, Hollow) and wire.EVENTS[event.native_event].gates)


def _settle_ask(event: Event, answer: Response, caps: Caps, options: Options, drops: list[Drop]) -> None:
    if answer.decision != "ask" or caps.get("ask") is True:
        return
    fallback = _ask_fallback(options, event.host)
    if fallback == "ask":
        fallback = "deny"
    why = caps.get("ask")
    text = f"{event.host} {event.native_event}: 'ask' is not honoured ({why if isinstance(why, str) else 'this event cannot ask'})"
    text = f"{text}; it becomes {fallback!r}."
    warning = caps.get("ask_warning")
    if isinstance(warning, str):
        text = warning.replace("{fallback}", fallback)
    drops.append(Drop(event.host, event.native_event, "ask", f"downgraded to {fallback}", text))
    answer.decision = fallback
    if fallback == "deny" and answer.reason is None:
        answer.reason = "this needs a person's approval, and this agent cannot ask for it"


def _settle_decision(event: Event, answer: Response, caps: Caps, drops: list[Drop]) -> None:
    if answer.decision is None or caps.get(answer.decision) is True:
        return
    why = caps.get(answer.decision)
    if isinstance(why, Hollow):
        drops.append(Drop(event.host, event.native_event, "decision", why.why))
        return
    why = why if isinstance(why, str) else f"{answer.decision!r}: {NO_CHANNEL}"
    drops.append(Drop(event.host, event.native_event, "decision", why))
    answer.decision = None


_REASON_CHANNEL = {"deny": "reason", "ask": "reason", "allow": "allow_reason", None: "note"}


def _settle_reason(event: Event, answer: Response, caps: Caps, drops: list[Drop]) -> None:
    if answer.reason is None:
        return
    cap = caps.get(_REASON_CHANNEL[answer.decision])
    if answer.decision == "ask":
        cap = caps.get("ask_reason", cap)
    if cap is not True:
        _lose(event, answer, "reason", cap, drops)


def _settle_rewrite(event: Event, answer: Response, caps: Caps, drops: list[Drop]) -> None:
    """modified_input becomes the whole input, since hosts replace it whole, in the host's own spelling."""
    if answer.modified_input is None:
        return
    if answer.decision == "deny":
        answer.modified_input = None
        return
    changed = event.spelled(answer.modified_input)
    rewritable = caps.get("rewrites")
    if isinstance(rewritable, frozenset):
        for key in [key for key in changed if key not in rewritable]:
            why = f"a rewrite of {event.native_tool} cannot change it"
            drops.append(Drop(event.host, event.native_event, f"modified_input.{key}", why))
            del changed[key]
    answer.modified_input = {**event.tool_input, **changed} if changed else None


def gates(wire: Wire, event: Event) -> bool:
    """Whether a deny of this event prevents something. (Never a stop: to deny one is to go on.)"""
    return event.event not in STOPS and wire.EVENTS[event.native_event].gates
