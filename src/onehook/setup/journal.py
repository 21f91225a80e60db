"""What install found: the bytes of each file before onehook first touched it, so that uninstall can give exactly those back."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from onehook.setup.files import Change
from onehook.stopguard import state_folder


@dataclass(frozen=True)
class Memory:
    """One file: what it was before the first install, the states that onehook gave it, and the folders that were made for it."""

    before: bytes | None
    states: tuple[str, ...]
    folders: tuple[Path, ...]


class Journal:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(state_folder()) / "installs"

    def _file(self, path: Path) -> Path:
        name = os.path.realpath(path).encode("utf-8", "surrogateescape")
        return self.folder / (hashlib.sha256(name).hexdigest()[:32] + ".json")

    def origin(self, path: Path) -> Memory | None:
        """What is remembered of a file, whatever happened to it since."""
        try:
            kept = json.loads(self._file(path).read_text(encoding="utf-8"))
            before = None if kept["before"] is None else base64.b64decode(kept["before"])
            return Memory(before, tuple(map(str, kept["states"])), tuple(Path(folder) for folder in kept["folders"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def recall(self, path: Path) -> Memory | None:
        """What is remembered of a file that is still as onehook left it; None if somebody else has written since."""
        memory = self.origin(path)
        try:
            return memory if memory and _digest(path.read_bytes()) in memory.states else None
        except OSError:
            return None

    def promise(self, changes: Iterable[Change], first_states: Mapping[Path, bytes | None], wrote: Callable[[str, Path], None]) -> None:
        """Before the first write, so that a killed run forgets nothing: the states that the files are about to have."""
        for change in changes:
            if change.path in first_states and change.after is not None:
                known = self.recall(change.path)
                states = (*(known.states if known else ()), _digest(change.after))
                self._keep(change.path, Memory(first_states[change.path], states, self._folders(change.path)))
                wrote("journal", self._file(change.path))

    def settle(self, changes: Iterable[Change], first_states: Mapping[Path, bytes | None], wrote: Callable[[str, Path], None]) -> None:
        """After the last write: the states that the files have now. A file without entries of ours is forgotten."""
        for change in changes:
            memory = self.origin(change.path)
            if change.path not in first_states or change.after is None:
                self.forget(change.path)
            elif memory is not None:
                self._keep(change.path, Memory(memory.before, (_digest(change.after),), memory.folders))
            wrote("journal", self._file(change.path))

    def _folders(self, path: Path) -> tuple[Path, ...]:
        """The folders that were made for a file, with those that are about to be."""
        memory = self.origin(path)
        missing = [folder for folder in path.parents if not folder.exists()]
        return tuple(dict.fromkeys([*(memory.folders if memory else ()), *missing]))

    def forget(self, path: Path) -> None:
        self._file(path).unlink(missing_ok=True)

    def _keep(self, path: Path, memory: Memory) -> None:
        kept = {
            "path": str(path),
            "before": None if memory.before is None else base64.b64encode(memory.before).decode(),
            "states": list(dict.fromkeys(memory.states)),
            "folders": [str(folder) for folder in memory.folders],
        }
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_private(self._file(path), json.dumps(kept))


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
