"""Verdicts by the hash of what was scanned: the same file, command or result is scanned once.

A file holds the categories, the places and the id of the scan, but neither what was scanned nor a key. Only verdicts are kept, no errors.
"""

from __future__ import annotations

import os
import time

from onehook.codec import dumps, loads
from onehook.core import PayloadError
from onehook.places import replace_file, state_folder
from onehook.scan.model import Found, Verdict
from onehook.sweep import sweep_sometimes
from onehook.system import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.scan.model import Sample


class Cache:
    """identity: what scans, and how; seconds: how long a verdict is valid, 0 to keep none."""

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
        text = dumps({"found": [[one.category, one.start, one.end] for one in verdict.found], "id": verdict.id})
        try:
            replace_file(self._path(sample), text.encode("ascii"))
            sweep_sometimes(state_folder())
        except OSError:
            pass  # then the next event asks again

    def _path(self, sample: Sample) -> str:
        digest = sha256()
        called = "\0".join(sample.mcp or ())
        for part in (self.identity, sample.gate, called, sample.kind, sample.language, sample.text):
            digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
        return os.path.join(state_folder(), "scans", f"{digest.hexdigest()}.json")
