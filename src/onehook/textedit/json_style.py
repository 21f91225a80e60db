"""The style of a JSON text (indentation, line ends, separators), and how new values are written in that style."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from onehook.textedit.json_tree import Entry, Node
from onehook.textedit.text import BOM, newline_of

_BLANKS = re.compile(r"[ \t]*")
_LOOKS_LIKE_COMMENT = re.compile(r"(?<=[/*])/|(?<=/)\*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(slots=True)
class Style:
    """How a document is written: one indentation step, its line end, and what separates key and value."""

    unit: str
    newline: str
    colon: str
    escape_slashes: bool

    @property
    def gap(self) -> str:
        return "" if self.colon == ":" else " "


@dataclass(slots=True)
class Layout:
    """How a new entry of one container is written."""

    own_line: bool
    multiline: bool
    indent: str
    gap: str


def style_of(text: str, root: Node, escape_slashes: bool) -> Style:
    unit, colon = None, None
    pending = [root]
    while pending and (unit is None or colon is None):
        node = pending.pop()
        for entry in node.entries:
            if unit is None and _starts_line(text, node, entry):
                outer, inner = line_indent(text, node.start), line_indent(text, entry.start)
                unit = inner[len(outer) :] if inner.startswith(outer) and inner != outer else None
            between = text[entry.key_end : entry.node.start]
            if colon is None and entry.key is not None and between.strip(" ") == ":":
                colon = between
        pending.extend(entry.node for entry in reversed(node.entries))
    return Style(unit or "  ", newline_of(text), colon or ": ", escape_slashes)


def _line_start(text: str, position: int) -> int:
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    return 1 if start == 0 and text.startswith(BOM) else start


def line_indent(text: str, position: int) -> str:
    match = _BLANKS.match(text, _line_start(text, position), position)
    return match.group() if match else ""


def _starts_line(text: str, container: Node, entry: Entry) -> bool:
    start = _line_start(text, entry.start)
    return start > container.start and not text[start : entry.start].strip(" \t")


def is_broken(text: str, node: Node) -> bool:
    return "\n" in text[node.start : node.end] or "\r" in text[node.start : node.end]


def layout_in(text: str, chain: list[Node], style: Style) -> Layout:
    """The layout of a new entry in the last container of the chain, following the entries in it or in its parent."""
    node = chain[-1]
    deeper = line_indent(text, node.start) + style.unit
    if not node.entries:
        own_line = len(chain) == 1 or is_broken(text, chain[-2])
        return Layout(own_line, own_line, deeper, style.gap)
    starters = [entry for entry in node.entries if _starts_line(text, node, entry)]
    if starters:
        return Layout(True, True, line_indent(text, starters[-1].start), style.gap)
    gap = style.gap
    if len(node.entries) > 1 and (comma := node.entries[-2].comma) is not None:
        seen = text[comma + 1 : node.entries[-1].start]
        gap = seen if not seen.strip(" \t") else gap
    return Layout(False, is_broken(text, node), line_indent(text, node.end - 1), gap)


def render(value: Any, multiline: bool, indent: str, style: Style) -> str:
    separators = (",", style.colon) if multiline else ("," + style.gap, style.colon)
    shown = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=style.unit if multiline else None, separators=separators)
    if multiline:
        shown = shown.replace("\n", style.newline + indent)
    if style.escape_slashes:
        # A backslash before the slash would leave "/*" in "\\/*", so a star is escaped by its number.
        shown = _LOOKS_LIKE_COMMENT.sub(lambda mark: "\\/" if mark.group() == "/" else "\\u002a", shown)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", shown)
