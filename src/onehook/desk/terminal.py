"""`onehook approve` in a terminal: a list that waits for requests, and keys to answer them."""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onehook.core import OnehookError
from onehook.desk import answers, exceptions
from onehook.desk.answers import Answer, Asked
from onehook.desk.pin import Key
from onehook.desk.show import cut, details, subject, waiting, width_of

KEYS = "a approve  d deny  s session  e exception  r rewrite  j/k move  q quit"
_BOLD, _DIM, _REVERSE, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[7m", "\x1b[0m"
_ARROWS = {b"\x1b[A": "k", b"\x1b[B": "j", b"\x1bOA": "k", b"\x1bOB": "j", b"\x03": "q", b"\x04": "q"}
_TICK = 0.5  # seconds between two checks for new requests


class List:
    """What is on the screen: the requests, the selected one, and what was done last."""

    def __init__(self, key: Key | None, by: str) -> None:
        self.key = key
        self.by = by
        self.asked: list[Asked] = []
        self.chosen = ""  # by its id: the list may change under the person's hands, and what is answered must not
        self.said = ""

    @property
    def current(self) -> Asked | None:
        return next((asked for asked in self.asked if asked.id == self.chosen), None)

    def look(self) -> None:
        before = [asked.id for asked in self.asked]
        self.asked = answers.listed()
        if self.current is None:
            at = before.index(self.chosen) if self.chosen in before else 0
            self.chosen = self.asked[min(at, len(self.asked) - 1)].id if self.asked else ""

    def move(self, by: int) -> None:
        numbers = [asked.id for asked in self.asked]
        if numbers:
            self.chosen = numbers[max(0, min(len(numbers) - 1, numbers.index(self.chosen) + by))]

    def give(self, asked: Asked, answer: Answer) -> None:
        self.said = answers.give(asked, answer, self.key, by=self.by, via="terminal")

    def lines(self, columns: int, rows: int) -> Iterator[str]:
        """The screen, each line within the columns."""
        head = f"onehook approve: {len(self.asked)} to answer" if self.asked else "onehook approve: no open requests; waiting"
        yield f"{_BOLD}{cut(head, columns)}{_PLAIN}"
        shown = max(3, min(len(self.asked), rows // 3))
        first = max(0, [asked.id for asked in self.asked].index(self.chosen) - shown + 1) if self.asked else 0
        for asked in self.asked[first : first + shown]:
            yield self._row(asked, columns)
        if self.current is not None:
            yield ""
            room = rows - shown - 6
            told = [piece for line in details(self.current) for piece in _wrapped(line, columns)]
            yield from told[:room]
            if len(told) > room:
                yield f"{_DIM}  … {len(told) - room} more lines: onehook approve --show {self.current.id}{_PLAIN}"
        yield ""
        yield cut(self.said, columns)
        yield f"{_DIM}{cut(KEYS, columns)}{_PLAIN}"

    def _row(self, asked: Asked, columns: int) -> str:
        side = f"  {asked.title}, {waiting(asked)}"
        what = cut(subject(asked), max(10, columns - width_of(side) - 2))
        space = " " * max(0, columns - width_of(what) - width_of(side) - 2)
        mark = (_REVERSE, "> ") if asked.id == self.chosen else ("", "  ")
        return f"{mark[0]}{mark[1]}{what}{space}{side}{_PLAIN}"


def _wrapped(line: str, columns: int) -> Iterator[str]:
    """A line in pieces that fit, cut between words where that is possible."""
    indent = " " * 12
    while width_of(line) > columns:
        head = line[:columns] if width_of(line[:columns]) <= columns else line[: columns // 2]
        word = head.rfind(" ", len(indent) + 8)
        head = head[:word] if word > 0 else head
        yield head
        line = f"{indent}{line[len(head) :].lstrip()}"
    yield line


# --- the terminal -----------------------------------------------------------------------------------------------------------------


def attend(key: Key | None, by: str, ask: Callable[[str, str], str | None]) -> None:
    """Show what is asked until the person quits. `ask`: ask a question, with an initial text; None if the person cancels."""
    screen = List(key, by)
    with _raw() as (raw, cooked):
        while True:
            screen.look()
            _draw(screen)
            pressed = _key()
            if pressed == "q":
                return
            if pressed in ("j", "k"):
                screen.move(1 if pressed == "j" else -1)
            elif pressed in _ACTS and screen.current is not None:
                cooked()
                try:
                    _ACTS[pressed](screen, screen.current, ask)
                except (OnehookError, OSError) as error:
                    screen.said = str(error)
                raw()


def _approve(screen: List, asked: Asked, ask: Callable[[str, str], str | None]) -> None:
    screen.give(asked, Answer("allow"))


def _session(screen: List, asked: Asked, ask: Callable[[str, str], str | None]) -> None:
    screen.give(asked, Answer("allow", "session"))


def _deny(screen: List, asked: Asked, ask: Callable[[str, str], str | None]) -> None:
    words = ask("Message for the model: ", "")
    if words is not None:
        screen.give(asked, Answer("deny", words=words))


def _rewrite(screen: List, asked: Asked, ask: Callable[[str, str], str | None]) -> None:
    if not asked.content["command"]:
        screen.said = "only a command can be rewritten"
        return
    command = ask("Run instead: ", asked.content["command"])
    if command and command != asked.content["command"]:
        screen.give(asked, Answer("allow", input={"command": command}))


def _except(screen: List, asked: Asked, ask: Callable[[str, str], str | None]) -> None:
    made = excepted(asked, ask)
    if made is None:
        screen.said = "nothing was written"
        return
    screen.give(asked, Answer("allow"))
    screen.said = f"{screen.said}; {made.path} contains the exception"


_ACTS = {"a": _approve, "s": _session, "d": _deny, "r": _rewrite, "e": _except}


def excepted(asked: Asked, ask: Callable[[str, str], str | None]) -> exceptions.Draft | None:
    """Write an exception, once the person has seen it; None if the person does not want it."""
    names = [one["name"] for one in exceptions.rules_of(asked)]
    if not names:
        raise OnehookError("the request does not come from a rule of a rules file or pack, so no exception is possible")
    rule = names[0] if len(names) == 1 else ask(f"Which rule? ({', '.join(names)}) ", names[0])
    pattern = rule and ask("Commands to except (a pattern; docs/command-patterns.md): ", exceptions.suggested(asked))
    until = pattern and ask("Until (a date): ", exceptions.default_until())
    reason = until and ask("Why? ", "")
    if not rule or not pattern or not until or not reason:
        return None
    made = exceptions.draft(asked, rule, command=pattern, until=until, reason=reason)
    print(f"\nThis will be added to {made.path}:\n\n{made.added}\n")
    if (ask("Write it? (y/n) ", "") or "").strip().lower() not in ("y", "yes"):
        return None
    exceptions.write(made)
    return made


@contextmanager
def _raw() -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
    """One key at a time, on the alternate screen. The two functions switch to it, and back to ask a question."""
    before = termios.tcgetattr(sys.stdin.fileno())

    def raw() -> None:
        tty.setcbreak(sys.stdin.fileno())
        sys.stdout.write("\x1b[?1049h\x1b[?25l")

    def cooked() -> None:
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)

    raw()
    try:
        yield raw, cooked
    finally:
        cooked()


def _draw(screen: List) -> None:
    columns, rows = shutil.get_terminal_size()
    text = "\x1b[K\r\n".join([*screen.lines(columns, rows)][: rows - 1])
    sys.stdout.write(f"\x1b[H{text}\x1b[K\x1b[J")
    sys.stdout.flush()


def _key() -> str:
    """The pressed key; "" if none was pressed for a while."""
    number = sys.stdin.fileno()
    if not select.select([number], [], [], _TICK)[0]:
        return ""
    data = os.read(number, 16)
    return _ARROWS.get(data) or (data.decode("utf-8", "replace").lower() if len(data) == 1 else "")
