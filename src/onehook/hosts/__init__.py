"""The hosts: one folder for each agent, with one module for each part. interface.py declares the parts and all their members.

To add a host: a folder here, case files under tests/hosts/<id>/, and its name in HOSTS. Nothing else lists hosts.
"""

from __future__ import annotations

from onehook.core import PayloadError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from onehook.core import Event
    from onehook.hosts.interface import Load, LoadOptional
    from onehook.hosts.interface import Wire as Wire


HOSTS = ("claude", "cursor", "codex", "gemini", "qwen", "copilot", "opencode", "kilo", "droid", "contract")


def _check(name: str) -> None:
    if name not in HOSTS:
        raise UsageError(f"unknown host {name!r}; the hosts are {', '.join(HOSTS)}")


def _load(name: str, part: str = "wire") -> Any:
    """The named part of a host."""
    _check(name)
    return __import__(f"onehook.hosts.{name}.{part}", fromlist=[part])


def _optional(name: str, part: str) -> Any:
    """The named part of a host, or None if it has no such module. A part that is there and cannot be imported is an error."""
    try:
        return _load(name, part)
    except ModuleNotFoundError as error:
        if error.name != f"onehook.hosts.{name}.{part}":
            raise
        return None


load: Load = _load
optional: LoadOptional = _optional


def having(part: str) -> list[str]:
    """The hosts that have the named part."""
    return [name for name in HOSTS if _optional(name, part) is not None]


def wire_of(name: str) -> Wire:
    return load(name)


def happens(wire: Wire, event: Event) -> bool:
    """Whether there is anything behind an event. Some agents send one when nothing happens; then confirm.py looks outside the payload."""
    return not wire.EVENTS[event.native_event].confirmed or load(wire.ID, "confirm").happens(event.native)


def detect(payload: dict[str, Any]) -> Wire:
    """The host that sent a payload, by what is in it. A payload that fits no host, or two equally well, is an error."""
    first, second = _ranked(HOSTS, payload)[:2]
    if first[0] <= 0:
        raise PayloadError(f"cannot tell which agent sent this payload; name it with --host ID (known: {', '.join(HOSTS)})")
    if first[0] == second[0]:
        raise PayloadError(f"this payload could come from {first[1].ID} or {second[1].ID}; name the agent with --host ID")
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
