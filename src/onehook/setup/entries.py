"""Our entries in a document: finding them, taking them out, and what the file is without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onehook.hostkit.config import Found, Place
from onehook.setup.command import is_ours
from onehook.setup.journal import Journal, Memory
from onehook.textedit.document import ConfigError, Document
from onehook.textedit.text import value_at

if TYPE_CHECKING:
    from onehook.hosts.interface import Config


def ours_in(config: Config, data: Any) -> list[Found]:
    return [entry for entry in config.found(data) if is_ours(entry.command)]


def first_state(document: Document, config: Config, place: Place, journal: Journal) -> bytes | None:
    """The bytes that uninstall will give back: those of before the first install, or what is left without our entries."""
    memory = journal.recall(place.path)
    if memory is not None:
        return memory.before
    return without(document, ours_in(config, document.data()), config, journal.origin(place.path))


def without(document: Document, entries: list[Found], config: Config, origin: Memory | None) -> bytes | None:
    """The document without these entries; None if the file would be empty and install made it."""
    if not entries:
        return document.before
    copy = document.copy()
    original = _original(copy, origin)
    for found in reversed(entries):
        take_out(copy, found, original)
    data = copy.data()
    empty = not data or data == dict(config.TRAITS.skeleton)
    return None if empty and origin is not None and origin.before is None else copy.after


def _original(document: Document, origin: Memory | None) -> Any:
    """The data of the file that install found, as far as it is known."""
    if origin is None or origin.before is None:
        return None
    try:
        return document.with_bytes(origin.before).data()
    except ConfigError:
        return None


def take_out(document: Document, found: Found, original: Any) -> None:
    """Remove a handler, and then every container above it that it leaves empty and that the user did not have."""
    path: tuple[str | int, ...] = found.path
    document.remove(path)
    while len(path) > 1:
        path = path[:-1]
        value = value_at(document.data(), path)
        if value is None:
            continue  # in TOML an array of tables goes with its last table
        bare_group = isinstance(value, dict) and value.get("hooks", []) == [] and set(value) <= {"hooks", "matcher", "sequential"}
        users = not isinstance(path[-1], int) and isinstance(value_at(original, path), (dict, list))
        if (value not in ({}, []) and not bare_group) or users:
            return
        document.remove(path)
