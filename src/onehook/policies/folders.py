"""Folders that a command or a search reads recursively: `grep -r`, `cp -r`, `tar`, `find -exec`, the Grep tool."""

from __future__ import annotations

import os

from onehook.core import wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onehook.policies.bash_expand import Word
    from onehook.policies.shell import Command

MAX_ENTRIES = 5000
# The options that make a command recursive: letters, which may be part of a cluster, and long options.
_LETTERS = {
    "cp": "rRa", "gcp": "rRa", "scp": "r", "rsync": "ra", "grep": "rR", "egrep": "rR", "fgrep": "rR", "ggrep": "rR", "zip": "r",
    "diff": "r", "rm": "rR", "chmod": "R", "chown": "R", "chgrp": "R",
}  # fmt: skip
_LONG = ("--recursive", "--archive", "--dereference-recursive", "--directories=recurse")
ALWAYS = frozenset(["tar", "gtar", "bsdtar", "rg", "ag", "ack", "mv", "gmv", "7z", "7za", "7zr", "rar"])
SEARCHING = frozenset(["grep", "egrep", "fgrep", "ggrep", "rg", "ag", "ack"])
_SKIPPING = ("--exclude", "--exclude-dir", "--ignore", "--ignore-dir", "-x")
_CHOOSING = ("--include", "-g", "--glob", "--iglob", "-G")
_LAST = (".git", "node_modules")  # many files, hardly any of them protected


class Folder(str):
    """A folder that is read recursively, except for what is excluded.

    only: patterns for names of files, one of which has to match. without: names or paths of excluded files and folders. hidden: whether
    names with a leading dot count.
    """

    __slots__ = ("hidden", "only", "without")
    only: tuple[str, ...]
    without: tuple[str, ...]
    hidden: bool

    def __new__(cls, path: str, only: Sequence[str] = (), without: Sequence[str] = (), hidden: bool = True) -> Folder:
        folder = super().__new__(cls, path)
        folder.only, folder.without, folder.hidden = tuple(only), tuple(without), hidden
        return folder

    def at(self, path: str) -> Folder:
        return Folder(path, self.only, self.without, self.hidden)

    def files(self, cwd: str) -> Iterator[str]:
        """The files that are in it now, those nearest to the top first; at most MAX_ENTRIES entries are examined."""
        start = os.path.join(cwd, os.path.expanduser(self))
        waiting, seen = [""], 0
        last: list[str] = []
        while waiting or last:
            inside = waiting.pop(0) if waiting else last.pop(0)
            try:
                entries = sorted(os.scandir(os.path.join(start, inside)), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                seen += 1
                path = os.path.join(inside, entry.name)
                if seen > MAX_ENTRIES:
                    return
                if self._left_out(path, entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    (last if entry.name in _LAST else waiting).append(path)
                elif not self.only or any(wildcard(name, entry.name) for name in self.only):
                    yield os.path.join(self, path)

    def _left_out(self, path: str, name: str) -> bool:
        return (not self.hidden and name.startswith(".")) or any(wildcard(out, name) or wildcard(out, path) for out in self.without)


def is_deep(command: Command) -> bool:
    """Whether a command treats the folders among its operands recursively."""
    if command.name in ALWAYS:
        return True
    letters = _LETTERS.get(command.name, "")
    return any(word in _LONG or (word[:1] == "-" != word[1:2] and any(c in word for c in letters)) for word in command.argv[1:])


def searched_without_operand(command: Command, words: Sequence[Word]) -> bool:
    """`grep -r text` and `rg text` search the current folder."""
    return command.name in SEARCHING and not words


def as_read_by(command: Command, path: str) -> Folder:
    """A folder, without what the command's options exclude."""
    only, without = [], []
    for word, following in zip(command.argv[1:], [*command.argv[2:], ""]):
        option, equals, value = word.partition("=")
        given = value if equals else following
        if option in _SKIPPING:
            without.append(_plain(given))
        elif option in _CHOOSING and given[:1] == "!":
            without.append(_plain(given[1:]))
        elif option in _CHOOSING and command.name in SEARCHING:
            only.append(given.rpartition("/")[2])
    shows_hidden = any(
        word in ("--hidden", "-.", "--unrestricted") or (word[:1] == "-" != word[1:2] and "u" in word) for word in command.argv
    )
    return Folder(path, only, without, hidden=command.name not in ("rg", "ag") or shows_hidden)


def _plain(glob: str) -> str:
    return str(glob).removeprefix("./").removeprefix("**/").removesuffix("/**").removesuffix("/*").rstrip("/")


def found_by(command: Command) -> list[Folder]:
    """Where a `find` looks, and for which names."""
    args = command.argv[1:]
    end = next((at for at, word in enumerate(args) if word[:1] in ("-", "(", "!")), len(args))
    roots = [str(word) for word in args[:end] if word.known] or ["."]
    names = [str(value) for option, value in zip(args, args[1:]) if option in ("-name", "-iname")]
    either = any(word in ("!", "-not", "-o", "-or", ",") for word in args)
    return [Folder(root, () if either else names) for root in roots]
