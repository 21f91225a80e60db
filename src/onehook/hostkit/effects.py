"""What a host's tables are made of, and how the answer of a policy becomes the answer that takes effect on one host.

Each host's wire module states for an event what works there (its caps). compile_response takes the rest out, each with a Drop that
names the field, the agent, the event and the reason, so that render gets an answer of which every field works.
"""

from __future__ import annotations

from onehook.core import STOPS, Drop, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from onehook.core import Event, Options

    class Recognised(Protocol):
        """What detection reads of a host's wire."""

        @property
        def ID(self) -> str: ...
        @property
        def MARKS(self) -> tuple[Mark, ...]: ...
        @property
        def SENDS(self) -> tuple[str, ...]: ...

    class Tables(Protocol):
        """What compile_response reads of a host's wire."""

        @property
        def EVENTS(self) -> Mapping[str, Row]: ...
        @property
        def RESULTS(self) -> Results: ...
        def caps(self, event: Event) -> Caps: ...


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
    """A moment that the host has no event for, and the event that stands in for it.

    For programs of a manifest, which were written for a host that has the event and cannot be changed. `tool`: only with this unified
    tool. `source`: of a SessionStart, why the session starts. `inside`: only if it comes from a subagent, and then it is nothing else.
    """

    __slots__ = ("event", "inside", "source", "tool")

    def __init__(self, event: str, tool: str = "", source: str = "", inside: bool = False) -> None:
        self.event = event
        self.tool = tool
        self.source = source
        self.inside = inside

    def covers(self, event: Event) -> bool:
        return (not self.tool or event.tool == self.tool) and (not self.inside or bool(event.agent_id))


class Results:
    """Where the results of a host's tools hold what event.result has (onehook.hostkit.results reads it).

    `texts`: native tool ("*" for the others) -> the keys of the output, "a.b|c" for several; without it, the result's shape tells. What
    the agent puts around the output of the `framed` tools: `heads`, with "*" for anything in between or "#" for a number, and whole lines
    at its end, `tails`, with "#" for a number ("\\n" in one begins another line); `empty` is its word for no output. The exit code of a
    command: the key `code`, of the result or the payload; or the number after `marker` in a head or tail; or else `code_if_none`, if none
    of the keys `unless` is set. `unkept`: keys that repeat the output, and are left out of a result that is replaced.
    """

    __slots__ = ("code", "code_if_none", "empty", "framed", "heads", "marker", "tails", "texts", "unkept", "unless")

    def __init__(
        self,
        texts: Mapping[str, str] | None = None,
        heads: tuple[str, ...] = (),
        tails: tuple[str, ...] = (),
        empty: str = "",
        framed: tuple[str, ...] = ("Bash",),
        code: str = "exit_code",
        marker: str = "",
        code_if_none: int | None = None,
        unless: tuple[str, ...] = (),
        unkept: tuple[str, ...] = ("structuredContent",),
    ) -> None:
        self.texts = texts or {}
        self.heads = heads
        self.tails = tails
        self.empty = empty
        self.framed = framed
        self.code = code
        self.marker = marker
        self.code_if_none = code_if_none
        self.unless = unless
        self.unkept = unkept


CERTAIN = 10
ABSENT = object()  # in a Mark: the payload does not have the key


class Mark:
    """One way to recognise a host's payloads, and how much it weighs.

    `fields`: what the payload's keys hold: a type, the possible values, None for null, or ABSENT. `folder`: part of the transcript's
    path; `file`: how the name of the transcript begins. `alone`: the payload has no other keys. A mark that is CERTAIN counts whatever
    else is in the payload; any other only if the payload has no key that this host does not send (see SENDS).
    """

    __slots__ = ("alone", "fields", "file", "folder", "weight")

    def __init__(self, weight: int, fields: Mapping[str, Any], folder: str = "", file: str = "", alone: bool = False) -> None:
        self.weight = weight
        self.fields = fields
        self.folder = folder
        self.file = file
        self.alone = alone

    def holds(self, payload: Mapping[str, Any]) -> bool:
        if self.alone and len(payload) != len(self.fields):
            return False
        for key, wanted in self.fields.items():
            if not _matches(payload.get(key, ABSENT), wanted):
                return False
        if not self.folder and not self.file:
            return True
        transcript = payload.get("transcript_path")
        path = transcript.replace("\\", "/") if isinstance(transcript, str) else ""
        return self.folder in path and bool(path) and path.rpartition("/")[2].startswith(self.file)


