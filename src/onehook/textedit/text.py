"""What the JSON and TOML editors share: paths to values, positions in a document, line ends, and the error that names a position."""

from __future__ import annotations

import re
from typing import Any

Steps = tuple[str | int, ...]  # the way to a value: keys and indexes, from the root

BOM = "\ufeff"

_LINE_END = re.compile(r"\r\n|\n|\r")


class TextError(ValueError):
    """The document cannot be parsed or edited safely; line and column count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column

    @classmethod
    def at(cls, text: str, position: int, message: str) -> TextError:
        line, column = line_and_column(text, position)
        return cls(message, line, column)


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """The 1-based line and column of a position; a byte order mark takes no column."""
    line, start = 1, 1 if text.startswith(BOM) else 0
    for match in _LINE_END.finditer(text, 0, position):
        line, start = line + 1, match.end()
    return line, max(position - start, 0) + 1


def show_path(path: Steps) -> str:
    """A path as a person would write it: hooks.PreToolUse[0]."""
    shown = ""
    for step in path:
        shown += f"[{step}]" if isinstance(step, int) else f"{'.' if shown else ''}{step}"
    return shown or "the document"


def value_at(data: Any, path: Steps, missing: Any = None) -> Any:
    """The value at path in plain data; `missing` if there is none."""
    for step in path:
        if isinstance(data, dict) and isinstance(step, str):
            data = data.get(step, missing)
        elif isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
            data = data[step]
        else:
            return missing
    return data


def newline_of(text: str) -> str:
    """The first line end in a document."""
    return "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
