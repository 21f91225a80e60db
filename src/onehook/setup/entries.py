"""onehook's entries in a config file: find them, remove them, and work out the file without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from onehook.hostkit.config import Found, Place
from onehook.hosts import load
from onehook.setup.command import is_ours, resembles_ours
from onehook.setup.journal import Entry, Given, Journal, Memory
from onehook.textedit.document import ConfigError, Document
from onehook.textedit.text import value_at

if TYPE_CHECKING:
    from onehook.hosts.interface import Config


def ours_in(config: Config, data: Any) -> list[Found]:
    return [entry for entry in config.found(data) if is_ours(entry.command)]


def entries_in(host: str, place: Place, content: bytes) -> list[Entry]:
    """onehook's entries in a config file with this content."""
    own = place.format == "own"
    data: Any = content.decode("utf-8", "replace") if own else Document(place.path, place.format).with_bytes(content).data()
    return [
        Entry(host, place.scope, str(place.root), found.event, found.command, found.matcher, found.item)
        for found in ours_in(load(host, "config"), data)
    ]


def mentions_ours(content: bytes) -> bool:
    """Whether a file may contain onehook's entries, whatever its format and however it escapes slashes; it need not be valid."""
    return resembles_ours(content.decode("utf-8", "replace"))


def first_state(document: Document, config: Config, place: Place, journal: Journal) -> bytes | None:
    """The bytes that uninstall will restore: those before the first install, or what is left without our entries."""
    memory = journal.recall(place.path)
    if memory is not None:
        return memory.before
    origin = journal.origin(place.path)
    return content_without(document, ours_in(config, document.data()), config, origin, origin.given if origin else ())


def content_without(
    document: Document, entries: list[Found], config: Config, origin: Memory | None, given: Iterable[Given] = ()
) -> bytes | None:
    """The document without these entries and this trust; None if install created the file and it would be empty."""
    given = list(given)
    if not entries and not given:
        return document.before
    copy = document.copy()
    original = original_of(copy, origin)
    for found in reversed(entries):
        remove_entry(copy, found.path, original)
    for one in given:
        take_back(copy, one, original)
    return rest_of(copy, config, origin)


def rest_of(document: Document, config: Config, origin: Memory | None) -> bytes | None:
    """A document without onehook's entries; None if install created the file and it is now empty."""
    data = document.data()
    empty = not data or data == dict(config.TRAITS.skeleton)
    return None if empty and origin is not None and origin.before is None else document.after


def original_of(document: Document, origin: Memory | None) -> Any:
    """The data of the file before the first install; None if it is not known."""
    if origin is None or origin.before is None:
        return None
    try:
        return document.with_bytes(origin.before).data()
    except ConfigError:
        return None


def stands(data: Any, given: Given) -> bool:
    """Whether a file still has what was written; if not, somebody else has changed it since."""
    value = value_at(data, given.path)
    return given.value in value if given.listed and isinstance(value, list) else value == given.value


def take_back(document: Document, given: Given, original: Any) -> None:
    data = document.data()
    if stands(data, given) and given.was:
        document.set_value(given.path, given.was[0])
    elif stands(data, given):
        index = (value_at(data, given.path).index(given.value),) if given.listed else ()
        remove_entry(document, (*given.path, *index), original)


def remove_entry(document: Document, path: tuple[str | int, ...], original: Any) -> None:
    """Remove an entry, and then every container around it that is left empty and that the user did not have before."""
    whole = path
    document.remove(path)
    while len(path) > 1:
        path = path[:-1]
        value = value_at(document.data(), path)
        if value is None:
            continue  # in TOML an array of tables is removed with its last table
        # The other keys of a group (matcher, description, ...) are about the hooks in it; some agents skip a file with a group that has
        # none.
        bare_group = isinstance(value, dict) and whole[len(path) : len(path) + 1] == ("hooks",) and not value.get("hooks")
        kept_by_user = not isinstance(path[-1], int) and isinstance(value_at(original, path), (dict, list))
        if (value not in ({}, []) and not bare_group) or kept_by_user:
            return
        document.remove(path)