def weight(wire: Recognised, payload: Mapping[str, Any], telling: frozenset[str] = frozenset()) -> int:
    """How surely a payload is this host's; 0 if it is not. `telling`: those of its keys that not every host sends."""
    least = CERTAIN if telling.difference(wire.SENDS) else 0
    found = 0
    for mark in wire.MARKS:
        if mark.weight >= least and mark.weight > found and mark.holds(payload):
            found = mark.weight
    return found


def _matches(value: object, wanted: Any) -> bool:
    if wanted is None or wanted is ABSENT:
        return value is wanted
    if isinstance(wanted, type):
        return isinstance(value, wanted) and value is not ABSENT and not isinstance(value, bool)
    return (value is ABSENT or isinstance(value, (str, int))) and value in wanted


class Cap:
    """What becomes of one effect of an answer on one kind of event.

    kind: "honoured"; "dropped"; "unheeded" (the agent was seen to ignore it; it is still written, since other surfaces of the agent may
    not); "moved" (it takes effect as the field `becomes`; a loss only if there is a `why`); "limited" (it takes effect beside the
    decision `beside` only, or "nothing": with no other part of an answer; of modified_output: on results whose own value has a place
    for text).
    """

    __slots__ = ("becomes", "beside", "kind", "why")

    def __init__(self, kind: str, why: str = "", becomes: str = "", beside: str = "") -> None:
        self.kind = kind
        self.why = why
        self.becomes = becomes
        self.beside = beside

    def given(self, decision: str | None, alone: bool = True) -> Cap:
        """The cap beside a decision. `alone`: nothing but this is answered."""
        if self.kind != "limited":
            return self
        return HONOURED if decision == self.beside or (alone and self.beside == "nothing") else Cap("dropped", self.why)

    def __repr__(self) -> str:
        return f"Cap({self.kind!r}, {self.why!r}, {self.becomes!r}, {self.beside!r})"


HONOURED = Cap("honoured")
NO_CHANNEL = Cap("dropped", "the agent has no channel for it on this event")
# approve: an allow skips the permission prompt; allow: it is understood, if only as going on; reason: of a deny or an ask; ask_reason and
# allow_reason: where these differ; note: a reason without a decision; withhold: a result that cannot be replaced is kept from the model,
# by ending the turn.
EFFECTS = (
    "approve", "allow", "deny", "ask", "reason", "ask_reason", "allow_reason", "note", "user_message", "modified_input",
    "modified_output", "withhold", "additional_context", "message", "lint_command",
)  # fmt: skip


def dropped(why: str) -> Cap:
    return Cap("dropped", why)


class Caps:
    """What takes effect on one kind of event: what holds on most events of the host (`base`), and in what this one differs (`own`).

    `silent`: the event takes no answer at all. `rewrites`: the input keys that a rewrite can change, None for all. `ask_passes`: the host
    takes an ask, and mishandles it; a policy may insist on it. `ask_warning`: the host's own words for an ask that is not honoured.
    `progress`: a line on stdout that the host shows while the hook runs, with %s for the text; "" if it shows nothing before the end.
    """

    __slots__ = ("ask_passes", "ask_warning", "base", "own", "progress", "rewrites", "silent")

    def __init__(
        self,
        base: Mapping[str, Cap],
        silent: bool = False,
        ask_passes: bool = False,
        ask_warning: str = "",
        rewrites: frozenset[str] | None = None,
        progress: str = "",
        **own: Cap,
    ) -> None:
        self.base = base
        self.own = own
        self.silent = silent
        self.ask_passes = ask_passes
        self.ask_warning = ask_warning
        self.rewrites = rewrites
        self.progress = progress

    def __getitem__(self, effect: str) -> Cap:
        """The cap of an effect; one that is not named has no channel."""
        return self.own.get(effect) or self.base.get(effect) or NO_CHANNEL

    def but(self, ask_warning: str = "", rewrites: frozenset[str] | None = None, **own: Cap) -> Caps:
        """The same with other caps for some effects."""
        warning, rewrites = ask_warning or self.ask_warning, rewrites or self.rewrites
        return Caps(self.base, self.silent, self.ask_passes, warning, rewrites, self.progress, **{**self.own, **own})


