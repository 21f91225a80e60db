"""A reader for the subset of TOML that manifests use, without tomllib (9 to 20 ms on every event, and not part of Python 3.10).

It supports [table] and [[table]] headers of one name, and bare keys with a string, a number, true, false, or an array of those. For
anything else, and for invalid TOML, it returns None: a full TOML parser must then read the text or report the error.
"""

from __future__ import annotations

from onehook.codec import loads
from onehook.core import PayloadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t"
_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_DIGITS = frozenset("0123456789")
_CONTROLS = frozenset(map(chr, (*range(9), *range(11, 32), 127)))  # not allowed anywhere in TOML
# Escapes that JSON and TOML share. TOML has no \/, JSON has no \U, and \u may be half a character in JSON.
_ESCAPES = frozenset('btnfr"\\')


class _Unknown(Exception):
    """Not in the supported subset of TOML."""


def read(text: str) -> dict[str, Any] | None:
    """The data of a document, or None if it contains anything outside the subset."""
    text = text.replace("\r\n", "\n")
    if not _CONTROLS.isdisjoint(text):
        return None
    try:
        return _Reader(text).document()
    except (_Unknown, IndexError, ValueError, RecursionError):
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text + "\n"
        self.at = 0
        self.headed: set[str] = set()

    def document(self) -> dict[str, Any]:
        root: dict[str, Any] = {}
        table = root
        while self.skip_lines():
            if self.text[self.at] == "[":
                table = self.header(root)
            else:
                key = self.key()
                self.expect("=")
                if key in table:
                    raise _Unknown
                table[key] = self.value()
            self.end_of_line()
        return root

    def header(self, root: dict[str, Any]) -> dict[str, Any]:
        self.expect("[")
        several = self.text[self.at] == "["
        self.at += several
        name = self.key()
        self.expect("]")
        if several:
            self.expect("]", skip=False)
        if name in root and (not several or name not in self.headed):
            raise _Unknown
        table: dict[str, Any] = {}
        if several:
            self.headed.add(name)
            root.setdefault(name, []).append(table)
        else:
            root[name] = table
        return table

    def skip_blanks(self) -> None:
        while self.text[self.at] in _BLANK:
            self.at += 1

    def skip_lines(self) -> bool:
        """Skip blanks, newlines and comments; False at the end."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "#":
                self.at = self.text.index("\n", self.at)
            elif char not in " \t\n":
                return True
            self.at += 1
        return False

    def end_of_line(self) -> None:
        self.skip_blanks()
        if self.text[self.at] not in "#\n":
            raise _Unknown

    def expect(self, char: str, skip: bool = True) -> None:
        if skip:
            self.skip_blanks()
        if self.text[self.at] != char:
            raise _Unknown
        self.at += 1

    def key(self) -> str:
        self.skip_blanks()
        word = self.word()
        if not word:
            raise _Unknown
        return word

    def word(self) -> str:
        begin = self.at
        while self.text[self.at] in _BARE:
            self.at += 1
        return self.text[begin : self.at]

    def value(self) -> Any:
        self.skip_blanks()
        char = self.text[self.at]
        if char == '"':
            return self.basic_text()
        if char == "'":
            return self.literal_text()
        return self.array() if char == "[" else self.plain()

    def basic_text(self) -> str:
        begin = self.at
        end = self.text.find('"', begin + 1)
        plain = self.text[begin + 1 : end]
        if end > begin + 1 and "\\" not in plain and "\n" not in plain:
            self.at = end + 1
            return plain
        self.at += 1
        while self.text[self.at] != '"':
            if self.text[self.at] == "\\":
                self.at += 1
                if self.text[self.at] not in _ESCAPES:
                    raise _Unknown
            elif self.text[self.at] == "\n":
                raise _Unknown
            self.at += 1
        self.at += 1
        self._refuse_multiline(begin, '"')
        try:
            # TOML allows a literal tab, JSON does not.
            value: str = loads(self.text[begin : self.at].replace("\t", "\\t"))
        except PayloadError:
            raise _Unknown from None
        return value

    def literal_text(self) -> str:
        begin = self.at
        self.at = self.text.index("'", begin + 1) + 1 if "'" in self.text[begin + 1 :] else len(self.text)
        value = self.text[begin + 1 : self.at - 1]
        if "\n" in value:
            raise _Unknown
        self._refuse_multiline(begin, "'")
        return value

    def _refuse_multiline(self, begin: int, quote: str) -> None:
        if self.at == begin + 2 and self.text[self.at] == quote:
            raise _Unknown

    def array(self) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        while True:
            self.skip_lines()
            if self.text[self.at] == "]":
                break
            values.append(self.value())
            self.skip_lines()
            if self.text[self.at] == ",":
                self.at += 1
            elif self.text[self.at] != "]":
                raise _Unknown
        self.at += 1
        return values

    def plain(self) -> Any:
        """true, false, an integer or a decimal number."""
        begin = self.at
        word = self.word()
        if word in ("true", "false"):
            return word == "true"
        whole = word.lstrip("-") if word.startswith("-") and not word.startswith("--") else word
        if not whole or not _DIGITS.issuperset(whole) or (whole[0] == "0" and whole != "0"):
            raise _Unknown
        if self.text[self.at] != ".":
            return int(word)
        self.at += 1
        fraction = self.word()
        if not fraction or not _DIGITS.issuperset(fraction):
            raise _Unknown
        return float(self.text[begin : self.at])
