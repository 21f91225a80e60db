"""The error that every text editor of this package raises, and the paths that it names."""

from __future__ import annotations

import re
from typing import NamedTuple

Path = tuple[str | int, ...]

_LINE_END = re.compile(r"\r\n|\n|\r")


class TextError(ValueError):
    """A config text cannot be read or edited safely; line and column count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column

    @classmethod
    def at(cls, text: str, position: int, message: str) -> TextError:
        line, column = line_and_column(text, position)
        return cls(message, line, column)


class Edit(NamedTuple):
    """A changed text, and the path of the top-most container that the change had to create."""

    text: str
    created: Path | None


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """The 1-based line and column of a position; a byte order mark takes no column."""
    line, start = 1, 1 if text.startswith("\ufeff") else 0
    for match in _LINE_END.finditer(text, 0, position):
        line, start = line + 1, match.end()
    return line, max(position - start, 0) + 1


def show_path(path: Path) -> str:
    """A path as a person would write it: hooks.PreToolUse[0]."""
    shown = ""
    for step in path:
        shown += f"[{step}]" if isinstance(step, int) else f"{'.' if shown else ''}{step}"
    return shown or "the document"