SILENT = Caps({"allow": HONOURED}, silent=True)


def compile_response(wire: Tables, event: Event, response: Response, options: Options) -> tuple[Response, list[Drop]]:
    """The answer without the fields that this host cannot honour, and what was taken out."""
    caps = wire.caps(event)
    drops: list[Drop] = []
    answer = response.copy()
    if answer.decision in ("deny", "ask") and answer.reason is not None and not answer.reason.strip():
        answer.reason = None  # a blank reason is none: some hosts take a denial without one for a failed hook, and run the tool
    own_words = answer.reason is not None or answer.decision not in ("deny", "ask")
    if answer.decision == "deny" and answer.reason is None:
        answer.reason = "denied by policy"
    if not _passes_ask(answer, caps, options, event.host):
        if _can_deny(wire, event, caps):
            _settle_ask(event, answer, caps, options, drops)
        _settle_decision(event, answer, caps, drops)
    _settle_reason(event, answer, caps, drops if own_words else [])  # a reason that was put in here is not a loss
    _settle_output(wire, event, answer, caps, drops)
    for field in ("user_message", "modified_input", "additional_context", "message", "lint_command"):
        if getattr(answer, field) is not None:
            alone = answer.decision != "deny" and answer.user_message is None and not answer.native
            _settle(event, answer, field, caps[field].given(answer.decision, alone), drops)
    _settle_rewrite(event, answer, caps, drops)
    strict = options.on_unsupported == "deny" or options.fail == "closed"
    if strict and response.modified_output is not None and answer.modified_output is None:
        _withhold(event, answer, caps)
    if caps.silent and drops:
        drops = [Drop(event.host, event.native_event, tuple(drop.field for drop in drops), "this event takes no answer")]
    if drops and options.on_unsupported == "deny" and answer.decision != "deny" and wire.EVENTS[event.native_event].gates:
        lost = ", ".join(drop.field for drop in drops)
        answer = Response("deny", f"{event.host} cannot honour {lost} on {event.native_event} (on_unsupported=deny)")
    return answer, drops


def _settle_output(wire: Tables, event: Event, answer: Response, caps: Caps, drops: list[Drop]) -> None:
    if answer.modified_output is None:
        return
    cap = caps["modified_output"]
    if cap.kind == "limited":
        from onehook.hostkit.results import replaced

        # (A result that holds nothing has nothing to hide.)
        cap = dropped(cap.why) if event.tool_response and replaced(event, wire.RESULTS, "") is None else HONOURED
    if not str(answer.modified_output).strip():
        answer.modified_output = "(empty)"  # some hosts take an empty text for none, and show the old one
    _settle(event, answer, "modified_output", cap, drops)


def _withhold(event: Event, answer: Response, caps: Caps) -> None:
    """A result that was to be replaced and cannot be is kept from the model, if ending the turn does that here."""
    if caps["withhold"].kind != "honoured":
        return
    text = f"the result is withheld: {event.host} cannot replace it on {event.native_event} ({caps['modified_output'].why})"
    answer.reason = text if answer.decision != "deny" or answer.reason is None else f"{answer.reason}\n\n{text}"
    answer.decision, answer.halt = "deny", True


def _settle(event: Event, answer: Response, field: str, cap: Cap, drops: list[Drop]) -> None:
    """Leave a field in the answer, take it out, or move it where it takes effect."""
    if cap.kind == "honoured":
        return
    kind, why = cap.kind, cap.why
    if kind == "moved":
        if getattr(answer, cap.becomes) is None:
            setattr(answer, cap.becomes, getattr(answer, field))
        elif cap.becomes == "additional_context":
            answer.additional_context = f"{getattr(answer, field)}\n\n{answer.additional_context}"
        else:
            kind, why = "superseded", f"{cap.becomes} is shown instead"
    if why:
        drops.append(Drop(event.host, event.native_event, field, why, kind, cap.becomes))
    if kind != "unheeded":
        setattr(answer, field, None)


