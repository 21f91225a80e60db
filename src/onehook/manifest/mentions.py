"""Whether a program uses something, judging by its source: making a transcript for it costs more than everything else."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MAX = 1 << 20
_SIBLINGS = 40
_NEVER = ("node_modules", "__pycache__")
_SCRIPTS = (".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1")


def mentions(words: Sequence[str], folder: str, variables: Mapping[str, str], word: bytes = b"transcript") -> bool:
    """Whether the command, a script that it starts, or a script near that one contains this word."""
    if any(word.decode() in part for part in words):
        return True
    return any(_holds(path, word) for script in _files(words, folder, variables) for path in (script, *_beside(script)))


def _files(words: Sequence[str], folder: str, variables: Mapping[str, str]) -> Iterator[str]:
    """The files that a command names, with the variables in it replaced. Some are set in the command itself: `export ROOT=...; $ROOT/x`."""
    known = dict(variables)
    for line in words:
        for word in (line, *_split(line)):  # a word of a list may be a file's name as it is, including spaces
            name, equals, value = word.partition("=")
            if equals and name.isidentifier():
                known[name] = _expanded(value, known)
            path = os.path.join(folder, os.path.expanduser(_expanded(word, known)))
            if os.path.isfile(path):
                yield path


def _split(line: str) -> list[str]:
    """The words of a shell command, without their quotes."""
    words, quote = [""], ""
    for character in line:
        if character == quote:
            quote = ""
        elif not quote and character in "\"'":
            quote = character
        elif not quote and character in " \t\n;|&()<>":
            words.append("")
        else:
            words[-1] += character
    return [word for word in words if word]


def _expanded(word: str, variables: Mapping[str, str]) -> str:
    for name, value in variables.items():
        if name in word:
            word = word.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return word


def _beside(script: str) -> list[str]:
    """The scripts in its folder, then those in the folders there: `lib`, `utils`, ..."""
    if not script.endswith(_SCRIPTS):
        return []
    found, below = _scripts_in(os.path.dirname(script))
    for folder in below:
        if len(found) > _SIBLINGS:
            break
        found += _scripts_in(folder)[0]
    return [path for path in found[: _SIBLINGS + 1] if path != script]


def _scripts_in(folder: str) -> tuple[list[str], list[str]]:
    """The scripts and the folders in a folder."""
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return [], []
    scripts = [entry.path for entry in entries if entry.name.endswith(_SCRIPTS)]
    return scripts, [entry.path for entry in entries if entry.name not in _NEVER and not entry.name.startswith(".") and entry.is_dir()]


def _holds(path: str, word: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return word in file.read(_MAX)
    except OSError:
        return False
