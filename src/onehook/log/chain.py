"""Checks the chain of the decision log: which lines were removed, changed or moved."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from onehook.log.files import START, log_files, parsed
from onehook.log.reader import log_folder
from onehook.system import digest

_LINE = re.compile(rb'\{"n": (\d+), "prev": "([0-9a-f]{64})", (?:"torn": (\d+), |("recovered": true, ))?"time": ')


@dataclass
class Checked:
    """`problems` mean that the log was changed; `notes` explain what looks odd and is not wrong. Each names its file and line."""

    files: int = 0
    lines: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {"ok": not self.problems, **asdict(self)}


def verify(folder: str = "") -> Checked:
    """Walk the chain from the oldest line to the newest, and compare its end with `head`."""
    folder = folder or log_folder()
    head = _head(folder)  # first: what is written in the meantime comes after it
    walk = _Walk(head[1] if head else 0)
    for path in log_files(folder):
        walk.checked.files += 1
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                walk.take(f"{Path(path).name}:{number}", line)
    walk.finish(head)
    return walk.checked


def _head(folder: str) -> tuple[str, int, str] | None:
    """The current file, the number of its last line, and that line's hash."""
    try:
        name, _, number, last = Path(folder, "head").read_text(encoding="ascii").split()
        return name, int(number), last
    except (OSError, ValueError):
        return None


class _Walk:
    def __init__(self, known: int) -> None:
        self.checked = Checked()
        self.known = known  # the number of the last line by `head`
        self.at_known = ""  # the hash of that line
        self.number = 0
        self.last = START
        self.before: tuple[str, bytes, int, str, str] | None = None  # the line that was taken last, and the state before it
        self.garbage: tuple[str, int] | None = None  # where it begins, and how many bytes
        self.swept = False
        self.first: tuple[str, int] | None = None  # the place and the number of the first line, if that is not line 1

    def take(self, place: str, line: bytes) -> None:
        whole = line.endswith(b"\n")
        line = line[:-1] if whole else line
        found = _LINE.match(line)
        if found is None or not whole:
            self._retract()
            self._discard(place, line)
            return
        number, prev, torn = int(found[1]), found[2].decode(), int(found[3] or 0)
        if number != self.number + 1:
            self._retract()
        if self.garbage is not None and torn != self.garbage[1] and parsed(line) is None:
            self._discard(place, line)
            return
        if self.garbage is not None and torn == self.garbage[1]:
            self.checked.notes.append(f"{self.garbage[0]}: half a line, left by a process that was killed")
            self.garbage = None
        elif torn and self.garbage is None:
            self.checked.problems.append(f"{place}: half a line of {torn} bytes, which preceded this line, is missing")
        self._unreadable()
        if found[4]:
            self.checked.problems.append(
                f"{place}: `head` was missing or damaged when this line was written; lines before it may be missing"
            )
        self._compare(place, number, prev)
        self.swept = self.swept or b'"event": "LogSwept"' in line
        self.checked.lines += 1
        self.before = place, line, self.number, self.last, self.at_known
        self.number, self.last = number, digest(line)
        if number == self.known:
            self.at_known = self.last

    def _discard(self, place: str, line: bytes) -> None:
        """An incomplete line. Several in a row are one gap: the next writer can be killed as well."""
        first, size = self.garbage or (place, 0)
        self.garbage, self.before = (first, size + len(line)), None

    def _retract(self) -> None:
        """Remove the last line if it is only the beginning of one, cut off because a writer was killed.

        It looks like any other up to there. All lines would have to be parsed to know at once; the next one shows it by its number.
        """
        if self.before is not None and parsed(self.before[1]) is None:
            place, line, self.number, self.last, self.at_known = self.before
            self.checked.lines -= 1
            self._discard(place, line)

    def _unreadable(self) -> None:
        if self.garbage is not None:
            self.checked.problems.append(f"{self.garbage[0]}: this is not a line of the log; it was changed, or cut off")
            self.garbage = None

    def _compare(self, place: str, number: int, prev: str) -> None:
        problems = self.checked.problems
        if not self.checked.lines:  # the first that is left
            if number == 1 and prev != START:
                problems.append(f"{place}: the first line was changed")
            elif number > 1:
                self.first = (place, number)
        elif number > self.number + 1:
            missing = f"line {number - 1} is" if number == self.number + 2 else f"lines {self.number + 1} to {number - 1} are"
            problems.append(f"{place}: {missing} missing before line {number}")
        elif number <= self.number:
            problems.append(f"{place}: line {number} comes after line {self.number}; it was moved or duplicated")
        elif prev != self.last:
            problems.append(f"{place}: line {number - 1}, before this one, was changed after it was written")

    def finish(self, head: tuple[str, int, str] | None) -> None:
        checked = self.checked
        if self.first is not None:
            begins = f"{self.first[0]}: the log begins with line {self.first[1]}"
            if self.swept:
                checked.notes.append(f"{begins}; older files were deleted after their retention time (see LogSwept)")
            else:
                checked.problems.append(f"{begins}, and there is no record that older files were deleted")
        if head is None:
            if checked.lines:
                checked.problems.append("`head` is missing or damaged: lines at the end may be missing")
            return
        _, number, last = head
        if self.garbage is not None and self.number >= number:
            checked.notes.append(f"{self.garbage[0]}: half a line, left by a process that was killed; the next writer starts a new one")
            self.garbage = None
        self._unreadable()
        if self.number < number:
            missing = f"line {number} is" if number == self.number + 1 else f"lines {self.number + 1} to {number} are"
            checked.problems.append(f"{missing} missing at the end, according to `head`")
        elif self.at_known != last:
            checked.problems.append(f"line {number} was changed after it was written, according to `head`")
