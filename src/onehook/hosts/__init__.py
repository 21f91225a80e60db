"""The hosts. Each is a folder with wire (parse and render, pure), config (where and how it is installed) and live (how to start it).

To add a host: a folder here, case files under tests/hosts/<id>/, and its name in HOSTS. Nothing else lists hosts.
"""

from __future__ import annotations

from onehook.core import PayloadError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    from onehook.core import Event, Output, Response
    from onehook.hostkit.effects import Caps, Row, StandIn

    class Wire(Protocol):
        """What hosts/<id>/wire.py offers. A module is the implementation."""

        @property
        def ID(self) -> str: ...  # the host's name, which is also its folder's
        @property
        def EVENTS(self) -> Mapping[str, Row]: ...  # native event name -> what it is
        @property
        def STAND_INS(self) -> Mapping[str, StandIn]: ...  # native event name -> the moment of other hosts that it tells here
        @property
        def BORROWED_BY(
            self,
        ) -> tuple[tuple[str, str], ...]: ...  # hosts that also run this host's config, and the key that gives them away
        @property
        def UNREADABLE(self) -> tuple[str, int]: ...  # stdout and exit code for a payload that cannot be read, under fail open
        @property
        def ERROR_EXIT(self) -> int: ...  # exit code for every other error under fail open: one on which the host goes on

        def score(self, payload: dict[str, Any]) -> int: ...  # how surely a payload is this host's; 0 = it is not
        def parse(self, payload: dict[str, Any], event_name: str) -> Event: ...
        def caps(self, event: Event) -> Caps: ...  # what takes effect for this event on this version
        def render(self, event: Event, response: Response, chatter: bool) -> Output: ...  # chatter: something else must go to stderr too


HOSTS = ("claude", "cursor", "codex", "gemini", "qwen", "copilot", "opencode", "kilo", "droid", "contract")


def _check(name: str) -> None:
    if name not in HOSTS:
        raise UsageError(f"unknown host {name!r}; the hosts are {', '.join(HOSTS)}")


def load(name: str, part: str = "wire") -> Any:
    """The named part of a host."""
    _check(name)
    return __import__(f"onehook.hosts.{name}.{part}", fromlist=[part])


def optional(name: str, part: str) -> Any:
    """The named part of a host, or None if this host has no such part."""
    try:
        return load(name, part)
    except ImportError:
        return None


def wire_of(name: str) -> Wire:
    module: Wire = load(name)
    return module


def happens(wire: Wire, event: Event) -> bool:
    """Whether an event tells of anything. Some hosts send one (wire.CONFIRMED) without; then their confirm.py looks outside the payload."""
    return event.native_event not in getattr(wire, "CONFIRMED", ()) or bool(load(wire.ID, "confirm").happens(event.native))


def detect(payload: dict[str, Any]) -> Wire:
    """The host that sent a payload, by what is in it. A payload that fits no host, or two equally well, is an error."""
    first, second = _ranked(HOSTS, payload)[:2]
    if first[0] <= 0:
        raise PayloadError(f"this payload is of no host that onehook knows ({', '.join(HOSTS)}); say which with --host ID")
    if first[0] == second[0]:
        raise PayloadError(f"this payload could be of {first[1].ID} or {second[1].ID}; say which with --host ID")
    return first[1]


def _ranked(names: Sequence[str], payload: dict[str, Any]) -> list[tuple[int, Wire]]:
    """The hosts with how well the payload fits each, the best first; of equals the one that was named first."""
    return sorted(((wire.score(payload), wire) for wire in map(wire_of, names)), key=lambda row: -row[0])


def resolve(named: Sequence[str], payload: dict[str, Any]) -> Wire:
    """The host of a payload: of the named ones the first that fits, unless the payload shows that another host runs its config.

    A host is loaded only when those before it do not fit: each costs half a millisecond.
    """
    if not named:
        return detect(payload)
    for name in named:
        _check(name)
    for name in named:
        wire = wire_of(name)
        for borrower, key in wire.BORROWED_BY:
            if key in payload and borrower in HOSTS:
                return wire_of(borrower)
        if len(named) == 1 or wire.score(payload) > 0:
            return wire
    return wire_of(named[0])
