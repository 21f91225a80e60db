"""Edit YAML text: append, set, replace and remove values, and leave every other byte as it is.

It supports what front_matter reads: mappings, lists and strings in blocks, and values on one line. Blocks are edited by whole lines; a
list or mapping on one line is changed only if it is empty. After every edit the result is read back and compared with the data that it
should hold; a difference is an error.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from onehook.textedit.text import BOM, Steps, TextError, newline_of, show_path, value_at
from onehook.textedit.toml_data import MISSING, same
from onehook.textedit.yaml_read import KEY, Reader, YamlError, scalar

_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*")
_DASH = re.compile(r"-(\s+|$)")


def parse(text: str) -> Any:
    """The data of a document; an empty one is an empty mapping."""
    try:
        value = Reader([line.rstrip() for line in text.removeprefix(BOM).splitlines()]).read()
    except YamlError as error:
        raise TextError(str(error), error.line, 1) from None
    return {} if value is None else value


def append(text: str, path: Steps, item: Any) -> str:
    """Add an item as the last element of the list at path, creating what is missing on the way."""
    found = value_at(parse(text), path, MISSING)
    if found is not MISSING and found is not None and not isinstance(found, list):
        raise TextError(f"{show_path(path)} must be a list", _line_of(text, path), 1)
    if not found or found is MISSING:
        return _put(text, path, [item])
    lines = _Lines(text)
    block = lines.block(path)
    lines.insert(block.end, _item(item, block.indent))
    return _checked(text, lines, lambda data: value_at(data, path).append(item))


def set_value(text: str, path: Steps, value: Any) -> str:
    """Set the key at path, creating what is missing on the way."""
    return _put(text, path, value)


def replace_item(text: str, path: Steps, value: Any) -> str:
    """Replace the existing value at path; equal data leaves the text as it is."""
    old = value_at(parse(text), path, MISSING)
    if old is MISSING:
        raise TextError(f"there is no {show_path(path)}", 1, 1)
    if same(old, value):
        return text
    lines = _Lines(text)
    part = lines.part(path)
    fresh = _item(value, part.indent) if isinstance(path[-1], int) else _pair(str(path[-1]), value, part.indent)
    lines.cut(part.start, part.end)
    lines.insert(part.start, fresh)
    return _checked(text, lines, lambda data: _assign(data, path, value))


def remove(text: str, path: Steps) -> str:
    """Remove an element of a list, or a key. Removing the last one of a block leaves an empty list or mapping on its key's line."""
    data = parse(text)
    if not path or value_at(data, path, MISSING) is MISSING:
        raise TextError(f"there is no {show_path(path)}", 1, 1)
    holder = value_at(data, path[:-1])
    if len(holder) == 1 and len(path) > 1:
        return replace_item(text, path[:-1], type(holder)())
    lines = _Lines(text)
    part = lines.part(path)
    lines.cut(part.start, part.end)
    return _checked(text, lines, lambda fresh: _delete(fresh, path))


# ---- the lines of a document ----


class Part(NamedTuple):
    """The lines of one key or element, and where it begins on its line."""

    start: int
    end: int
    indent: int


