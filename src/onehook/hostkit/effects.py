"""What a host's tables are made of, and how the answer of a policy becomes the answer that takes effect on one host.

Each host's wire module states for each event what works there (its caps). compile_response removes everything else, and records it in a
Drop that names the field, the agent, the event and the reason. So render gets an answer in which every field works.
"""

from __future__ import annotations

from onehook.core import STOPS, Drop, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from onehook.core import Event, Options

    class Recognised(Protocol):
        """The part of a host's wire that detection reads."""

        @property
        def ID(self) -> str: ...
        @property
        def MARKS(self) -> tuple[Mark, ...]: ...
        @property
        def SENDS(self) -> tuple[str, ...]: ...

    class Tables(Protocol):
        """The part of a host's wire that compile_response reads."""

        @property
        def EVENTS(self) -> Mapping[str, Row]: ...
        @property
        def RESULTS(self) -> Results: ...
        def caps(self, event: Event, /) -> Caps: ...


class Row:
    """What a native event is: the unified event, the tool that it implies, the answer's shape, and whether a deny prevents something.

    `confirmed`: the agent also sends it when nothing happens, and the host's confirm.py finds out whether something does.
    """

    __slots__ = ("confirmed", "event", "gates", "shape", "tool")

    def __init__(self, event: str, shape: str, gates: bool = False, tool: str = "", confirmed: bool = False) -> None:
        self.event = event
        self.shape = shape
        self.gates = gates
        self.tool = tool
        self.confirmed = confirmed


class StandIn:
    """A moment that the host has no event for, and the event that replaces it.

    For programs of a manifest, which were written for a host that has the event and cannot be changed. `tool`: only with this unified
    tool. `source`: for a SessionStart, why the session starts. `inside`: only if it comes from a subagent, and then as nothing else.
    """

    __slots__ = ("event", "inside", "source", "tool")

    def __init__(self, event: str, tool: str = "", source: str = "", inside: bool = False) -> None:
        self.event = event
        self.tool = tool
        self.source = source
        self.inside = inside

    def covers(self, event: Event) -> bool:
        return (not self.tool or event.tool == self.tool) and (not self.inside or bool(event.agent_id))


class Traits:
    """What differs from most hosts: the optional members of a host's wire, with their defaults.

    skills: native tools and events that start a skill or a command -> the key that names it. stand_ins: native event -> the event of
    other agents that it stands in for. variables: environment variables by which a hook can recognise that this agent runs it.
    reads_config_of: hosts whose hook configuration this one also runs. built_on: the host that this one is a fork of, whose modules it
    uses. When failing open, unreadable is stdout and exit code for a payload that cannot be read, and error_exit is the exit code for every
    other error, with which the agent continues.
    """

    __slots__ = ("built_on", "error_exit", "reads_config_of", "skills", "stand_ins", "unreadable", "variables")

    def __init__(
        self,
        skills: Mapping[str, str] | None = None,
        stand_ins: Mapping[str, StandIn] | None = None,
        variables: tuple[str, ...] = (),
        reads_config_of: tuple[str, ...] = (),
        built_on: str = "",
        unreadable: tuple[str, int] = ("", 1),
        error_exit: int = 1,
    ) -> None:
        self.skills = skills or {}
        self.stand_ins = stand_ins or {}
        self.variables = variables
        self.reads_config_of = reads_config_of
        self.built_on = built_on
        self.unreadable = unreadable
        self.error_exit = error_exit


class Results:
    """Where the results of a host's tools contain what event.result returns (onehook.hostkit.results reads it).

    `texts`: native tool ("*" for the others) -> the keys of the output, "a.b|c" for several; without it, the result's shape decides. What
    the agent adds around the output of the `framed` tools: before it, `heads`, with "*" for anything or "#" for a number; after it, whole
    lines, `tails`, with "#" for a number ("\\n" in one begins another line). `empty` is its text for no output. The exit code of a
    command: the key `code` of the result or the payload; or the number after `marker` in a head or tail; or else `code_if_none`, if none
    of the keys in `unless` is set. `unkept`: keys that repeat the output, and are omitted from a replaced result.
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
    path; `file`: the beginning of the transcript's name. `alone`: the payload has no other keys. A mark that is CERTAIN counts whatever
    else is in the payload; any other counts only if the payload has no key that this host does not send (see SENDS).
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
    """How likely it is that this host sent a payload; 0 if it did not. `telling`: the payload's keys that not every host sends."""
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
    """What happens to one effect of an answer on one kind of event.

    kind: "honoured"; "dropped"; "unheeded" (the agent was seen to ignore it; it is still written, since other surfaces of the agent may
    not); "moved" (it takes effect as the field `becomes`; a loss only if there is a `why`); "limited" (it takes effect only with the
    decision `beside`, or for "nothing" only if the answer has no other part; modified_output: only on results with a place for text).
    """

    __slots__ = ("becomes", "beside", "kind", "why")

    def __init__(self, kind: str, why: str = "", becomes: str = "", beside: str = "") -> None:
        self.kind = kind
        self.why = why
        self.becomes = becomes
        self.beside = beside

    def given(self, decision: str | None, alone: bool = True) -> Cap:
        """The cap in combination with a decision. `alone`: the answer contains nothing else."""
        if self.kind != "limited":
            return self
        return HONOURED if decision == self.beside or (alone and self.beside == "nothing") else Cap("dropped", self.why)

    def __repr__(self) -> str:
        return f"Cap({self.kind!r}, {self.why!r}, {self.becomes!r}, {self.beside!r})"


