"""Reads JSON with comments, the format of many agents' settings."""

from __future__ import annotations

import os

from onehook.codec import loads, text_of
from onehook.core import PayloadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def comment_spans(text: str) -> list[tuple[int, int]]:
    """Where the comments of a JSON text start and end; a "/*" that is never closed is not one."""
    if "//" not in text and "/*" not in text:
        return []
    import re  # only for a file that may have comments: otherwise every reader on the way to a decision would pay for it

    tokens = re.finditer(r'"(?:[^"\\\n]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', text, re.DOTALL)
    return [token.span(1) for token in tokens if token[1]]


def without_comments(text: str) -> str:
    """A JSON text with blanks in place of its comments: every other character keeps its position and its line."""
    parts, done = [], 0
    for start, end in comment_spans(text):
        parts += [text[done:start], "".join(char if char in "\r\n" else " " for char in text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def read_regular(path: Any) -> bytes:
    """The bytes of a regular file. Anything else is an OSError, so that a named pipe in its place does not block."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        if os.fstat(descriptor).st_mode & 0o170000 != 0o100000:
            raise OSError(22, "not a regular file", os.fspath(path))
        return file.read()


def read_jsonc(path: Any) -> dict[str, Any]:
    """The object in a JSON file that may have comments; empty if the file cannot be read or holds no object."""
    try:
        value = loads(without_comments(text_of(read_regular(path))))
    except (OSError, ValueError, PayloadError):
        return {}
    return value if isinstance(value, dict) else {}
