"""Whether a program uses something, told from its text: making a transcript for a program costs more than everything else on the way."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MAX = 1 << 20
_SIBLINGS = 40
_SCRIPTS = (".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1")


def mentions(words: Sequence[str], folder: str, variables: Mapping[str, str], word: bytes = b"transcript") -> bool:
    """Whether the command, a script that it starts, or a script beside that one has this word in it."""
    if any(word.decode() in part for part in words):
        return True
    return any(_holds(path, word) for script in _files(words, folder, variables) for path in (script, *_beside(script)))


def _files(words: Sequence[str], folder: str, variables: Mapping[str, str]) -> Iterator[str]:
    """The files that a command names, with the variables in it replaced."""
    for word in words:
        for part in _expanded(word, variables).replace('"', " ").replace("'", " ").replace(";", " ").split():
            path = os.path.join(folder, os.path.expanduser(part))
            if os.path.isfile(path):
                yield path


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    for name, value in variables.items():
        if name in text:
            for spelled in (f'"${{{name}}}"', f'"${name}"', f"${{{name}}}", f"${name}"):
                text = text.replace(spelled, value)
    return text


def _beside(script: str) -> list[str]:
    folder = os.path.dirname(script)
    if not script.endswith(_SCRIPTS):
        return []
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(_SCRIPTS)]
    return [os.path.join(folder, name) for name in names[:_SIBLINGS] if os.path.join(folder, name) != script]


def _holds(path: str, word: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return word in file.read(_MAX)
    except OSError:
        return False
