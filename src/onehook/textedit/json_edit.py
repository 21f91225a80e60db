"""Edit JSON and JSONC text: append, set, replace and remove values, and leave every other byte as it is.

The odd-looking whitespace rules keep a promise: removing what append or set_value added restores the exact
original text. The inserted whitespace is therefore always recognisable from the result alone.
"""

from __future__ import annotations

import json
import re
from typing import Any

from onehook.textedit.json_style import Layout, Style, is_broken, layout_in, line_indent, render, style_of
from onehook.textedit.json_tree import Entry, Node, comments, first_token, parse
from onehook.textedit.text import Steps, TextError, newline_of, show_path

_ONE_BREAK = re.compile(r"(?:\r\n|\n)([ \t]*)")
_ENDS_LINE = re.compile(r"[ \t]*(?:[\r\n]|$)")
_KIND_NAMES = {"object": "an object", "array": "an array"}


def append(text: str, path: Steps, item: Any, *, jsonc: bool, escape_slashes: bool = False) -> str:
    """Add an item as the last element of the array at path, creating what is missing on the way."""
    opened = _with_root(text, jsonc)
    root = parse(opened, jsonc=jsonc)
    style = style_of(opened, root, escape_slashes)
    chain = _existing(opened, root, path)
    if len(chain) <= len(path):
        return _create(opened, chain, path, [item], style)
    if chain[-1].kind != "array":
        message = f"{show_path(path)} must be an array, but it is {_kind(chain[-1])}"
        raise TextError.at(opened, chain[-1].start, message)
    return _insert(opened, chain, None, item, style)


def set_value(text: str, path: Steps, value: Any, *, jsonc: bool, escape_slashes: bool = False) -> str:
    """Set the value at path, creating the key and the objects around it if they are missing."""
    opened = _with_root(text, jsonc)
    root = parse(opened, jsonc=jsonc)
    style = style_of(opened, root, escape_slashes)
    chain = _existing(opened, root, path)
    missing = len(chain) <= len(path)
    return _create(opened, chain, path, value, style) if missing else _replace(opened, chain, value, style)


def replace_item(text: str, path: Steps, value: Any, *, jsonc: bool, escape_slashes: bool = False) -> str:
    """Replace the existing element or key at path; equal data leaves the text as it is."""
    root = parse(text, jsonc=jsonc)
    chain = _chain_to(text, root, path)
    return _replace(text, chain, value, style_of(text, root, escape_slashes))


def remove(text: str, path: Steps, *, jsonc: bool) -> str:
    """Remove an array element or an object key with its separator and its own whitespace, and nothing else."""
    root = parse(text, jsonc=jsonc)
    chain = _chain_to(text, root, path)
    if not path:
        return _without_root(text, root)
    parent = chain[-2]
    index = next(i for i, entry in enumerate(parent.entries) if entry.node is chain[-1])
    if len(parent.entries) == 1:
        spans = _spans_of_only_entry(text, parent)
    elif index == 0:
        spans = _spans_of_first_entry(text, parent)
    else:
        spans = _spans_of_later_entry(text, parent, index)
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


# ---- finding


def _existing(text: str, root: Node, path: Steps) -> list[Node]:
    """The nodes from the root along path, as far as they exist; an impossible path is an error."""
    chain = [root]
    for depth, step in enumerate(path):
        here, node = show_path(path[:depth]), chain[-1]
        wanted = "array" if isinstance(step, int) else "object"
        if node.kind != wanted:
            message = f"{here} must be {_KIND_NAMES[wanted]}, but it is {_kind(node)}"
            raise TextError.at(text, node.start, message)
        entry = node.child(step)
        if entry is None and wanted == "array":
            raise TextError.at(text, node.start, f"{here} has no element {step}")
        if entry is None:
            return chain
        chain.append(entry.node)
    return chain


def _chain_to(text: str, root: Node, path: Steps) -> list[Node]:
    chain = _existing(text, root, path)
    if len(chain) <= len(path):
        raise TextError.at(text, chain[-1].start, f"there is no {show_path(path[: len(chain)])}")
    return chain


def _kind(node: Node) -> str:
    if node.kind == "constant":
        return json.dumps(node.scalar)
    return _KIND_NAMES.get(node.kind, f"a {node.kind}")


# ---- the document itself


def _with_root(text: str, jsonc: bool) -> str:
    """The text, with an empty object added if it contains no value at all."""
    if first_token(text, jsonc=jsonc) < len(text):
        return text
    notes = comments(text, 0, len(text))
    in_line_comment = bool(notes) and notes[-1][1] == len(text) and text.startswith("//", notes[-1][0])
    return text + (newline_of(text) + "{}" if in_line_comment else "{}" + newline_of(text))


def _without_root(text: str, root: Node) -> str:
    before, after = text[: root.start], text[root.end :]
    if after.startswith(("\r\n", "\n")):
        return before + after[2 if after.startswith("\r\n") else 1 :]
    return re.sub(r"\r?\n\Z", "", before) + after


# ---- inserting and replacing


def _create(text: str, chain: list[Node], path: Steps, value: Any, style: Style) -> str:
    """Add the first missing key of path, holding the rest of the path and the value."""
    depth = len(chain) - 1
    for step in reversed(path[depth + 1 :]):
        if isinstance(step, int):
            raise TextError.at(text, chain[-1].start, f"{show_path(path)} does not exist")
        value = {step: value}
    return _insert(text, chain, str(path[depth]), value, style)


