"""Which files a shell command reads or changes, as far as its words show."""

from __future__ import annotations

import os

from onehook.core import HandlerError, wildcard
from onehook.policies.bash_wrappers import AFTER_VERB, CONTAINERS, PLAIN, SPECIAL_WRAPPERS
from onehook.policies.danger_files import WRITE_OPS, operands
from onehook.policies.danger_paths import HERE_MARKS, HOME_MARKS
from onehook.policies.folders import Folder, as_read_by, found_by, is_deep, searched_without_operand
from onehook.policies.scripts import started
from onehook.policies.shell import Command, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onehook.core import Event
    from onehook.policies.bash_expand import Word

    File = tuple[str, str, bool]

MAX_LISTED = 10_000
LEFT_OUT = ("--exclude", "--include", "--ignore")  # their values are patterns
UNKNOWN = "\0\0"  # a word that another command produces
# Programs whose arguments are strings or names, not files that they open.
NAMING = frozenset([
    "echo", "printf", "ls", "dir", "test", "[", "[[", "cd", "pushd", "popd", "find", "which", "type", "command", "basename", "dirname",
    "realpath", "readlink", "mkdir", "rmdir", "stat", "export", "set", "unset", "alias", "true", "false", "exit", "kill", "sleep", "read",
    "let", "declare", "local", "man", "help",
])  # fmt: skip
CHANGING = frozenset([
    "rm", "grm", "srm", "rimraf", "del-cli", "trash", "trash-put", "unlink", "shred", "truncate", "touch", "tee", "chmod", "chown", "chgrp",
    "chattr", "setfacl", "mv", "gmv",
])  # fmt: skip
COPYING = frozenset(["cp", "gcp", "install", "ln", "rsync", "scp"])
# Their first operand is a pattern or a program.
SEARCHING = frozenset(["grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "jq", "yq", "perl"])
GIT_FILES = frozenset(["add", "diff", "show", "checkout", "restore", "rm", "mv", "blame", "cat-file", "stash", "apply", "annotate"])
GIT_CHANGES = frozenset(["checkout", "restore", "rm", "mv"])
# What these run is listed as a separate command.
RUNNING = frozenset([*PLAIN, *AFTER_VERB, *SPECIAL_WRAPPERS]) - {"git", "tar", "gtar", "bsdtar", "busybox", "toybox", *CONTAINERS}


def touched_files(text: str, cwd: str) -> Iterator[File]:
    """(file, what touches it, whether it is changed) for every command that the text would run."""
    script = parse(text)
    if script.cut:
        raise HandlerError("the command is too long, too deeply nested or incomplete, so its files cannot be checked")
    commands = list(script.commands)
    return files_of([*commands, *(below for command in commands for below in started(command))], cwd)


def files_of_tool(event: Event) -> list[str]:
    """The files and folders that a file tool reads; a search reads the contents of all files below its folder, or the project's."""
    if event.tool != "Grep":
        return list(event.paths)
    glob = event.tool_input.get(event._tool.key("glob") if event._tool else "glob")
    only = (glob.rpartition("/")[2],) if isinstance(glob, str) and glob and glob[0] != "!" and "{" not in glob else ()
    return [Folder(path, only) for path in event.paths or [event.cwd or "."]]


def files_of(commands: Iterable[Command], cwd: str) -> Iterator[File]:
    """The same for parsed commands. A path is relative to the folder that the script starts in, whatever `cd` comes before.

    A folder that is read with everything in it is a Folder.
    """
    folder = ""
    found: list[Folder] = []
    for command in commands:
        here = os.path.join(cwd, folder) if folder else cwd
        for word, writes in (*_redirected(command), *_argument_files(command)):
            for name in _names(word, here):
                yield _named(command, name, folder, here), command.name or "a redirect", writes
        if found and command.name not in NAMING and command.name not in RUNNING and any(word == UNKNOWN for word in command.argv[1:]):
            for tree in found:  # `find -exec cat {} +`, `find | xargs cat`, `cat $(find)`
                yield tree, command.name, command.name in CHANGING
        if command.name in ("find", "gfind"):
            found = [tree.at(os.path.join(folder, tree)) for tree in found_by(command)]
            if "-delete" in command.argv:
                yield from ((tree, "find", True) for tree in found)
        if command.name in ("cd", "pushd"):
            folder = _entered(folder, operands(command))


def _named(command: Command, name: str, folder: str, here: str) -> str:
    path = os.path.join(folder, name) if folder else str(name)
    if isinstance(name, Folder):
        return name.at(path)
    return as_read_by(command, path) if is_deep(command) and os.path.isdir(os.path.join(here, name)) else path


def _entered(folder: str, words: list[Word]) -> str:
    """The folder that a `cd` leads to; if that is unknown, the folder stays the same."""
    if len(words) != 1 or not words[0].known or words[0] == "-":
        return folder
    return os.path.join(folder, os.path.expanduser(words[0]) if words[0].tilde else str(words[0]))


def _redirected(command: Command) -> list[tuple[Word, bool]]:
    return [(r.target, r.op in WRITE_OPS) for r in command.redirects if r.op not in ("<<", "<<<")]


def _argument_files(command: Command) -> list[tuple[Word, bool]]:
    name, words = command.name, operands(command)
    # for example in --env-file=.env and if=.env
    values = [type(word)(word.partition("=")[2], word.glob) for word in command.argv[1:] if "=" in word and not word.startswith(LEFT_OUT)]
    if name in NAMING or name in RUNNING or not name:
        return []
    if name in CHANGING:
        return [(word, True) for word in words]
    if name in COPYING:
        return [*((word, False) for word in words[:-1]), *((word, True) for word in words[-1:])]
    if name == "dd":
        return [(value, word.startswith("of=")) for word, value in zip((w for w in command.argv[1:] if "=" in w), values)]
    if name == "git":
        return _git_files(words)
    if name in SEARCHING:
        in_place = name in ("sed", "perl", "gawk") and any(w.startswith(("-i", "--in-place")) or w == "-pi" for w in command.argv[1:])
        given = any(w in ("-e", "-f", "--expression", "--file", "--regexp") for w in command.argv[1:])
        files = words if given else words[1:]
        if searched_without_operand(command, files) and is_deep(command):
            files = [type(command.argv[0])(".")]
        return [(word, in_place) for word in files]
    return [(word, False) for word in (*words, *values)]


def _git_files(words: list[Word]) -> list[tuple[Word, bool]]:
    verb = words[0] if words else ""
    if verb not in GIT_FILES:
        return []
    # HEAD:.env is a file in a commit.
    return [(type(word)(word.rpartition(":")[2] or word, word.glob), verb in GIT_CHANGES) for word in words[1:]]


def _names(word: Word, cwd: str) -> list[str]:
    """The file that a word names; for a glob, those that it matches now."""
    text = os.path.expanduser(word) if word.tilde else str(word)
    for marks, folder in ((HERE_MARKS, cwd or "."), (HOME_MARKS, os.path.expanduser("~"))):
        for mark in marks:
            text = text.replace(mark, folder)
    if "\0" in text:  # $DIR/.env: wherever $DIR is, the name is .env
        tail = text.rpartition("\0")[2]
        text = tail.rpartition("/")[2] if "/" in tail else ""
    if not text:
        return []
    if not word.glob:
        return [text]
    folder, _, pattern = text.rpartition("/")
    if any(c in "*?[" for c in folder):
        start = folder[: min(folder.find(c) for c in "*?[" if c in folder)].rpartition("/")[0]
        return [Folder(start or ("/" if folder[:1] == "/" else "."), (_without_brackets(pattern),))]
    try:
        present = os.listdir(os.path.join(cwd, folder) or ".")[:MAX_LISTED]
    except OSError:
        return [text]
    plain = _without_brackets(pattern)
    shown = [name for name in present if wildcard(plain, name) and (pattern.startswith((".", "[")) or not name.startswith("."))]
    return [os.path.join(folder, name) for name in shown] or [text]


def _without_brackets(pattern: str) -> str:
    """The pattern with ? for [abc], so as to match too many names rather than too few."""
    out, at = "", 0
    while at < len(pattern):
        close = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        out += "?" if close > 0 else pattern[at]
        at = close + 1 if close > 0 else at + 1
    return out