class _Lines:
    def __init__(self, text: str) -> None:
        self.text = text
        self.end_of_line = newline_of(text)
        self.lines = text.splitlines(keepends=True)

    def insert(self, at: int, fresh: list[str]) -> None:
        if at and not self.lines[at - 1].endswith(("\n", "\r")):
            self.lines[at - 1] += self.end_of_line
        self.lines[at:at] = [line + self.end_of_line for line in fresh]

    def cut(self, start: int, end: int) -> None:
        del self.lines[start:end]

    def block(self, path: Steps) -> Part:
        """The lines inside the mapping or list at path, and its indentation. Raises TextError if it is written on one line."""
        start, end = (0, len(self.lines)) if not path else self.part(path)[:2]
        if path:
            start += 1
        first = self._first(start, end)
        if first is None:
            raise TextError(f"{show_path(path)} is written on one line: write each of its entries on a separate line", start, 1)
        return Part(start, self._last(start, end), first)

    def part(self, path: Steps) -> Part:
        """The lines of the key or element at path. (It does not look inside an element that is a mapping.)"""
        *above, step = path
        block = self.block(tuple(above))
        starts = [at for at in range(block.start, block.end) if self._begins(at, block.indent, isinstance(step, int))]
        for number, at in enumerate(starts):
            here = number if isinstance(step, int) else self._key(at, block.indent)
            if here == step:
                end = starts[number + 1] if number + 1 < len(starts) else block.end
                return Part(at, self._last(at, end), block.indent)
        raise TextError(f"{show_path(path)} cannot be found in the text", block.start + 1, 1)

    def _begins(self, at: int, indent: int, listed: bool) -> bool:
        """Whether an element, or a key, begins on a line. (A list may have the same indentation as its key.)"""
        line = self.lines[at].rstrip()
        text = line.lstrip(" ")
        if len(line) - len(text) != indent or text.startswith("#"):
            return False
        return bool(_DASH.match(text)) if listed else bool(KEY.match(text)) and not _DASH.match(text)

    def _key(self, at: int, indent: int) -> Any:
        found = KEY.match(self.lines[at][indent:].rstrip())
        return scalar(found[1]) if found else MISSING

    def _first(self, start: int, end: int) -> int | None:
        return next((len(line) - len(line.lstrip()) for line in self.lines[start:end] if line.strip() and line.lstrip()[:1] != "#"), None)

    def _last(self, start: int, end: int) -> int:
        """The end without trailing comments and empty lines, which may belong to what follows."""
        while end > start and self.lines[end - 1].lstrip(" \t").strip()[:1] in ("", "#"):
            end -= 1
        return end


def _put(text: str, path: Steps, value: Any) -> str:
    """Set the key at path, in the deepest existing mapping on the way."""
    data = parse(text)
    if value_at(data, path, MISSING) is not MISSING:
        return replace_item(text, path, value)
    held = next(at for at in range(len(path) - 1, -1, -1) if at == 0 or value_at(data, path[:at], MISSING) is not MISSING)
    holder = value_at(data, path[:held])
    if holder is not None and not isinstance(holder, dict):
        raise TextError(f"{show_path(path[:held])} must be a mapping", _line_of(text, path[:held]), 1)
    fresh = value
    for step in reversed(path[held + 1 :]):
        fresh = {step: fresh}
    if held and not holder:
        return replace_item(text, path[:held], {path[held]: fresh})
    lines = _Lines(text)
    block = lines.block(path[:held]) if holder else Part(0, len(lines.lines), 0)
    lines.insert(block.end, _pair(str(path[held]), fresh, block.indent))
    return _checked(text, lines, lambda plain: value_at(plain, path[:held]).__setitem__(path[held], fresh))


# ---- values as lines ----


def _item(value: Any, indent: int) -> list[str]:
    inner = _block(value, indent + 2)
    if inner is None:
        return [f"{' ' * indent}- {_word(value)}"]
    return [f"{' ' * indent}- {inner[0].lstrip()}", *inner[1:]]


def _pair(key: str, value: Any, indent: int) -> list[str]:
    inner = _block(value, indent + 2)
    start = f"{' ' * indent}{_word(key)}:"
    return [f"{start} {_word(value)}"] if inner is None else [start, *inner]


def _block(value: Any, indent: int) -> list[str] | None:
    """The lines of a mapping or list that is not empty; None for what is written on one line."""
    if isinstance(value, dict) and value:
        return [line for key, inner in value.items() for line in _pair(str(key), inner, indent)]
    if isinstance(value, list) and value:
        return [line for inner in value for line in _item(inner, indent)]
    return None


def _word(value: Any) -> str:
    """A value on one line, as JSON, which is also YAML."""
    plain = isinstance(value, str) and _PLAIN.fullmatch(value) and isinstance(scalar(value), str)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


# ---- checks ----


def _line_of(text: str, path: Steps) -> int:
    try:
        return _Lines(text).part(path).start + 1
    except TextError as error:
        return error.line


def _checked(before: str, lines: _Lines, change: Callable[[Any], Any]) -> str:
    wanted = copy.deepcopy(parse(before))
    change(wanted)
    result = "".join(lines.lines)
    if not same(parse(result), wanted):
        raise TextError("this file cannot be edited safely: onehook does not support its layout", 1, 1)
    return result


def _assign(data: Any, path: Steps, value: Any) -> None:
    value_at(data, path[:-1])[path[-1]] = value


def _delete(data: Any, path: Steps) -> None:
    del value_at(data, path[:-1])[path[-1]]