HONOURED = Cap("honoured")
NO_CHANNEL = Cap("dropped", "the agent has no channel for it on this event")
# approve: an allow skips the permission prompt; allow: an allow is understood, even if it only means to continue; reason: for a deny or an
# ask; ask_reason and allow_reason: where these differ; note: a reason without a decision; withhold: ending the turn keeps a result that
# cannot be replaced from the model.
EFFECTS = (
    "approve", "allow", "deny", "ask", "reason", "ask_reason", "allow_reason", "note", "user_message", "modified_input",
    "modified_output", "withhold", "additional_context", "message", "lint_command",
)  # fmt: skip


def dropped(why: str) -> Cap:
    return Cap("dropped", why)


class Caps:
    """What takes effect on one kind of event: the caps of most events of the host (`base`), and how this one differs (`own`).

    `silent`: the event takes no answer at all. `rewrites`: the input keys that a rewrite can change, None for all. `ask_passes`: the host
    accepts an ask but mishandles it; a policy may insist on it. `ask_warning`: the host's own words for an ask that is not honoured.
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
        """The cap of an effect; an effect that is not named has no channel."""
        return self.own.get(effect) or self.base.get(effect) or NO_CHANNEL

    def but(self, ask_warning: str = "", rewrites: frozenset[str] | None = None, **own: Cap) -> Caps:
        """The same caps, with others for some effects."""
        warning, rewrites = ask_warning or self.ask_warning, rewrites or self.rewrites
        return Caps(self.base, self.silent, self.ask_passes, warning, rewrites, self.progress, **{**self.own, **own})

    @staticmethod
    def by_shape(events: Mapping[str, Row], caps: Mapping[str, Caps]) -> Callable[[Event], Caps]:
        """`caps` of a wire on which only the shape of an event decides."""
        return lambda event: caps[events[event.native_event].shape]


SILENT = Caps({"allow": HONOURED}, silent=True)


def compile_response(wire: Tables, event: Event, response: Response, options: Options) -> tuple[Response, list[Drop]]:
    """The answer without the fields that this host cannot honour, and what was removed."""
    caps = wire.caps(event)
    drops: list[Drop] = []
    answer = response.copy()
    if answer.decision in ("deny", "ask") and answer.reason is not None and not answer.reason.strip():
        answer.reason = None  # blank means none: some hosts treat a denial without a reason as a failed hook, and run the tool
    own_words = answer.reason is not None or answer.decision not in ("deny", "ask")
    if answer.decision == "deny" and answer.reason is None:
        answer.reason = "denied by policy"
    if not _passes_ask(answer, caps, options, event.host):
        if _can_deny(wire, event, caps):
            _settle_ask(event, answer, caps, options, drops)
        _settle_decision(event, answer, caps, drops)
    _settle_reason(event, answer, caps, drops if own_words else [])  # a default reason that was set here is not a loss
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

        # (An empty result has nothing to hide.)
        cap = dropped(cap.why) if event.tool_response and replaced(event, wire.RESULTS, "") is None else HONOURED
    if not str(answer.modified_output).strip():
        answer.modified_output = "(empty)"  # some hosts treat empty text as none, and show the old text
    _settle(event, answer, "modified_output", cap, drops)


def _withhold(event: Event, answer: Response, caps: Caps) -> None:
    """If a result cannot be replaced, end the turn, provided that this keeps the result from the model."""
    if caps["withhold"].kind != "honoured":
        return
    text = f"the result is withheld: {event.host} cannot replace it on {event.native_event} ({caps['modified_output'].why})"
    answer.reason = text if answer.decision != "deny" or answer.reason is None else f"{answer.reason}\n\n{text}"
    answer.decision, answer.halt = "deny", True


def _settle(event: Event, answer: Response, field: str, cap: Cap, drops: list[Drop]) -> None:
    """Keep a field in the answer, remove it, or move it to where it takes effect."""
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
    """Whether to write a denial: yes if it prevents something and some surface of the agent may obey it."""
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
    """modified_input becomes the complete input, since hosts replace all of it, in the host's own spelling."""
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
    """The fields of an answer that are set."""
    return {name: value for name, value in fields.items() if value is not None}


def for_plugin(response: Response) -> dict[str, Any]:
    """An answer for onehook's plugin in an agent without command hooks: args is the whole input, in the tool's own keys, and output
    replaces the result."""
    said = given(decision=response.decision, reason=response.reason, args=response.modified_input, output=response.modified_output)
    return {**said, **given(context=response.additional_context, message=response.user_message)}


def halted(response: Response, body: dict[str, Any]) -> dict[str, Any]:
    """An answer that ends the turn, in the form that Claude Code introduced."""
    return {**body, "continue": False, "stopReason": response.reason}


def dialog_answer(response: Response) -> dict[str, Any]:
    """An allow or a deny as the answer to a permission request, in the form that Claude Code introduced."""
    if response.decision == "deny":
        return {"behavior": "deny", "message": response.reason}
    return given(behavior="allow", updatedInput=response.modified_input)


def gates(wire: Tables, event: Event) -> bool:
    """Whether a deny of this event prevents something. (Never a stop: denying one means to continue.)"""
    return event.event not in STOPS and wire.EVENTS[event.native_event].gates
