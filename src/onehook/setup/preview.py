"""Planned edits as a unified diff, for `--dry-run`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from onehook.setup.files import FileEdit

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_LONG = 1000
_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_NO_FINAL_NEWLINE = "\\ No newline at end of file"


def unified_diff(edits: Iterable[FileEdit], *, colour: bool) -> str:
    """All edits as one diff; control characters show as numbers, so that no file can control the terminal."""
    lines: list[str] = []
    for edit in edits:
        lines += _file_diff(edit, colour)
    return "".join(line + "\n" for line in lines)


def _file_diff(edit: FileEdit, colour: bool) -> Iterator[str]:
    body = list(_body(edit))
    if not body:
        return
    for header in _headers(edit):
        shown = _visible(header)
        yield f"{_BOLD}{shown}{_RESET}" if colour else shown
    for line in body:
        shown = _visible(line)
        start = _COLOURS.get(line[:1], "") if colour else ""
        yield f"{start}{shown}{_RESET}" if start else shown


def _headers(edit: FileEdit) -> Iterator[str]:
    yield f"--- {edit.path if edit.before is not None else '/dev/null'}"
    yield f"+++ {edit.path if edit.after is not None else '/dev/null'}"


def _body(edit: FileEdit) -> Iterator[str]:
    try:
        before, after = _lines(edit.before), _lines(edit.after)
    except UnicodeDecodeError:
        if edit.before != edit.after:
            yield "the bytes differ (not UTF-8 text)"
        return
    private = edit.kind == "trust"  # the surroundings of the change are not shown
    for line in list(difflib.unified_diff(before, after, n=0 if private else 3))[2:]:
        if private and len(line) > _LONG:
            line = f"{line[0]}(a line of {len(line)} characters)\n"
        yield line.removesuffix("\n").removesuffix("\r")
        if not line.endswith("\n"):
            yield _NO_FINAL_NEWLINE


def _lines(content: bytes | None) -> list[str]:
    """Lines with their line ends; unlike with splitlines, only a line feed ends one."""
    parts = (content or b"").decode("utf-8").split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _visible(line: str) -> str:
    return _CONTROL.sub(lambda char: f"\\x{ord(char.group()):02x}", line)
