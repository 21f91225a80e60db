"""Reads the decision log: used by the verbs, and by everything that exports or displays it.

for entry in entries(since=moment("7d")): ...        the lines, as docs/schema/log.json describes them, oldest first
for quiet in quiet_events(since=moment("7d")): ...   the events that nothing answered
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

from onehook.core import UsageError, wildcard
from onehook.log.files import log_files, parsed
from onehook.logger import stamp
from onehook.system import log_folder as log_folder

Entry = dict[str, Any]
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_POLL = 0.3  # seconds
_BLOCK = 1 << 16  # bytes


class Quiet(NamedTuple):
    """An event that nothing answered."""

    time: str
    agent: str
    event: str
    tool: str
    ms: float
    project: str
    line: int  # its place in the file


def moment(text: str) -> str:
    """A time as it is in the log: of "30m", "12h", "7d" or "2w" ago, or a date with or without a time, in local time."""
    found = re.fullmatch(r"(\d+)([mhdw])", text.strip())
    if found:
        return stamp((datetime.now(timezone.utc) - timedelta(seconds=int(found[1]) * _UNITS[found[2]])).timestamp())
    try:
        return stamp(datetime.fromisoformat(text.strip()).timestamp())
    except ValueError:
        raise UsageError(f"{text!r} is not a time span or date; use 30m, 12h, 7d, 2w, or a date such as 2026-11-16") from None


def lines(folder: str = "", since: str = "", until: str = "") -> Iterator[bytes]:
    """The raw lines of the files that may contain lines of this period."""
    for path in log_files(folder or log_folder()):
        if since[:10] <= _day(path) and (not until or _day(path) <= until[:10]):
            with open(path, "rb") as file:
                yield from file


def entries(folder: str = "", since: str = "", until: str = "") -> Iterator[Entry]:
    """The lines of the log, oldest first. What is not a line is skipped; `onehook log verify` reports it."""
    for line in lines(folder, since, until):
        entry = parsed(line)
        if entry is not None and entry["time"] >= since and (not until or entry["time"] < until):
            yield entry


def newest(count: int, wanted: Callable[[Entry], bool], folder: str = "", since: str = "", holding: str = "") -> list[Entry]:
    """The last `count` wanted lines (0: all), oldest first. `holding`: what a line must contain to be parsed at all."""
    part = holding.encode("utf-8", "replace")
    found: list[Entry] = []
    for path in reversed(log_files(folder or log_folder())):
        if _day(path) < since[:10]:
            break
        for line in backwards(path):
            entry = parsed(line) if part in line else None
            if entry is None or not wanted(entry):
                continue
            if entry["time"] < since:
                return found[::-1]
            found.append(entry)
            if len(found) == count:
                return found[::-1]
    return found[::-1]


def backwards(path: str) -> Iterator[bytes]:
    """The lines of a file, from the last to the first, with one block of it in memory."""
    with open(path, "rb") as file:
        at, rest = file.seek(0, 2), b""
        while at:
            size = min(_BLOCK, at)
            at = file.seek(at - size)
            rest, *whole = (file.read(size) + rest).split(b"\n")
            yield from reversed(whole)
        yield rest


def ends(folder: str = "") -> dict[str, int]:
    """The files of the log, and how long each is now."""
    return {path: Path(path).stat().st_size for path in log_files(folder or log_folder())}


def following(places: dict[str, int], folder: str = "", stop: Callable[[], bool] = lambda: False) -> Iterator[Entry]:
    """Lines as they are written, starting after these ends of the files, until `stop` returns true."""
    while not stop():
        for path in log_files(folder or log_folder()):
            with open(path, "rb") as file:
                file.seek(places.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    places[path] = places.get(path, 0) + len(line)
                    entry = parsed(line)
                    if entry is not None:
                        yield entry
        time.sleep(_POLL)


def quiet_events(folder: str = "", since: str = "", until: str = "") -> Iterator[Quiet]:
    for path in log_files(folder or log_folder(), ".quiet"):
        if _day(path) < since[:10] or (until and _day(path) > until[:10]):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                quiet = quiet_of(line, number)
                if quiet is not None and since <= quiet.time and (not until or quiet.time < until):
                    yield quiet


def quiet_of(line: str, number: int) -> Quiet | None:
    """None for an incomplete line of a process that was killed."""
    try:
        at, agent, event, tool, ms, project = line.rstrip("\n").split(" ", 5)
        return Quiet(stamp(float(at)), agent, event, "" if tool == "-" else tool, float(ms), project, number)
    except ValueError:
        return None


def epoch(text: str) -> float:
    """A time of the log in seconds since 1970."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _day(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2][:10]


def find(text: str, folder: str = "") -> Entry:
    """The line with this id, or with an id that ends in it."""
    found = [entry for entry in newest(0, lambda entry: entry["id"].endswith(text), folder, holding=text) if text]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no decision with the id {text!r}; `onehook log` lists them")
    raise UsageError(f"{len(found)} decisions have an id that ends in {text!r}: {', '.join(entry['id'] for entry in found[-5:])}")


def outcome(entry: Entry) -> str:
    """The outcome of an event, in one or two words."""
    if entry["error"]:
        return "error"
    if entry["decision"] != "none":
        return str(entry["decision"])
    if entry["would"]:
        lifted = all("exception" in one for one in entry["by"] if one["said"] == entry["would"])
        return "excepted" if lifted else f"would {entry['would']}"
    said = {one["said"] for one in entry["by"]}
    shown = ("warn", "mask", "rewrite", "context", "log", "scan")
    return next((what for what in shown if what in said), "note" if entry["agent"] == "onehook" else "none")


def deciding(entry: Entry) -> Entry | None:
    """The first rule, handler or program whose answer took effect, or else the first whose answer would have."""
    wanted = (entry["decision"], entry["would"], "error")
    return next((one for what in wanted for one in entry["by"] if one["said"] == what), entry["by"][0] if entry["by"] else None)


def selected(
    agents: Iterable[str] = (), rule: str = "", decision: str = "", project: str = "", session: str = "", since: str = ""
) -> Callable[[Entry], bool]:
    """A filter for lines. `rule`: a rule, a pack, a handler or a program, with wildcards; `decision`: an outcome, such as "would deny"."""
    named, wanted = set(agents), decision.replace("-", " ")

    def matches(entry: Entry) -> bool:
        return (
            (not named or entry["agent"] in named)
            and (not wanted or outcome(entry) == wanted)
            and (not project or entry["project"] == project or entry["project"].startswith(f"{project}/"))
            and (not session or entry["session"].startswith(session))
            and (not rule or any(wildcard(rule, one["name"]) or rule == one.get("pack") for one in entry["by"]))
            and entry["time"] >= since
        )

    return matches
