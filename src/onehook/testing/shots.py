"""One event fired at a policy on one host, and what the host does with the answer.

The payload is built from the host's own tables (hosts/<id>/reverse.py), the policy runs in this process or through the launcher that
install writes into configs, and the answer is interpreted by the host's own rules. So the effect is reported, not the JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onehook.core import EVENTS, EXTENDED_EVENTS, TOOLS, Event, HandlerError, Response, UsageError
from onehook.hostkit.effects import gates
from onehook.hostkit.reverse import SAMPLE_FIELDS, TOOL_KEYS, sample, unified_events
from onehook.hostkit.tools import Tool
from onehook.hosts import HOSTS, load, wire_of
from onehook.testing.effect import effects_of, ignored

SESSION = "onehook-fire"
CLOSED, CONTINUES = "blocked (fail=closed)", "error, continues"  # the main effects of an error
# The minimal input of a tool on every host, where the author gives none.
_LEAST = {"Write": {"content": ""}, "Edit": {"old_string": "", "new_string": ""}}


@dataclass(frozen=True)
class Loss:
    """Something that the policy asked for and the agent does not support: a core.Drop as plain data."""

    fields: tuple[str, ...]
    kind: str
    text: str

    @property
    def field(self) -> str:
        return ", ".join(self.fields)


@dataclass(frozen=True)
class Round:
    """A payload on its way to one host's hook."""

    host: str
    label: str  # the host, and which part of the call, if the host splits it
    payload: dict[str, Any]
    native_event: str
    event: Event  # as the host's own parser reads it


@dataclass(frozen=True)
class Told:
    """What a hook process gives back to a host."""

    stdout: str
    stderr: str
    exit_code: int
    lost: tuple[Loss, ...] = ()
    error: str = ""  # what is wrong with the policy


@dataclass(frozen=True)
class Shot:
    """A fired round: the answer to the host, what is lost, and the effect."""

    host: str
    label: str
    effects: tuple[str, ...] = ()  # the main one first
    payload: dict[str, Any] = field(default_factory=dict, repr=False)
    event: Event | None = field(default=None, repr=False)
    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    heard: Response = field(default_factory=Response)  # the answer as the host understands it
    lost: tuple[Loss, ...] = ()
    error: str = ""  # the policy's error
    absent: str = ""  # why nothing was fired at this host

    @property
    def main(self) -> str:
        return self.effects[0] if self.effects else ""

    @property
    def effect(self) -> str:
        return ", ".join(self.effects)

    def to_dict(self) -> dict[str, Any]:
        if self.absent:
            return {"host": self.host, "absent": self.absent}
        return {
            "host": self.label,
            "event": self.event.native_event if self.event else "",
            "payload": self.payload,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "exit_code": self.exit_code,
            "lost": [{"field": loss.field, "text": loss.text} for loss in self.lost],
            "effect": self.effect,
            "error": self.error,
        }


class Absent(Exception):
    """The host does not have this event or tool; the message names it."""


