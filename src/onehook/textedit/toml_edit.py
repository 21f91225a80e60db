"""Edit TOML text: append, set, replace and remove values, and leave every other byte as it is.

tomlkit reads and renders values here, but does not edit: the edits of 0.15.2 are not byte-exact. An added
table gets LF in a CRLF file, and removing the last [[a.b]] leaves `a.b = []` at the top of the file. So new
tables are written as one block of text and found again by their position. After every edit the result is read
back and compared with the data it should hold; a difference is an error.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from onehook.textedit.text import BOM, Steps, TextError, line_and_column, newline_of, show_path, value_at
from onehook.textedit.toml_data import MISSING, do_append, do_assign, do_delete, key_text, same, table_lines, value_text, without_empty
from onehook.textedit.toml_tree import Section, Statement, Value, parse, scan

_ENDS_LINE = re.compile(r"[ \t]*(?:[\r\n]|$)")


def append(text: str, path: Steps, item: Any) -> str:
    """Add an item as the last element of the array at path; a missing array becomes [[path]] tables."""
    found = value_at(parse(text), path, MISSING)
    if found is not MISSING and not isinstance(found, list):
        raise TextError(f"{show_path(path)} must be an array", *_where(text, path))
    sections = scan(text)
    inline = _inline(sections, path)
    if found is MISSING and not isinstance(item, dict):
        return set_value(text, path, [item])
    if inline is not None:
        result = _insert_inline(text, inline, value_text(item))
    else:
        _refuse_inline_parent(text, sections, path)
        result = _add_block(text, _end_of_element(text, sections, path), table_lines(path, item, array=True))
    _check(text, result, lambda fresh: do_append(fresh, path, item))
    return result


def set_value(text: str, path: Steps, value: Any) -> str:
    """Set the key at path, creating the key and its table if they are missing."""
    if value_at(parse(text), path, MISSING) is not MISSING:
        return replace_item(text, path, value)
    sections = scan(text)
    _refuse_inline_parent(text, sections, path)
    table, line = path[:-1], f"{key_text(path[-1:])} = {value_text(value)}"
    home = next((section for section in sections if section.path == table), None)
    if home is not None:
        result = _add_line(text, home, line)
    else:
        block = [f"[{key_text(table)}]", line]
        result = _add_block(text, _end_of_element(text, sections, table), block)
    _check(text, result, lambda fresh: do_assign(fresh, path, value))
    return result


def replace_item(text: str, path: Steps, value: Any) -> str:
    """Replace the existing element or key at path; equal data leaves the text as it is."""
    old = value_at(parse(text), path, MISSING)
    if old is MISSING:
        raise TextError(f"there is no {show_path(path)}", 1, 1)
    if same(old, value):
        return text
    sections = scan(text)
    inline = _inline(sections, path)
    if inline is not None:
        result = text[: inline.start] + value_text(value) + text[inline.end :]
    else:
        result = _replace_block(text, sections, path, value)
    _check(text, result, lambda fresh: do_assign(fresh, path, value))
    return result


def remove(text: str, path: Steps) -> str:
    """Remove an array element, a table or a key, with the blank line before a table and nothing else."""
    if not path or value_at(parse(text), path, MISSING) is MISSING:
        raise TextError(f"there is no {show_path(path)}", 1, 1)
    sections = scan(text)
    array = _inline(sections, path[:-1])
    if array is not None:
        spans = _element_spans(text, array, path)
    else:
        spans = _table_spans(text, sections, path) + _line_spans(text, sections, path)
    result = text
    for start, end in sorted(spans, reverse=True):
        result = result[:start] + result[end:]
    _check(text, result, lambda fresh: do_delete(fresh, path))
    return result


def _check(before: str, after: str, change: Callable[[Any], None]) -> None:
    expected = copy.deepcopy(parse(before))
    change(expected)
    try:
        actual = parse(after)
    except TextError as error:
        message = f"this file cannot be edited safely ({error.message})"
        raise TextError(message, error.line, error.column) from None
    if not same(without_empty(expected), without_empty(actual)):
        raise TextError("this file cannot be edited safely: another value would change", 1, 1)


# ---- finding


def _where(text: str, path: Steps) -> tuple[int, int]:
    for section in scan(text):
        places: list[Section | Statement] = [section, *section.statements]
        for place in places:
            if place.path[: len(path)] == path:
                return line_and_column(text, place.start)
    return 1, 1


def _inline(sections: list[Section], path: Steps) -> Value | None:
    """The inline value at path, also deep inside other inline values."""
    for section in sections:
        for statement in section.statements:
            size = len(statement.path)
            if statement.path == path[:size] and (found := _inside(statement.value, path[size:])):
                return found
    return None


def _inside(value: Value, path: Steps) -> Value | None:
    if not path:
        return value
    for keys, part in value.parts:
        if keys == path[: len(keys)] and (found := _inside(part, path[len(keys) :])):
            return found
    return None


def _refuse_inline_parent(text: str, sections: list[Section], path: Steps) -> None:
    for section in sections:
        for statement in section.statements:
            if statement.path == path[: len(statement.path)]:
                line, column = line_and_column(text, statement.start)
                shown = show_path(statement.path)
                raise TextError(f"{shown} is an inline value: write it as a [{shown}] table", line, column)


def _end_of_element(text: str, sections: list[Section], path: Steps) -> int:
    """Where a new table goes: after the array element that it belongs to, or else at the end of the text."""
    depth = max((i + 1 for i, step in enumerate(path) if isinstance(step, int)), default=0)
    if not depth:
        return len(text)
    return max(section.end for section in sections if section.path[:depth] == path[:depth])


# ---- adding and replacing


def _add_block(text: str, place: int, lines: list[str]) -> str:
    """Add a block after one blank line; a document without a final line end stays without one."""
    newline = newline_of(text)
    block = newline.join(lines)
    before, after = text[:place], text[place:]
    if before in ("", BOM):
        return before + block + newline + after
    if before.endswith("\n"):
        return before + newline + block + newline + after
    return before + newline + newline + block + after


def _add_line(text: str, home: Section, line: str) -> str:
    newline, place = newline_of(text), home.end
    if home.statements:
        last = home.statements[-1]
        head = text[last.start : last.value.start]
        line = head[: len(head) - len(head.lstrip(" \t"))] + line
    if place and text[place - 1] not in ("\n", BOM):
        return text[:place] + newline + line + text[place:]
    return text[:place] + line + newline + text[place:]


def _replace_block(text: str, sections: list[Section], path: Steps, value: Any) -> str:
    own = [i for i, section in enumerate(sections) if section.path[: len(path)] == path]
    contiguous = own and own == list(range(own[0], own[-1] + 1)) and sections[own[0]].path == path
    if not contiguous or not isinstance(value, dict):
        message = f"{show_path(path)} is defined in several places in the file: remove it and add it again"
        raise TextError(message, *_where(text, path))
    start, end = sections[own[0]].start, sections[own[-1]].end
    newline = newline_of(text)
    block = newline.join(table_lines(path, value, array=isinstance(path[-1], int)))
    return text[:start] + block + (newline if text[end - 1] == "\n" else "") + text[end:]


def _insert_inline(text: str, array: Value, shown: str) -> str:
    if not array.parts:
        return text[: array.start + 1] + shown + text[array.start + 1 :]
    last = array.parts[-1][1]
    trailing = len(array.commas) == len(array.parts)
    place = array.commas[-1] + 1 if trailing else last.end
    note = re.compile(r"[ \t]*#[^\r\n]*").match(text, place)
    line_start = text.rfind("\n", 0, last.start) + 1
    indent = text[line_start : last.start]
    own_line = line_start > array.start and not indent.strip(" \t")
    if note:
        place = note.end()
    gap = newline_of(text) + (indent if own_line else "  ") if own_line or note else " "
    result = text[:place] + gap + shown + ("," if trailing else "") + text[place:]
    return result if trailing else result[: last.end] + "," + result[last.end :]


# ---- removing


def _element_spans(text: str, array: Value, path: Steps) -> list[tuple[int, int]]:
    if array.kind != "array":
        message = f"{show_path(path)} is inside an inline table: remove it by hand"
        raise TextError(message, *_where(text, path[:1]))
    index = int(path[-1])
    part = array.parts[index][1]
    comma = array.commas[index] if index < len(array.commas) else None
    end = part.end if comma is None or text[part.end : comma].strip(" \t\r\n") else comma + 1
    spans = [(part.start, end)] if comma is None or end > comma else [(part.start, end), (comma, comma + 1)]
    if index == 0:
        return spans
    before = text[: part.start].rstrip(" \t\r\n")
    after_note = "#" in text[array.commas[index - 1] : part.start]
    if not after_note or _ENDS_LINE.match(text, end):
        spans[0] = (len(before), end)
    if comma is None:
        spans.append((array.commas[index - 1], array.commas[index - 1] + 1))
    return spans


def _table_spans(text: str, sections: list[Section], path: Steps) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    joins = False
    for section in sections:
        inside = section.path[: len(path)] == path
        if inside and joins:
            spans[-1] = (spans[-1][0], section.end)
        elif inside:
            spans.append((section.start, section.end))
        joins = inside
    return [(_block_start(text, start, end), end) for start, end in spans]


def _block_start(text: str, start: int, end: int) -> int:
    """Where to start removing a block: before the blank line above it, and before a line end that only the block needed."""
    head = text[:start]
    if re.search(r"(?:^\ufeff?|\n)\r?\n\Z", head):
        head = re.sub(r"\r?\n\Z", "", head)
    if end == len(text) and not text.endswith("\n"):
        head = re.sub(r"\r?\n\Z", "", head)
    return len(head)


def _line_spans(text: str, sections: list[Section], path: Steps) -> list[tuple[int, int]]:
    """The lines of the keys at or below path, outside the tables that are removed completely."""
    spans: list[tuple[int, int]] = []
    for place, section in enumerate(sections):
        if section.path[: len(path)] == path:
            continue
        own = [statement for statement in section.statements if statement.path[: len(path)] == path]
        if own and len(own) == len(section.statements) and _implied_earlier(sections[:place], section):
            spans.append((_block_start(text, section.start, section.end), section.end))
        else:
            spans += [_line_span(text, statement) for statement in own]
    return spans


def _implied_earlier(earlier: list[Section], section: Section) -> bool:
    """Whether tables above already imply this one: then set_value wrote its header, since a person would not."""
    size = len(section.path)
    return any(size and len(other.path) > size and other.path[:size] == section.path for other in earlier)


def _line_span(text: str, statement: Statement) -> tuple[int, int]:
    start = statement.start
    if statement.end == len(text) and not text.endswith("\n"):
        start = len(re.sub(r"\r?\n\Z", "", text[:start]))
    return start, statement.end