def _insert(text: str, chain: list[Node], key: str | None, value: Any, style: Style) -> str:
    node, layout = chain[-1], layout_in(text, chain, style)
    inner_start, inner_end = node.start + 1, node.end - 1
    notes = comments(text, node.entries[-1].end if node.entries else inner_start, inner_end)
    if not node.entries and not notes:
        return _fill_empty(text, node, layout, key, value, style)
    content = _entry_text(key, value, layout.multiline, layout.indent, style)
    last = node.entries[-1] if node.entries else None
    place = last.end if last else inner_start
    if last and last.comma is not None:
        place, content = last.comma + 1, content + ","
    place = max(place, notes[-1][1] if notes else 0)
    after_line_comment = bool(notes) and notes[-1][1] == place and text.startswith("//", notes[-1][0])
    gap = style.newline + layout.indent if layout.own_line or after_line_comment else layout.gap
    result = text[:place] + gap + content + text[place:]
    if last and last.comma is None:
        result = result[: last.end] + "," + result[last.end :]
    return result


def _fill_empty(text: str, node: Node, layout: Layout, key: str | None, value: Any, style: Style) -> str:
    """Put the first entry into a container, in such a way that _was_empty can recognise it."""
    inner = text[node.start + 1 : node.end - 1]
    outer_indent = line_indent(text, node.start)
    own_line = layout.own_line and (not inner or "\n" in inner or "\r" in inner)
    before, after = inner, inner
    if own_line:
        before = style.newline + layout.indent
        after = inner or style.newline + outer_indent
        if _ONE_BREAK.fullmatch(inner):
            before = style.newline + before
    indent = layout.indent if own_line else outer_indent
    content = _entry_text(key, value, layout.multiline, indent, style)
    return text[: node.start + 1] + before + content + after + text[node.end - 1 :]


def _entry_text(key: str | None, value: Any, multiline: bool, indent: str, style: Style) -> str:
    shown = render(value, multiline, indent, style)
    return shown if key is None else render(key, False, "", style) + style.colon + shown


def _replace(text: str, chain: list[Node], value: Any, style: Style) -> str:
    node = chain[-1]
    if json.dumps(node.value) == json.dumps(value):  # 1 == True and 1 == 1.0 in Python, but not in JSON
        return text
    example = node if node.entries or len(chain) == 1 else chain[-2]
    multiline = is_broken(text, example) or (len(chain) == 1 and not node.entries)
    shown = render(value, multiline, line_indent(text, node.start), style)
    return text[: node.start] + shown + text[node.end :]


# ---- removing


def _spans_of_only_entry(text: str, parent: Node) -> list[tuple[int, int]]:
    entry = parent.entries[0]
    inner_start, inner_end = parent.start + 1, parent.end - 1
    if comments(text, inner_start, entry.start):
        return _spans_of_later_entry(text, parent, 0)
    spans = [(inner_start, entry.end), *_comma_spans(text, entry)]
    tail = entry.end if entry.comma is None else entry.comma + 1
    if _was_empty(text[inner_start : entry.start], text[tail:inner_end]):
        spans.append((tail, inner_end))
    return spans


def _was_empty(before: str, after: str) -> bool:
    """Whether the whitespace around an only entry is what _fill_empty writes into a container like {}."""
    deeper, closing = _ONE_BREAK.fullmatch(before), _ONE_BREAK.fullmatch(after)
    if deeper is None or closing is None:
        return False
    return deeper.group(1).startswith(closing.group(1)) and deeper.group(1) != closing.group(1)


def _spans_of_first_entry(text: str, parent: Node) -> list[tuple[int, int]]:
    """What to remove with the first entry: the next one takes its place, so the whitespace before stays and that after goes."""
    entry, following = parent.entries[0], parent.entries[1]
    comma = entry.end if entry.comma is None else entry.comma + 1
    notes = comments(text, comma, following.start)
    stop = notes[0][0] if notes else following.start
    return [(entry.start, entry.end), *_comma_spans(text, entry), (comma, stop)]


def _spans_of_later_entry(text: str, parent: Node, index: int) -> list[tuple[int, int]]:
    entry = parent.entries[index]
    before = parent.entries[index - 1].comma if index else parent.start
    floor = (parent.start if before is None else before) + 1
    own = _comma_spans(text, entry)
    notes = comments(text, floor, entry.start)
    start = notes[-1][1] if notes else floor
    resumes = entry.end if not own or own[0][0] != entry.end else own[0][1]
    if notes and text.startswith("//", notes[-1][0]) and not _ENDS_LINE.match(text, resumes):
        start = entry.start
    spans = [(start, entry.end), *own]
    if index and index == len(parent.entries) - 1 and entry.comma is None:
        spans.append((floor - 1, floor))
    return spans


def _comma_spans(text: str, entry: Entry) -> list[tuple[int, int]]:
    """The entry's own comma, with the whitespace before it unless that contains a comment."""
    if entry.comma is None:
        return []
    start = entry.comma if comments(text, entry.end, entry.comma) else entry.end
    return [(start, entry.comma + 1)]
