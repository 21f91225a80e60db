"""Compiled rules, and the handlers that they are for an event. On the hot path.

The rules of a file, of what it extends, of the other layers and of their packs are compiled together into one file of the user's cache:
a header, and for every program a chunk that is loaded only if a command names the program. The file holds a copy of every source that it
was made from and is used only if each is still the same to the byte, so that nobody has to remember to compile. Packs are part of
onehook: of them size and time are compared.
"""

from __future__ import annotations

import marshal
import os
import sys

from onehook.core import Hooks, Registration
from onehook.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from onehook.core import Event, Response
    from onehook.rules.levels import Finding

    Layer = tuple[str, str]  # "managed", "user" or "project", and the path of its file

MAGIC = f"onehook rules 1 {VERSION} {sys.implementation.cache_tag}\n".encode()


class Table:
    """Compiled rules. `raw` holds the chunks, each as marshal wrote it."""

    __slots__ = ("_chunks", "_index", "_raw", "allows", "header", "lists")

    def __init__(self, header: dict[str, Any], raw: bytes) -> None:
        self.header = header
        self._index: dict[str, tuple[int, int]] = header["index"]
        self._raw = memoryview(raw)
        self._chunks: dict[str, Any] = {}
        self.lists: dict[str, list[str]] = header["lists"]
        self.allows: bool = header["allows"]

    def chunk(self, name: str) -> dict[str, Any] | None:
        """The rules and permissions of a program; of "" those of files, addresses and tools."""
        if name not in self._index:
            return None
        if name not in self._chunks:
            begin, size = self._index[name]
            self._chunks[name] = marshal.loads(self._raw[begin : begin + size])
        found: dict[str, Any] = self._chunks[name]
        return found

    def watches(self, event: Event, plain: bool) -> bool:
        """Whether a rule that is not about one program may hold."""
        watch = self.header["watch"]
        if watch is None:
            return False
        if not event.command:
            return True
        if watch["commands"] or (watch["keys"] and not plain):
            return True
        # A plain line names its files in full, so a path that a rule is about has the rule's own words in it.
        text = f"{event.command}\0{event.cwd}".lower()
        return any(key in text for key in watch["keys"])


class Rules(Hooks):
    """The policy of a rules file. `noted` holds the findings of the last event, those that had no effect too."""

    __slots__ = ("noted", "table")

    def __init__(self, table: Table) -> None:
        super().__init__(**table.header["options"])
        self.table = table
        self.noted: list[Finding] = []
        for name, positional, named, says in table.header["policies"]:
            self._take_policy(name, positional, named, says)
        if table.header["judges"]:
            self.registrations.append(Registration("PreToolUse", self.judged, (), ()))

    def judged(self, event: Event) -> Response | None:
        from onehook.rules.judge import findings
        from onehook.rules.levels import answered

        found = findings(self.table, event)
        self.noted += found
        return answered(found)

    def _take_policy(self, name: str, positional: Sequence[Any], named: Mapping[str, Any], says: dict[str, Any]) -> None:
        from onehook import policies
        from onehook.rules.levels import leveled

        made: Hooks = getattr(policies, name)(*positional, **named)
        for one in made.registrations:
            handler = leveled(one.handler, f"policies.{name}", says, self.noted.append)
            self.registrations.append(Registration(one.event, handler, one.tools, one.hosts))


def load(path: str, layers: Sequence[Layer] = (), cache: str | None = None) -> Rules:
    """The policy of a rules file. `layers`: files that apply beside it; `cache`: the folder of compiled rules ("" for none)."""
    return Rules(table_of([*layers, ("project", path)], cache))


def table_of(layers: Sequence[Layer], cache: str | None = None) -> Table:
    folder = cache_folder() if cache is None else cache
    stored = os.path.join(folder, cache_name(layers)) if folder else ""
    table = _stored(stored) if stored else None
    if table is None:
        from onehook.rules.compile import compile_layers, store

        header, raw = compile_layers(layers)
        if stored:
            store(stored, header, raw)
        table = Table(header, raw)
    return table


def cache_folder() -> str:
    """Where compiled rules are kept: the user's cache, never the project, which an agent writes to."""
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    if not base or not os.path.isabs(base):
        home = os.path.expanduser("~")
        base = os.path.join(home, ".cache") if os.path.isabs(home) else ""
    return os.path.join(base, "onehook", "rules") if base else ""


def cache_name(layers: Sequence[Layer]) -> str:
    """A file name for a set of files: readable at its end, and distinct by a checksum of all the paths."""
    whole = "\0".join(f"{layer}={os.path.abspath(path)}" for layer, path in layers).encode("utf-8", "surrogateescape")
    first = second = 0
    for byte in whole:  # two sums of 64 bits; hashlib would be an import
        first = (first * 1099511628211 + byte + 1) & 0xFFFFFFFFFFFFFFFF
        second = (second * 6364136223846793005 + byte + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
    folder = os.path.basename(os.path.dirname(os.path.abspath(layers[-1][1])))
    return f"{first:016x}{second:016x}-{''.join(c if c.isalnum() else '_' for c in folder[:40])}.bin"


def _stored(path: str) -> Table | None:
    """The compiled rules of a file in the cache, if they were made from the sources as they are now."""
    try:
        with open(path, "rb", buffering=0) as file:
            if os.name != "nt" and not _is_ours(os.fstat(file.fileno())):
                return None
            data = file.readall()
        if not data.startswith(MAGIC):
            return None
        begin = len(MAGIC) + 8
        size = int.from_bytes(data[len(MAGIC) : begin], "little")
        header = marshal.loads(memoryview(data)[begin : begin + size])
        raw = data[begin + size :]
        if all(_is_same(source, raw) for source in header["sources"]):
            return Table(header, raw)
    except (OSError, ValueError, EOFError, TypeError, KeyError, IndexError):
        pass
    return None


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _is_same(source: tuple[str, int, int, int], raw: bytes) -> bool:
    """(path, time, offset, size): with a time for a pack, else with the place of the copy; size -1 for a file that must be absent."""
    path, modified, offset, size = source
    if size < 0:
        return not os.path.exists(path)
    if modified:
        status = os.stat(path)
        return status.st_size == size and status.st_mtime_ns == modified
    with open(path, "rb", buffering=0) as file:
        return file.readall() == raw[offset : offset + size]
