"""Where replay gets its events: record logs, capture files, and the transcripts that agents leave on disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from onehook.core import UsageError
from onehook.hostkit import transcripts as kit
from onehook.hostkit.transcripts import Counts, json_lines, moments, text
from onehook.hosts import having, load

UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True)
class Source:
    """A file of events. `host` is set for a transcript; the lines of a log name theirs, or it is detected from the payload.

    In a table (`url`), it is a machine's recording, which the worker that replays it fetches.
    """

    path: str
    host: str = ""
    url: str = ""
    machine: str = ""
    size: int = 0

    @property
    def whole(self) -> bool:
        """Whether it is one session, so that one worker must get all of it."""
        return bool(self.host or self.url)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Recorded:
    """One past event: its time, its host ("" if it must be detected from the payload), and the payload."""

    time: str
    host: str
    native_event: str
    payload: dict[str, Any]
    echo: bool = False  # no handler saw it; the payload alone may not show why


def logs(paths: Sequence[str]) -> list[Source]:
    """The named files, and the .jsonl files of the named folders."""
    found: list[Source] = []
    for path in map(Path, paths):
        if path.is_dir():
            files = sorted(path.rglob("*.jsonl"))
            if not files:
                raise UsageError(f"{path} contains no .jsonl file; `onehook record --output {path} -- AGENT` writes them")
            found += [Source(str(file)) for file in files]
        elif path.is_file():
            found.append(Source(str(path)))
        else:
            raise UsageError(f"log not found: {path}")
    return found


def table(url: str, since: float) -> list[Source]:
    """The recordings in the table of a fleet, oldest first."""
    from onehook.fleet.clickhouse import parse
    from onehook.fleet.records import recordings

    return [Source(one.file, url=url, machine=one.machine, size=one.size) for one in recordings(parse(url), as_stamp(since))]


def fetched(source: Source, folder: str, number: int) -> Source:
    """A recording of a table as a file in the folder."""
    from onehook.fleet.clickhouse import parse
    from onehook.fleet.records import fetch

    path = Path(folder, f"{number}.jsonl")
    fetch(parse(source.url), source.machine, source.path, path)
    return replace(source, path=str(path))


def hosts_with_transcripts() -> list[str]:
    return having("transcripts")


def transcripts(hosts: Sequence[str], since: float, home: Path) -> list[Source]:
    """The transcripts modified since then, oldest first."""
    known = hosts_with_transcripts()
    found: list[tuple[float, Source]] = []
    for host in hosts:
        if host not in known:
            raise UsageError(f"onehook cannot read transcripts of {host!r}, only those of {', '.join(known)}")
        module = load(host, "transcripts")
        for pattern in module.FILES:
            for path in (home / module.FOLDER).glob(pattern):
                written = max((file.stat().st_mtime for file in kit.files_below(path)), default=0.0)
                if written >= since:
                    found.append((written, Source(str(path), host)))
    return [source for _, source in sorted(found, key=lambda pair: (pair[0], pair[1].path))]


def parse_since(given: str) -> float:
    """30d, 12h, 2w, 45m, or a date (2026-11-01), as seconds since 1970."""
    if given[-1:] in UNITS and given[:-1].isdigit():
        return time.time() - int(given[:-1]) * UNITS[given[-1]]
    try:
        date = datetime.fromisoformat(given)
    except ValueError:
        raise UsageError(f"{given!r} is not a time span; use 30d, 12h, 2w or a date such as 2026-11-01") from None
    return (date if date.tzinfo else date.astimezone()).timestamp()


def as_stamp(moment: float) -> str:
    """A moment in the format of logs and transcripts, so that it can be compared as a string."""
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def read(source: Source, counts: Counts, since: str = "") -> Iterator[Recorded]:
    """The events of one file, one by one."""
    for event in _transcript(source, counts) if source.host else _log(Path(source.path), counts):
        if not since or not event.time or event.time >= since:
            yield event


def _transcript(source: Source, counts: Counts) -> Iterator[Recorded]:
    path = Path(source.path)
    for moment in moments(load(source.host, "transcripts").Transcript(path), path, counts):
        if moment.payload:
            yield Recorded(moment.time, source.host, "", moment.payload)


def _log(path: Path, counts: Counts) -> Iterator[Recorded]:
    """Lines of `onehook record`, captures ({"stdin": {...}}), or bare payloads."""
    for line in json_lines(path, counts):
        if isinstance(line.get("payload"), dict) and "answer" in line:
            named = text(line.get("native_event"))
            yield Recorded(text(line.get("time")), text(line.get("host")), named, line["payload"], line.get("echo") is True)
        elif isinstance(line.get("stdin"), dict):
            words = line.get("argv")
            named = text(line.get("event")) or (text(words[0]) if isinstance(words, list) and words else "")
            yield Recorded("", "", named, line["stdin"])
        elif "answer" in line:
            counts.add_unknown("unreadable payload")
        elif kit.table(line):
            yield Recorded("", "", "", line)


def size_of(sources: Sequence[Source]) -> int:
    return sum(source.size or kit.size_of(source.path) for source in sources)
