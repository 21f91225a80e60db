"""Read YAML as people write it in config files and front matter: mappings, lists, plain, quoted and block strings, and [a, b] or {a: b}
on one line. Anything else (anchors, tags, ...) raises YamlError, so that nothing is read only in part. Not on the hot path.
"""

from __future__ import annotations

import json
import re
from typing import Any

KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\-#&*!|>%@`"'\[{][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)\s*""")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}
_BLOCK = re.compile(r"([|>])([-+]?)(?:\s+#.*)?")
_COMMENT = re.compile(r"\s+#.*")
_RESERVED = frozenset("&*!|>%@`,]}")  # no plain string begins with one of these
_PAIR = re.compile(r":(\s|$)")  # nor has one of these


class YamlError(ValueError):
    """A line that cannot be read; lines count from 1."""

    def __init__(self, shown: str, line: int) -> None:
        super().__init__(f"cannot read this YAML: {shown!r}")
        self.shown = shown
        self.line = line


class Reader:
    """Reads nested blocks by their indentation."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def read(self) -> Any:
        value = self._block(0)
        if self._next() is not None:
            raise self._wrong()
        return value

    def _next(self) -> tuple[int, str] | None:
        """Indentation and text of the next line that is not empty."""
        while self._at < len(self._lines) and self._lines[self._at].lstrip()[:1] in ("", "#"):
            self._at += 1
        if self._at >= len(self._lines):
            return None
        line = self._lines[self._at]
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise self._wrong()
        return len(line) - len(line.lstrip()), line.strip()

    def _wrong(self) -> YamlError:
        at = min(self._at, len(self._lines) - 1)
        return YamlError(self._lines[at].strip(), at + 1)

    def _block(self, least: int) -> Any:
        """The mapping, list or string at this position, indented by `least` or more."""
        found = self._next()
        if found is None or found[0] < least:
            return None
        indent, text = found
        if text == "-" or text.startswith("- "):
            return self._list(indent)
        return self._mapping(indent) if KEY.match(text) else self._inline(text, indent - 1)

    def _list(self, indent: int) -> list[Any]:
        items: list[Any] = []
        while (found := self._next()) and found[0] == indent and (found[1] == "-" or found[1].startswith("- ")):
            rest = found[1][1:]
            # What follows the dash is a separate block; its indentation is where it begins.
            self._lines[self._at] = " " * (indent + 1) + rest if rest.strip() else ""
            items.append(self._block(indent + 1))
        if found and found[0] > indent:
            raise self._wrong()
        return items

    def _mapping(self, indent: int) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        while (found := self._next()) and found[0] == indent:
            key = KEY.match(found[1])
            name = self._scalar(key[1]) if key else None
            if not key or name in values:
                raise self._wrong()
            values[name] = self._value(found[1][key.end() :], indent)
        if found and found[0] > indent:
            raise self._wrong()
        return values

    def _value(self, text: str, indent: int) -> Any:
        """What follows a key: on its line, or below."""
        if text and not text.startswith("#"):
            return self._inline(text, indent)
        self._at += 1
        below = self._next()
        listed = below is not None and below[0] == indent and (below[1] == "-" or below[1].startswith("- "))
        return self._block(indent if listed else indent + 1)

    def _inline(self, text: str, indent: int) -> Any:
        """A string, number or [list] that begins on this line, and continues below if that is indented more than `indent`."""
        block = _BLOCK.fullmatch(text)
        self._at += 1
        if block:
            return self._text(indent, block[1], block[2])
        lines, flow = [text], text[0] in "[{"
        while not _is_whole(" ".join(lines)):
            expected = self._at
            found = self._next()
            if not found or found[0] <= indent:
                break
            # An empty line in a string is a line break, and a comment would be a part of a quoted one: neither occurs in config files.
            apart = self._at != expected and not flow
            if apart or (text[0] not in "\"'[{" and (KEY.match(found[1]) or _COMMENT.search(lines[-1]))):
                raise self._wrong()
            lines.append(found[1])
            self._at += 1
        self._at -= 1
        value = self._scalar(" ".join(lines))
        self._at += 1
        return value

    def _scalar(self, text: str) -> Any:
        try:
            return scalar(text)
        except ValueError:
            raise self._wrong() from None

    def _text(self, indent: int, style: str, ending: str) -> str:
        """The lines of a block string, without their common indentation; > joins them."""
        taken: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            taken.append(line)
            self._at += 1
        common = min((len(line) - len(line.lstrip()) for line in taken if line.strip()), default=0)
        text = "\n".join(line[common:] for line in taken).rstrip("\n")
        if style == ">":
            text = re.sub(r"(?<!\n)\n(?!\n| )", " ", text)
        return text if ending == "-" else text + "\n"


def _is_whole(text: str) -> bool:
    """Whether a value that begins with a quote or a bracket ends here. A plain one may always continue."""
    if text[0] in "\"'":
        return bool(re.fullmatch(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(\s+#.*)?""", text))
    return text[0] in "[{" and text.rstrip().endswith({"[": "]", "{": "}"}[text[0]])


def scalar(text: str) -> Any:
    """A value on one line. Raises ValueError if it cannot be read."""
    if text[:1] in ("'", '"'):
        quoted = re.match(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""", text)
        if not quoted or _COMMENT.sub("", text[quoted.end() :]).strip():
            raise ValueError(text)
        return json.loads(quoted[0]) if text[0] == '"' else quoted[0][1:-1].replace("''", "'")
    if text[:1] in ("[", "{"):
        return _flow(text)
    text = _COMMENT.sub("", text).strip()
    if text[:1] in _RESERVED or text == "-" or text.startswith("- ") or _PAIR.search(text):
        raise ValueError(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def _flow(text: str) -> Any:
    """[a, "b"] and {a: b}, nested."""
    value, rest = _flow_value(text)
    if _COMMENT.sub("", rest).strip():
        raise ValueError(text)
    return value


def _flow_value(text: str) -> tuple[Any, str]:
    text = text.lstrip()
    if not text.startswith(("[", "{")):
        plain = re.match(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\[\]{}:]*(?::(?!\s)[^,\[\]{}:]*)*)""", text)
        if plain is None or (plain[0][:1] not in ("'", '"') and re.search(r"(^|\s)#", plain[0])):  # a comment would hide the bracket
            raise ValueError(text)
        return scalar(plain[0]), text[plain.end() :]
    listed, closing = text[0] == "[", "]" if text[0] == "[" else "}"
    items: list[Any] = []
    pairs: dict[str, Any] = {}
    rest = text[1:].lstrip()
    while not rest.startswith(closing):
        before = rest
        value, rest = _flow_value(rest)
        if rest == before:  # nothing before a comma or a colon
            raise ValueError(text)
        rest = rest.lstrip()
        if listed:
            items.append(value)
        elif rest.startswith(":"):
            pairs[str(value)], rest = _flow_value(rest[1:])
        else:
            raise ValueError(text)
        rest = rest.lstrip()
        if rest.startswith(","):
            rest = rest[1:].lstrip()
        elif not rest.startswith(closing):
            raise ValueError(text)
    return items if listed else pairs, rest[1:]
