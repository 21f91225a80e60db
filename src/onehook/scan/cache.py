"""Verdicts by the hash of what was scanned: the same file, command or result is scanned once.

A file holds the categories, the places and the id of the scan; neither what was scanned nor a key. Only verdicts are kept, never errors.
"""

from __future__ import annotations

import os
import time

from onehook.codec import dumps, loads
from onehook.core import PayloadError
from onehook.scan.model import Found, Verdict
from onehook.sweep import state_folder, sweep_sometimes
from onehook.system import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.scan.model import Sample


class Cache:
    """identity: what scans, and how; seconds: how long a verdict is good for, 0 for not at all."""

    def __init__(self, identity: str, seconds: float) -> None:
        self.identity = identity
        self.seconds = seconds

    def get(self, sample: Sample) -> Verdict | None:
        if not self.seconds:
            return None
        try:
            path = self._path(sample)
            if not 0 <= time.time() - os.stat(path).st_mtime < self.seconds:
                return None
            with open(path, encoding="ascii") as file:
                kept = loads(file.read())
            return Verdict([Found(str(category), int(start), int(end)) for category, start, end in kept["found"]], str(kept["id"]))
        except (OSError, PayloadError, ValueError, KeyError, TypeError):
            return None

    def put(self, sample: Sample, verdict: Verdict) -> None:
        if not self.seconds:
            return
        path = self._path(sample)
        temporary = f"{path}.{os.getpid()}"
        text = dumps({"found": [[one.category, one.start, one.end] for one in verdict.found], "id": verdict.id})
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
                file.write(text)
            os.replace(temporary, path)
            sweep_sometimes(state_folder())
        except OSError:
            pass  # then the next event asks again

    def _path(self, sample: Sample) -> str:
        digest = sha256()
        called = "\0".join(sample.mcp or ())
        for part in (self.identity, sample.gate, called, sample.kind, sample.language, sample.text):
            digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
        return os.path.join(state_folder(), "scans", f"{digest.hexdigest()}.json")
