"""The hosts: one folder for each agent, with one module for each part. interface.py declares the parts and all their members.

To add a host: a folder here, case files under tests/hosts/<id>/, and its name in HOSTS. Nothing else lists hosts. A guest has the parts
`wire` (its tables alone), `reverse` and `imports`, and its name in GUESTS.
"""

from __future__ import annotations

from onehook.core import Options, UsageError
from onehook.hostkit.effects import CERTAIN, weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from onehook.core import Event
    from onehook.hosts.interface import GuestImports, Load, LoadOptional
    from onehook.hosts.interface import Wire as Wire


HOSTS = (
    "claude",
    "cursor",
    "codex",
    "gemini",
    "qwen",
    "copilot",
    "opencode",
    "kilo",
    "droid",
    "vibe",
    "openhands",
    "grok",
    "pi",
    "hermes",
    "kimi",
    "cline",
    "contract",
)
# Agents that onehook cannot be installed on. Their folders hold what is needed to import the hooks that are written for them, and to run
# those on the hosts. With the other parts added, such a folder becomes a host.
GUESTS = ("windsurf",)
Options.hosts = HOSTS  # so that a policy that names an unknown agent is reported
# Which hosts also run the hook configuration of another, by a key that only they send. Generated from reads_config_of and SENDS, so that
# an event asks it without loading every host: python -m onehook.docgen.registry
READ_BY = {"claude": {"cursor_version": "cursor", "sessionId": "copilot", "timestamp": "copilot", "workspaceRoot": "grok"}}


# None: the host has no such part. __import__ takes ten times as long, most of all for a missing part; an install asks thousands of times.
_LOADED: dict[tuple[str, str], Any] = {}


def _check(name: str) -> None:
    if name not in HOSTS and name not in GUESTS:
        raise UsageError(f"unknown agent {name!r}; the agents are {', '.join(HOSTS)}")


def _load(name: str, part: str = "wire") -> Any:
    """The named part of a host."""
    found = _LOADED.get((name, part))
    if found is None:
        _check(name)
        found = _LOADED[name, part] = __import__(f"onehook.hosts.{name}.{part}", fromlist=[part])
    return found


def _optional(name: str, part: str) -> Any:
    """The named part of a host, or None if it has no such module. A part that exists but cannot be imported is an error."""
    if (name, part) not in _LOADED:
        try:
            return _load(name, part)
        except ModuleNotFoundError as error:
            if error.name != f"onehook.hosts.{name}.{part}":
                raise
            _LOADED[name, part] = None
    return _LOADED[name, part]


load: Load = _load
optional: LoadOptional = _optional


def having(part: str) -> list[str]:
    """The hosts that have the named part."""
    return [name for name in HOSTS if _optional(name, part) is not None]


def guest(name: str) -> GuestImports:
    """The part of a guest that finds its hooks."""
    found: GuestImports = _load(name, "imports")
    return found


def wire_of(name: str) -> Wire:
    return load(name)


def happens(wire: Wire, event: Event) -> bool:
    """Whether something really happens. Some agents also send an event when nothing does; confirm.py then looks outside the payload."""
    return not wire.EVENTS[event.native_event].confirmed or load(wire.ID, "confirm").happens(event.native)


def readers_of(name: str) -> tuple[str, ...]:
    """The hosts that also run the hook configuration of this one."""
    return tuple(dict.fromkeys(READ_BY.get(name, {}).values()))


def entry_hosts(name: str) -> tuple[str, ...]:
    """The hosts that may start an entry in this host's configuration, as --host names them.

    A host that reads another host's files skips an entry that its own files contain too, word for word; so both get the same command. A
    host with own_entries decides that for itself.
    """

    def shares(lender: str, reader: str) -> bool:
        return reader in readers_of(lender) and optional(reader, "own_entries") is None

    return tuple(host for host in HOSTS if host == name or shares(name, host) or shares(host, name))


def detect(payload: dict[str, Any]) -> Wire:
    """The host that sent a payload, determined only by its content."""
    from onehook.hostkit.detect import heaviest

    return heaviest([wire_of(name) for name in HOSTS], payload)


def _sent_by(reader: str, lender: str, payload: dict[str, Any]) -> bool:
    """Whether a payload comes from this reader and not from another one. Agents that are not hosts run the lender's entries too, and send
    some of its keys."""
    wire = wire_of(reader)
    others = frozenset((*wire_of(lender).SENDS, *READ_BY[lender])).intersection(payload)
    return weight(wire, payload) == CERTAIN or weight(wire, payload, others) > 0


def resolve(named: Sequence[str], payload: dict[str, Any]) -> Wire:
    """The host of a payload: the first of the named ones that fits, or another host that runs its configuration.

    A host is loaded only when those before it do not fit: each costs half a millisecond.
    """
    if not named:
        return detect(payload)
    for name in named:
        _check(name)
    for name in named:
        for key, reader in READ_BY.get(name, {}).items():
            if key in payload and _sent_by(reader, name, payload):
                return wire_of(reader)
        wire = wire_of(name)
        if len(named) == 1 or weight(wire, payload) > 0:
            return wire
    return wire_of(named[0])
