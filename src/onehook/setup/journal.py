"""The journal of installs: the bytes of each file before onehook first changed it, so that uninstall can restore exactly those."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from onehook.jsonc import read_regular
from onehook.places import state_folder
from onehook.setup.files import FileEdit

_DAYS = 90  # a record is younger than this, or its folder exists: a drive may be unplugged for a while


@dataclass(frozen=True)
class Given:
    """A value that onehook wrote into an agent's file, since a person asked it to trust the entries of a policy."""

    file: str  # the config file that has the entries
    policy: str
    path: tuple[str, ...]
    value: Any
    listed: bool  # it is an element of the list at the path
    was: tuple[Any, ...] = ()  # the value that was there

    @property
    def slot(self) -> tuple[Any, ...]:
        return (self.path, json.dumps(self.value, sort_keys=True)) if self.listed else (self.path,)


@dataclass(frozen=True)
class Entry:
    """An entry as install wrote it."""

    host: str
    scope: str
    root: str  # the project, or what else its file belongs to
    event: str
    command: str
    matcher: str
    item: Any


@dataclass(frozen=True)
class Memory:
    """One file: its bytes before the first install, the hashes of what onehook wrote since, and the folders created for it."""

    before: bytes | None
    states: tuple[str, ...]
    folders: tuple[Path, ...]
    given: tuple[Given, ...] = ()
    entries: tuple[Entry, ...] = ()


Trusted = Mapping[Path, tuple[Given, ...]]
NOTHING: Trusted = {}
NONE: Mapping[Path, tuple[Entry, ...]] = {}


class Journal:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(state_folder()) / "installs"

    def _file(self, path: Path) -> Path:
        name = os.path.realpath(path).encode("utf-8", "surrogateescape")
        return self.folder / (hashlib.sha256(name).hexdigest()[:32] + ".json")

    def origin(self, path: Path) -> Memory | None:
        """What the journal knows about a file, whatever happened to it since."""
        return _memory(self._file(path))[1]

    def installed(self) -> list[tuple[Path, Memory]]:
        """Every file that install has written entries to, with what it wrote."""
        found = [_memory(record) for record in sorted(self.folder.glob("*.json"))]
        return [(path, memory) for path, memory in found if memory and memory.entries]

    def recall(self, path: Path) -> Memory | None:
        """What the journal knows about a file that is still as onehook left it; None if somebody else has changed it since."""
        memory = self.origin(path)
        try:
            return memory if memory and _digest(read_regular(path)) in memory.states else None
        except OSError:
            return None

    def promise(self, edits: Sequence[FileEdit], first_states: Mapping[Path, bytes | None], given: Trusted = NOTHING) -> None:
        """Record the states that the files are about to have; called before the first write, so that a killed run loses nothing."""
        removed = [edit.path for edit in edits if edit.after is None]
        left = [folder for path in removed if (memory := self.origin(path)) for folder in memory.folders]
        for edit in edits:
            if edit.path in first_states and edit.after is not None:
                known, origin = self.recall(edit.path), self.origin(edit.path)
                states = (*(known.states if known else ()), _digest(edit.after))
                both = (*(origin.given if origin else ()), *given.get(edit.path, ()))
                # If a file replaces another, the folders that were created for that one now belong to this one.
                folders = (*self._folders(edit.path), *(folder for folder in left if folder in edit.path.parents))
                self._keep(edit.path, Memory(first_states[edit.path], states, folders, both, origin.entries if origin else ()))

    def settle(
        self,
        edits: Iterable[FileEdit],
        first_states: Mapping[Path, bytes | None],
        given: Trusted = NOTHING,
        entries: Mapping[Path, tuple[Entry, ...]] = NONE,
    ) -> None:
        """Record the states that the files have after the last write. A file without onehook's entries is dropped."""
        for edit in edits:
            memory = self.origin(edit.path)
            if edit.path not in first_states or edit.after is None:
                self.forget(edit.path)
            elif memory is not None:
                now = entries.get(edit.path, memory.entries)
                self._keep(edit.path, Memory(memory.before, (_digest(edit.after),), memory.folders, memory.given, now))
        for path, values in given.items():
            if memory := self.origin(path):
                self._keep(path, replace(memory, given=values))

    def _folders(self, path: Path) -> tuple[Path, ...]:
        """The folders that were created for a file, and those that are about to be."""
        memory = self.origin(path)
        missing = [folder for folder in path.parents if not folder.exists()]
        return tuple(dict.fromkeys([*(memory.folders if memory else ()), *missing]))

    def forget(self, path: Path) -> None:
        self._file(path).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete old records of files whose folder is gone, such as a deleted project's, and what killed runs left behind."""
        for record in list(self.folder.glob("*")):
            with contextlib.suppress(OSError):
                if time.time() - record.stat().st_mtime > _DAYS * 24 * 3600 and not _is_of_use(record):
                    record.unlink()

    def _keep(self, path: Path, memory: Memory) -> None:
        kept = {
            "path": str(path),
            "before": None if memory.before is None else base64.b64encode(memory.before).decode(),
            "states": list(dict.fromkeys(memory.states)),
            "folders": list(dict.fromkeys(map(str, memory.folders))),
            "given": [asdict(one) for one in memory.given],
            "entries": [asdict(one) for one in memory.entries],
        }
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_private(self._file(path), json.dumps(kept))


def _memory(record: Path) -> tuple[Path, Memory | None]:
    try:
        kept = json.loads(record.read_text(encoding="utf-8"))
        before = None if kept["before"] is None else base64.b64decode(kept["before"])
        given = tuple(Given(**{**one, "path": tuple(one["path"]), "was": tuple(one["was"])}) for one in kept.get("given", ()))
        entries = tuple(Entry(**one) for one in kept.get("entries", ()))
        folders = tuple(Path(folder) for folder in kept["folders"])
        return Path(kept["path"]), Memory(before, tuple(map(str, kept["states"])), folders, given, entries)
    except (OSError, ValueError, KeyError, TypeError):
        return record, None


def _is_of_use(record: Path) -> bool:
    try:
        return record.suffix == ".json" and Path(json.loads(record.read_text(encoding="utf-8"))["path"]).parent.is_dir()
    except (ValueError, KeyError, TypeError):
        return False


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_private(path: Path, text: str) -> None:
    temporary = path.with_suffix(f".{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