def _passes_ask(answer: Response, caps: Caps, options: Options, host: str) -> bool:
    """Whether an ask goes to the host unchanged although the host mishandles it, because the policy opted out of the downgrade, or because
    it comes from a program that was written for this host (`native`)."""
    own = host in (answer.native or {}).get("ask", {})
    return answer.decision == "ask" and caps.ask_passes and (own or options.ask_fallback_on(host) == "ask")


def _can_deny(wire: Tables, event: Event, caps: Caps) -> bool:
    """Whether a denial is worth writing: one that some surface of the host may obey is, where it prevents something."""
    kind = caps["deny"].kind
    return kind == "honoured" or (kind == "unheeded" and wire.EVENTS[event.native_event].gates)


def _settle_ask(event: Event, answer: Response, caps: Caps, options: Options, drops: list[Drop]) -> None:
    cap = caps["ask"]
    if answer.decision != "ask" or cap.kind == "honoured":
        return
    fallback = options.ask_fallback_on(event.host)
    if fallback == "ask":
        fallback = "deny"
    why = "this event cannot ask" if cap is NO_CHANNEL else cap.why
    drops.append(Drop(event.host, event.native_event, "ask", why, "downgraded", fallback, caps.ask_warning))
    answer.decision = fallback
    if fallback == "deny" and answer.reason is None:
        answer.reason = "this needs a person's approval, and this agent cannot ask for it"


def _settle_decision(event: Event, answer: Response, caps: Caps, drops: list[Drop]) -> None:
    if answer.decision is None:
        return
    cap = caps[answer.decision]
    if cap is NO_CHANNEL:
        cap = dropped(f"{answer.decision!r}: {cap.why}")
    _settle(event, answer, "decision", cap, drops)


_REASON_CHANNEL = {"deny": "reason", "ask": "reason", "allow": "allow_reason", None: "note"}


def _settle_reason(event: Event, answer: Response, caps: Caps, drops: list[Drop]) -> None:
    if answer.reason is None:
        return
    cap = caps[_REASON_CHANNEL[answer.decision]]
    if answer.decision == "ask" and caps["ask_reason"] is not NO_CHANNEL:
        cap = caps["ask_reason"]
    _settle(event, answer, "reason", cap, drops)


def _settle_rewrite(event: Event, answer: Response, caps: Caps, drops: list[Drop]) -> None:
    """modified_input becomes the whole input, since hosts replace it whole, in the host's own spelling."""
    if answer.modified_input is None:
        return
    if answer.decision == "deny":
        answer.modified_input = None
        return
    changed = event.spelled(answer.modified_input)
    if caps.rewrites is not None:
        for key in [key for key in changed if key not in caps.rewrites]:
            why = f"a rewrite of {event.native_tool} cannot change it"
            drops.append(Drop(event.host, event.native_event, f"modified_input.{key}", why))
            del changed[key]
    answer.modified_input = {**event.tool_input, **changed} if changed else None


def given(**fields: Any) -> dict[str, Any]:
    """Those of an answer's fields that are set."""
    return {name: value for name, value in fields.items() if value is not None}


def for_plugin(response: Response) -> dict[str, Any]:
    """An answer for our plugin in an agent that has no command hooks: args is the whole input, in the tool's own keys, and output is
    instead of the result."""
    said = given(decision=response.decision, reason=response.reason, args=response.modified_input, output=response.modified_output)
    return {**said, **given(context=response.additional_context, message=response.user_message)}


def halted(response: Response, body: dict[str, Any]) -> dict[str, Any]:
    """An answer that ends the turn, in the form that Claude Code began."""
    return {**body, "continue": False, "stopReason": response.reason}


def dialog_answer(response: Response) -> dict[str, Any]:
    """An allow or a deny as the answer to a permission request, in the form that Claude Code began."""
    if response.decision == "deny":
        return {"behavior": "deny", "message": response.reason}
    return given(behavior="allow", updatedInput=response.modified_input)


def gates(wire: Tables, event: Event) -> bool:
    """Whether a deny of this event prevents something. (Never a stop: to deny one is to go on.)"""
    return event.event not in STOPS and wire.EVENTS[event.native_event].gates
