"""What install found: the bytes of each file before onehook first touched it, so that uninstall can give exactly those back."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onehook.setup.files import Applied, Change
from onehook.stopguard import state_folder


@dataclass(frozen=True)
class Memory:
    """One file: what it was before the first install, what it was after the last one, and the folders that were made for it."""

    before: bytes | None
    after: bytes
    folders: tuple[Path, ...]


class Journal:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(state_folder()) / "installs"

    def _file(self, path: Path) -> Path:
        return self.folder / (hashlib.sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".json")

    def recall(self, path: Path) -> Memory | None:
        """What is remembered of a file; None if nothing, or if the file has been changed by somebody else since."""
        try:
            kept = json.loads(self._file(path).read_text(encoding="utf-8"))
            before = None if kept["before"] is None else base64.b64decode(kept["before"])
            after = base64.b64decode(kept["after"])
            folders = tuple(Path(folder) for folder in kept["folders"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        try:
            return Memory(before, after, folders) if path.read_bytes() == after else None
        except OSError:
            return None

    def folders_made(self, path: Path) -> tuple[Path, ...]:
        """The folders that install made for a file, whatever happened to the file since."""
        try:
            return tuple(Path(folder) for folder in json.loads(self._file(path).read_text(encoding="utf-8"))["folders"])
        except (OSError, ValueError, KeyError, TypeError):
            return ()

    def first_state(self, path: Path, now: bytes | None) -> bytes | None:
        """The bytes to give back one day: those of before the first install, if nobody else wrote in between."""
        memory = self.recall(path)
        return memory.before if memory else now

    def remember(self, changes: Sequence[Change], applied: Applied, first_states: dict[Path, bytes | None]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for change in changes:
            if change.after is None:
                self.forget(change.path)
                continue
            made = [*self.folders_made(change.path), *(folder for folder in applied.created_folders if folder in change.path.parents)]
            first = first_states.get(change.path, change.before)
            kept: dict[str, Any] = {
                "path": str(change.path),
                "before": None if first is None else base64.b64encode(first).decode(),
                "after": base64.b64encode(change.after).decode(),
                "folders": [str(folder) for folder in dict.fromkeys(made)],
            }
            _write_private(self._file(change.path), json.dumps(kept))

    def forget(self, path: Path) -> None:
        self._file(path).unlink(missing_ok=True)


def _write_private(path: Path, text: str) -> None:
    temporary = path.with_suffix(f".{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