def close_to(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or ""."""
    import difflib

    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)  # of two spellings the first, which is the unified one
    close = difflib.get_close_matches(word.lower(), by_lower, 1, 0.75)
    return by_lower[close[0]] if close else ""


def known_event(name: str) -> str:
    """The event, or a UsageError that suggests the one that was probably meant."""
    if name in EVENTS or name in EXTENDED_EVENTS:
        return name
    meant = close_to(name, (*EVENTS, *EXTENDED_EVENTS))
    raise UsageError(f"unknown event {name!r}.{f' Did you mean {meant}?' if meant else ''} Known events: {', '.join(EVENTS)}")


def tool_note(name: str) -> str:
    """A hint about a tool name that is not unified; "" if none is needed."""
    if not name or name in TOOLS or name.startswith("mcp__"):
        return ""
    owners = [(host, native_tools(host)[name].names[0]) for host in HOSTS if name in native_tools(host)]
    if owners:
        host, unified = owners[0]
        return f"{name} is {host}'s own name for {unified}; use {unified} to match this tool on every agent"
    meant = close_to(name, TOOLS)
    hint = f"; did you mean {meant}?" if meant else f" ({', '.join(TOOLS)})"
    return f"{name} is not a unified tool{hint}"


def native_tools(host: str) -> Mapping[str, Tool]:
    return wire_of(host).TOOLS


def chosen(names: Sequence[str] | None) -> list[str]:
    """The named hosts; every host for none or "all"."""
    if not names or list(names) == ["all"]:
        return list(HOSTS)
    for name in names:
        if name not in HOSTS:
            raise unknown_agent(name, HOSTS)
    return list(names)


def unknown_agent(name: str, known: Sequence[str]) -> UsageError:
    meant = close_to(name, known)
    return UsageError(f"unknown agent {name!r}.{f' Did you mean {meant}?' if meant else ''} Known agents: {', '.join(known)}")


def check_keys(tool: str, fields: Iterable[str]) -> None:
    """Refuse a key that neither the event nor the tool has: the handlers would look for another one, and see nothing."""
    if tool not in TOOL_KEYS:  # an MCP tool, or one that onehook does not know, takes anything
        return
    known = (*TOOL_KEYS[tool], *SAMPLE_FIELDS)
    spellings = {own.key(key): key for host in HOSTS for own in native_tools(host).values() if tool in own.names for key in TOOL_KEYS[tool]}
    for key in (key for key in fields if key not in known):
        meant = spellings.get(key) or close_to(key, known)
        hint = f" Did you mean {meant}?" if meant else ""
        raise UsageError(f"{tool} has no input {key!r}.{hint} Known keys: {', '.join(TOOL_KEYS[tool])}")


def made_up(event: str, tool: str, fields: dict[str, Any], cwd: str) -> Event:
    """A host-neutral event with what every host sends: a session id and a folder."""
    least = _LEAST.get(tool, {})
    return sample(known_event(event), tool, **{"session_id": SESSION, "cwd": cwd, **least, **fields})


def rounds(event: Event, host: str) -> list[Round]:
    """The payloads that a host would send for an event. Raises Absent if it never would."""
    reverse, wire = load(host, "reverse"), wire_of(host)
    if event.event not in unified_events(wire.EVENTS):
        raise Absent(f"has no event {event.event}")
    pieces = reverse.parts(event)
    made = []
    for number, piece in enumerate(pieces, 1):
        payload = reverse.payload(piece)
        native = piece.native_event if piece.host == host else next(name for name, row in wire.EVENTS.items() if row.event == event.event)
        parsed = wire.parse(payload, native)
        if event.tool in TOOLS and parsed.mcp is None and parsed.native_tool not in native_tools(host) and parsed.tool:
            raise Absent(f"has no tool {event.tool}")
        made.append(Round(host, host if len(pieces) == 1 else f"{host} {number}/{len(pieces)}", payload, parsed.native_event, parsed))
    return made


def captured(payload: dict[str, Any], hosts: Sequence[str]) -> tuple[str, Event]:
    """The host and the event of a payload that an agent sent. hosts: who may have sent it; if empty, it is detected from the payload."""
    from onehook.hosts import resolve

    wire = resolve(hosts, payload)
    return wire.ID, wire.parse(payload, "")


def judged(shot: Round, told: Told) -> Shot:
    """What the host does with an answer."""
    common: dict[str, Any] = {
        "host": shot.host, "label": shot.label, "payload": shot.payload, "event": shot.event, "stdout": told.stdout,
        "stderr": told.stderr, "exit_code": told.exit_code, "lost": told.lost,
    }  # fmt: skip
    try:
        heard = load(shot.host, "reverse").answer(shot.event, told.stdout, told.stderr, told.exit_code)
    except HandlerError as failed:
        return Shot(effects=(CONTINUES,), error=told.error or str(failed), **common)
    lost = [field for loss in told.lost for field in loss.fields]
    effects = effects_of(shot.event, heard, gates(wire_of(shot.host), shot.event), ignored(heard, lost))
    if told.error:
        effects = (CLOSED if effects[0] == "blocked" else CONTINUES,)
    return Shot(effects=effects, error=told.error, heard=heard, **common)
