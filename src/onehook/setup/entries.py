"""onehook's entries in a config file: find them, remove them, and work out the file without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onehook.hostkit.config import Found, Place
from onehook.setup.command import is_ours, resembles_ours
from onehook.setup.journal import Journal, Memory
from onehook.textedit.document import ConfigError, Document
from onehook.textedit.text import value_at

if TYPE_CHECKING:
    from onehook.hosts.interface import Config


def ours_in(config: Config, data: Any) -> list[Found]:
    return [entry for entry in config.found(data) if is_ours(entry.command)]


def mentions_ours(content: bytes) -> bool:
    """Whether a file may have entries of ours, whatever its format and however it escapes slashes; it need not be readable as data."""
    return resembles_ours(content.decode("utf-8", "replace"))


def first_state(document: Document, config: Config, place: Place, journal: Journal) -> bytes | None:
    """The bytes that uninstall will restore: those before the first install, or what is left without our entries."""
    memory = journal.recall(place.path)
    if memory is not None:
        return memory.before
    return content_without(document, ours_in(config, document.data()), config, journal.origin(place.path))


def content_without(document: Document, entries: list[Found], config: Config, origin: Memory | None) -> bytes | None:
    """The document without these entries; None if install created the file and it would be empty."""
    if not entries:
        return document.before
    copy = document.copy()
    original = _original(copy, origin)
    for found in reversed(entries):
        remove_entry(copy, found, original)
    data = copy.data()
    empty = not data or data == dict(config.TRAITS.skeleton)
    return None if empty and origin is not None and origin.before is None else copy.after


def _original(document: Document, origin: Memory | None) -> Any:
    """The data of the file before the first install; None if it is not known."""
    if origin is None or origin.before is None:
        return None
    try:
        return document.with_bytes(origin.before).data()
    except ConfigError:
        return None


def remove_entry(document: Document, found: Found, original: Any) -> None:
    """Remove an entry, and then every container around it that is left empty and that the user did not have before."""
    path: tuple[str | int, ...] = found.path
    document.remove(path)
    while len(path) > 1:
        path = path[:-1]
        value = value_at(document.data(), path)
        if value is None:
            continue  # in TOML an array of tables is removed with its last table
        bare_group = isinstance(value, dict) and value.get("hooks", []) == [] and set(value) <= {"hooks", "matcher", "sequential"}
        kept_by_user = not isinstance(path[-1], int) and isinstance(value_at(original, path), (dict, list))
        if (value not in ({}, []) and not bare_group) or kept_by_user:
            return
        document.remove(path)
