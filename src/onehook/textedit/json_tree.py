"""Parse JSON and JSONC text into a tree that knows the position of every value in the text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from onehook.jsonc import comment_spans, without_comments
from onehook.textedit.text import BOM, TextError, line_and_column

MAX_DEPTH = 200

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z0-9_$+\-.]+")
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


@dataclass(slots=True)
class Node:
    """One value: its kind, its span in the text, and for containers the entries inside."""

    kind: str
    start: int
    end: int
    scalar: Any = None
    entries: list[Entry] = field(default_factory=list)

    @property
    def value(self) -> Any:
        """The plain Python data of this node."""
        if self.kind == "object":
            return {entry.key: entry.node.value for entry in self.entries}
        if self.kind == "array":
            return [entry.node.value for entry in self.entries]
        return self.scalar

    def child(self, step: str | int) -> Entry | None:
        """The entry under a key of an object or at an index of an array, if there is one."""
        if isinstance(step, int):
            inside = self.kind == "array" and 0 <= step < len(self.entries)
            return self.entries[step] if inside else None
        if self.kind != "object":
            return None
        return next((entry for entry in self.entries if entry.key == step), None)


@dataclass(slots=True)
class Entry:
    """A member of an object or an element of an array, from its key or value to the end of its value."""

    start: int
    node: Node
    key: str | None = None
    key_end: int = 0
    comma: int | None = None

    @property
    def end(self) -> int:
        return self.node.end


@lru_cache(maxsize=16)
def parse(text: str, *, jsonc: bool) -> Node:
    """The tree of a whole document, not to be changed; comments and trailing commas only with jsonc."""
    parser = _Parser(text, jsonc)
    root = parser.read_value(first_token(text, jsonc=jsonc), 0)
    rest = parser.skip(root.end)
    if rest < len(text):
        raise TextError.at(text, rest, "unexpected text after the end of the document")
    return root


def first_token(text: str, *, jsonc: bool) -> int:
    """Where the document's value starts, or the end of the text if there is none."""
    return _Parser(text, jsonc).skip(1 if text.startswith(BOM) else 0)


def comments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the comments between two tokens."""
    return [span for span in _all_comments(text) if start <= span[0] < end]


@lru_cache(maxsize=16)
def _all_comments(text: str) -> list[tuple[int, int]]:
    return comment_spans(text)


class _Parser:
    def __init__(self, text: str, jsonc: bool) -> None:
        self.text = without_comments(text) if jsonc else text
        self.jsonc = jsonc

    def fail(self, position: int, message: str) -> TextError:
        return TextError.at(self.text, position, message)

    def skip(self, position: int) -> int:
        """The position of the next token."""
        match = _SPACE.match(self.text, position)
        position = match.end() if match else position
        if self.text[position : position + 1] != "/":
            return position
        if self.text.startswith("/*", position) and "*/" not in self.text[position + 2 :]:
            raise self.fail(position, "this comment is never closed: add */")
        if self.text.startswith(("//", "/*"), position):
            raise self.fail(position, "comments are not allowed in plain JSON: remove this one")
        raise self.fail(position, "unexpected character '/'")

    def read_value(self, position: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.fail(position, f"nested deeper than {MAX_DEPTH} levels")
        head = self.text[position : position + 1]
        if head == "{":
            return self.read_container("object", "}", position, depth)
        if head == "[":
            return self.read_container("array", "]", position, depth)
        if head == '"':
            value, end = self.read_string(position)
            return Node("string", position, end, value)
        return self.read_word(position)

    def read_container(self, kind: str, closer: str, start: int, depth: int) -> Node:
        node = Node(kind, start, start)
        seen: dict[str | None, int] = {}
        position = self.skip(start + 1)
        while not self.text.startswith(closer, position):
            if node.entries and node.entries[-1].comma is None:
                raise self.fail(position, f"expected ',' or '{closer}'{self.found(position)}")
            entry = self.read_entry(kind, position, depth)
            if entry.key is not None and entry.key in seen:
                line, _ = line_and_column(self.text, seen[entry.key])
                message = f"the key {json.dumps(entry.key)} is already on line {line}: remove one of them"
                raise self.fail(entry.start, message)
            seen[entry.key] = entry.start
            node.entries.append(entry)
            position = self.skip(entry.end)
            if self.text.startswith(",", position):
                entry.comma = position
                position = self.skip(position + 1)
        self.check_last_comma(node, closer)
        node.end = position + 1
        return node

    def check_last_comma(self, node: Node, closer: str) -> None:
        last = node.entries[-1] if node.entries else None
        if last is not None and last.comma is not None and not self.jsonc:
            raise self.fail(last.comma, f"a comma before '{closer}' is not allowed in plain JSON: remove it")

    def read_entry(self, kind: str, position: int, depth: int) -> Entry:
        if kind == "array":
            return Entry(position, self.read_value(position, depth + 1))
        if not self.text.startswith('"', position):
            raise self.fail(position, f"expected a key in double quotes{self.found(position)}")
        key, key_end = self.read_string(position)
        colon = self.skip(key_end)
        if not self.text.startswith(":", colon):
            raise self.fail(colon, f"expected ':' after the key{self.found(colon)}")
        return Entry(position, self.read_value(self.skip(colon + 1), depth + 1), key, key_end)

    def read_string(self, start: int) -> tuple[str, int]:
        match = _STRING.match(self.text, start)
        if match is None:
            raise self.fail(start, "this string is not closed on its line, or holds a raw control character")
        if "\\" not in match.group():
            return match.group()[1:-1], match.end()
        try:
            value = json.loads(match.group())
        except json.JSONDecodeError as error:
            raise self.fail(start + error.pos, "invalid escape in this string") from None
        return str(value), match.end()

    def read_word(self, start: int) -> Node:
        match = _WORD.match(self.text, start)
        word = match.group() if match else ""
        if word in _CONSTANTS:
            return Node("constant", start, start + len(word), _CONSTANTS[word])
        number = _NUMBER.fullmatch(word)
        if number is None:
            raise self.fail(start, f"expected a value{self.found(start)}")
        return Node("number", start, start + len(word), self.read_number(number, start))

    def read_number(self, number: re.Match[str], start: int) -> int | float:
        if number.group(1) or number.group(2):
            return float(number.group())
        try:
            return int(number.group())
        except ValueError:
            raise self.fail(start, "this number has too many digits") from None

    def found(self, position: int) -> str:
        rest = self.text[position : position + 12].split("\n")[0].rstrip()
        return f", found {rest!r}" if position < len(self.text) else ", found the end of the text"
