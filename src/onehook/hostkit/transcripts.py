"""What the hosts' transcript readers share: from lines to the payloads that a hook would have been sent, and the reverse.

A host's class Transcript reads one file: take(line) returns payloads with their times, or None for a kind of line that it does not know.
The file may be a database of many sessions (see Database), whose rows are the lines.
The host's lines() writes such a file, for programs that expect one while another agent runs; the host's own reader gets back what went in.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from onehook.core import Event
from onehook.hostkit.reverse import TIME

MAX_KINDS = 50


class Moment(NamedTuple):
    """A payload as the host would have sent it, and when."""

    time: str
    payload: dict[str, Any]  # empty for what the host does not report to hooks
    prompt: str = ""  # a person's prompt, if the host does not report it to hooks


class Entry(NamedTuple):
    """One entry of a transcript, in the format of the agent that it is written for. kind: prompt, call, result or say."""

    kind: str
    text: str = ""  # for a result: what the tool printed, or its error
    tool: str = ""
    input: dict[str, Any] = {}  # noqa: RUF012
    id: str = ""  # the same for a call and its result
    response: Any = None
    failed: bool = False


def uuid_of(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def chained(steps: Iterable[Entry], **common: Any) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Each step with what every line of a chain has: an id, its parent's id and a time."""
    for number, step in enumerate(steps, 1):
        parent = uuid_of(number - 1) if number > 1 else None
        yield step, {"parentUuid": parent, **common, "uuid": uuid_of(number), "timestamp": TIME}


class Kept(Protocol):
    """Where an agent keeps its sessions: a part of Transcripts in hosts/interface.py."""

    @property
    def FOLDER(self) -> str: ...
    @property
    def FILES(self) -> tuple[str, ...]: ...
    @property
    def NAME(self) -> str: ...


class Parser(Protocol):
    """How its payloads are read: a part of Wire in hosts/interface.py."""

    @property
    def ID(self) -> str: ...
    def parse(self, payload: dict[str, Any], event_name: str) -> Event: ...


class Transcript(Protocol):
    def take(self, line: dict[str, Any]) -> Iterable[Moment] | None: ...

    def end(self) -> Iterable[Moment]: ...


class Reader:
    """A transcript that reports the start of its session first, and does not report its end."""

    begun = False  # whether the start was reported

    def start(self, line: dict[str, Any]) -> Moment:
        raise NotImplementedError

    def from_start(self, line: dict[str, Any], found: Iterable[Moment]) -> Iterator[Moment]:
        if not self.begun:
            self.begun = True
            yield self.start(line)
        yield from found

    def end(self) -> Iterator[Moment]:
        return iter(())


class Database(Reader):
    """A transcript of an agent that keeps all its sessions in one SQLite database. A file with such rows as JSON lines reads the same."""

    ROWS = ""  # the query for all rows
    OF_SESSION = ""  # its condition for the rows of one session
    ORDER = ""


class Folder(Reader):
    """A session that the agent keeps in a folder. A single one of its files can be read too."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def files(self) -> list[Path]:
        """The files that hold the session, in order."""
        raise NotImplementedError

    def read(self, file: Path, counts: Counts, last: int) -> Iterator[dict[str, Any]]:
        return json_lines(file, counts, last)

    def lines(self, counts: Counts, last: int) -> Iterator[dict[str, Any]]:
        for file in _newest([self.path] if self.path.is_file() else self.files(), last):
            yield from self.read(file, counts, last)


def _newest(files: list[Path], last: int) -> list[Path]:
    """The files at the end that together have `last` bytes; all if it is 0."""
    size = 0
    for number in range(len(files), 0, -1):
        size += files[number - 1].stat().st_size
        if 0 < last < size:
            return files[min(number, len(files) - 1) :]
    return files


class Counts:
    """How many lines there were, and which could not be used."""

    def __init__(self) -> None:
        self.lines = 0
        self.unknown: dict[str, int] = {}

    def add_unknown(self, kind: str) -> None:
        kind = kind if kind in self.unknown or len(self.unknown) < MAX_KINDS else "others"
        self.unknown[kind] = self.unknown.get(kind, 0) + 1


class Messages(Reader):
    """A transcript whose every line names its session and its folder, and whose first message is the start of the session."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.calls: dict[str, tuple[str, Any]] = {}

    def moment(self, line: dict[str, Any], event: str, **more: Any) -> Moment:
        common = {"session_id": text(line.get("sessionId")), "transcript_path": self.path, "cwd": text(line.get("cwd"))}
        return Moment(text(line.get("timestamp")), {**common, "hook_event_name": event, **more})

    def start(self, line: dict[str, Any]) -> Moment:
        return self.moment(line, "SessionStart", source="startup")

    def call(self, line: dict[str, Any], call_id: object, name: object, given: object) -> Moment:
        self.calls[text(call_id)] = (text(name), given)
        return self.moment(line, "PreToolUse", tool_name=name, tool_input=given, tool_use_id=call_id)

    def result(self, line: dict[str, Any], call_id: object, error: str | None, response: object) -> Iterator[Moment]:
        """`error` is None for a call that succeeded; the result of an unknown call is ignored."""
        name, given = self.calls.pop(text(call_id), ("", None))
        if not name:
            return
        call = {"tool_name": name, "tool_input": given, "tool_use_id": call_id}
        if error is None:
            yield self.moment(line, "PostToolUse", **call, tool_response=response)
        else:
            yield self.moment(line, "PostToolUseFailure", **call, error=error)


