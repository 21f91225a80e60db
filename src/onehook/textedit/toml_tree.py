"""Parse TOML text: its data, and the positions of its tables, keys and inline values in the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from onehook.textedit.text import BOM, Steps, TextError, line_and_column

_TRIVIA = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_LINE_REST = re.compile(r"[^\n]*\n?")
_KEY_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[^\s.=\[\]"\'#,{}]+')
_PLAIN = re.compile(r"[^,\[\]{}#\r\n]+")
# tomllib counts columns from 1, and tomlkit, which calls them "col", from 0.
_LINE_AND_COLUMN = re.compile(r"line (\d+),? col(umn)? (\d+)")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


@dataclass(slots=True)
class Value:
    """An inline value; arrays have elements, inline tables have members."""

    start: int
    end: int
    kind: str = "scalar"
    parts: list[tuple[Steps, Value]] = field(default_factory=list)
    commas: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Statement:
    """A key and its value, from the start of its line to the start of the next line."""

    path: Steps
    start: int
    end: int
    value: Value


@dataclass(slots=True)
class Section:
    """A table header with its statements; the first section is the top of the file and has no header."""

    path: Steps
    start: int
    header_end: int
    statements: list[Statement] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The position after the last line with content; later comments do not belong to it."""
        return self.statements[-1].end if self.statements else self.header_end


@lru_cache(maxsize=4)
def parse(text: str) -> Any:
    """The plain data of a document, not to be changed; one that is not TOML raises an error with its position."""
    try:
        return _parser()(text.removeprefix(BOM))
    except RecursionError:
        raise TextError("nested too deeply", 1, 1) from None
    except ValueError as error:  # of tomllib and of tomlkit
        message, _, place = str(error).partition(" (at ")
        found = _LINE_AND_COLUMN.search(place or message)
        line, column = (int(found[1]), int(found[3]) + (not found[2])) if found else line_and_column(text, len(text))
        raise TextError(message.partition(" at line")[0], line, column) from None


def _parser() -> Callable[[str], Any]:
    """tomllib's parser, since tomlkit's time grows with the square of the number of tables; on Python 3.10 there is only tomlkit."""
    try:
        return __import__("tomllib").loads  # type: ignore[no-any-return]
    except ImportError:
        tomlkit = __import__("tomlkit")
        return lambda text: tomlkit.parse(text).unwrap()


@lru_cache(maxsize=4)
def scan(text: str) -> list[Section]:
    """The sections of a document that parse accepts, with absolute paths (array elements by index); not to be changed."""
    sections = [Section((), 1 if text.startswith(BOM) else 0, 1 if text.startswith(BOM) else 0)]
    counts: dict[Steps, int] = {}
    position = _skip(text, sections[0].start)
    while position < len(text):
        start = _line_start(text, position)
        if text[position] == "[":
            is_array = text.startswith("[[", position)
            keys, position = _keys(text, position + (2 if is_array else 1))
            position = _line_end(text, position)
            sections.append(Section(_absolute(keys, is_array, counts), start, position))
        else:
            statement = _statement(text, start, position, sections[-1].path)
            sections[-1].statements.append(statement)
            position = statement.end
        position = _skip(text, position)
    return sections


def _absolute(keys: Steps, is_array: bool, counts: dict[Steps, int]) -> Steps:
    path: Steps = ()
    for depth, key in enumerate(keys):
        path = (*path, key)
        if depth == len(keys) - 1 and is_array:
            counts[path] = counts.get(path, 0) + 1
        if path in counts:
            path = (*path, counts[path] - 1)
    return path


def _statement(text: str, start: int, position: int, table: Steps) -> Statement:
    keys, position = _keys(text, position)
    value = _value(text, _skip_blank(text, position + 1))
    return Statement((*table, *keys), start, _line_end(text, value.end), value)


def _keys(text: str, position: int) -> tuple[Steps, int]:
    """A dotted key, and the position of what follows it."""
    keys: list[str] = []
    while True:
        match = _KEY_PART.match(text, _skip_blank(text, position))
        if match is None:
            raise TextError.at(text, position, "expected a key")
        keys.append(_plain_key(match.group()))
        position = _skip_blank(text, match.end())
        if not text.startswith(".", position):
            return tuple(keys), position
        position += 1


def _plain_key(shown: str) -> str:
    if shown[0] not in "\"'":
        return shown
    return str(next(iter(parse(f"{shown} = 1"))))


def _value(text: str, start: int) -> Value:
    if text.startswith("[", start):
        return _container(text, start, "array", "]")
    if text.startswith("{", start):
        return _container(text, start, "table", "}")
    for pattern in _STRINGS:
        match = pattern.match(text, start)
        if match:
            return Value(start, match.end())
    match = _PLAIN.match(text, start)
    if match is None:
        raise TextError.at(text, start, "expected a value")
    return Value(start, start + len(match.group().rstrip()))


def _container(text: str, start: int, kind: str, closer: str) -> Value:
    node = Value(start, start, kind)
    position = _skip(text, start + 1)
    while not text.startswith(closer, position):
        keys: Steps = (len(node.parts),)
        if kind == "table":
            keys, position = _keys(text, position)
            position = _skip_blank(text, position + 1)
        value = _value(text, position)
        node.parts.append((keys, value))
        position = _skip(text, value.end)
        if text.startswith(",", position):
            node.commas.append(position)
            position = _skip(text, position + 1)
    node.end = position + 1
    return node


def _skip(text: str, position: int) -> int:
    match = _TRIVIA.match(text, position)
    return match.end() if match else position


def _skip_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _line_end(text: str, position: int) -> int:
    match = _LINE_REST.match(text, position)
    return match.end() if match else len(text)


def _line_start(text: str, position: int) -> int:
    start = text.rfind("\n", 0, position) + 1
    return 1 if start == 0 and text.startswith(BOM) else start