def moments(transcript: Transcript, path: Path, counts: Counts, last: int = 0, session: str = "") -> Iterator[Moment]:
    """Every moment of one session, in order. A line that is not JSON, or of an unknown kind, is counted and skipped.

    `last`: read only this many bytes at its end. `session`: the one to read, in a database of many.
    """
    for line in _lines(transcript, path, counts, last, session):
        found = transcript.take(line)
        if found is None:
            counts.add_unknown(text(line.get("type")) or text(line.get("role")) or text(line.get("kind")) or "line without a type")
        else:
            yield from found
    yield from transcript.end()


def session_file(own: Kept, session: str) -> Path:
    """Where an agent whose payloads do not name it keeps a session: in a file or folder with its name, in a folder for the project, or
    in the one file with all sessions."""
    from glob import escape

    folder = Path.home() / own.FOLDER
    name = name_of(own, session)
    found = [folder / name, *folder.glob(f"*/{escape(name)}"), *(folder / file for file in own.FILES if "*" not in file)]
    return next((path for path in found if path.exists()), folder / name)


def _lines(transcript: Transcript, path: Path, counts: Counts, last: int, session: str) -> Iterator[dict[str, Any]]:
    if isinstance(transcript, Folder):
        return transcript.lines(counts, last)
    if isinstance(transcript, Database) and is_database(path):
        rows = database_rows(transcript, path, counts, session)
        return _end_of(rows, last) if last else rows
    return json_lines(path, counts, last)


def is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def database_rows(transcript: Database, path: Path, counts: Counts, session: str = "") -> Iterator[dict[str, Any]]:
    """Its rows as lines. A database without a log next to it is not open anywhere, and reading it does not create a log."""
    import sqlite3

    query = f"{transcript.ROWS} {transcript.OF_SESSION if session else ''} {transcript.ORDER}"
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)
        try:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            for row in connection.execute(query, (session,) if session else ()):
                counts.lines += 1
                yield dict(row)
        finally:
            connection.close()
    except sqlite3.Error as error:
        counts.add_unknown(f"database that cannot be read ({error})")


def _end_of(lines: Iterable[dict[str, Any]], size: int) -> Iterator[dict[str, Any]]:
    """The last lines that together are not larger than `size`."""
    kept: deque[tuple[int, dict[str, Any]]] = deque()
    total = 0
    for line in lines:
        kept.append((sum(len(value) for value in line.values() if isinstance(value, str)), line))
        total += kept[-1][0]
        while total > size:
            total -= kept.popleft()[0]
    return (line for _, line in kept)


def name_of(module: Kept, session: str) -> str:
    """Where a session is kept, below the agent's folder or the folder of files that onehook writes."""
    return module.NAME.format(session=session, bare=session.replace("-", ""))


def event_of(moment: Moment, wire: Parser) -> Event:
    """What happened at that moment, as a unified event. Raises PayloadError if the host would not send it."""
    if moment.payload:
        return wire.parse(moment.payload, "")
    event = Event("UserPromptSubmit", wire.ID)
    event.prompt = moment.prompt
    return event


def files_below(path: Path) -> list[Path]:
    """The file, or all files of the folder, that a session is kept in."""
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def size_of(path: str | Path) -> int:
    return sum(file.stat().st_size for file in files_below(Path(path)))


def json_lines(path: Path, counts: Counts, last: int = 0) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        if last and path.stat().st_size > last:
            file.seek(-last, 2)
            file.readline()  # the rest of a line
        for raw in file:
            if not raw.strip():
                continue
            counts.lines += 1
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                line = None
            if isinstance(line, dict):
                yield line
            else:
                counts.add_unknown("line that is not a JSON object")


def json_of(path: Path) -> Any:
    """The data of a JSON file; None if there is none."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def joined_texts(value: object) -> str:
    """A string, or the strings of a list of parts."""
    return value if isinstance(value, str) else "\n".join(text(part.get("text")) for part in rows(value) if part.get("text"))


def stamp(moment: object, per_second: int = 1) -> str:
    """A number since 1970 as the time of a Moment; "" if it is not a number."""
    try:
        return datetime.fromtimestamp(moment / per_second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")  # type: ignore[operator]
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def milliseconds(time: str) -> int:
    try:
        return int(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)
    except ValueError:
        return 0
