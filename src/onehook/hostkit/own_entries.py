"""What the hosts' own_entries modules share: whether a file has the entry that install writes for an event and a policy, word for word.

On the hot path of an agent that also runs another agent's entries.
"""

from __future__ import annotations

import os
import sys

from onehook.cache import LAUNCHER
from onehook.codec import loads
from onehook.core import OnehookError
from onehook.jsonc import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# What a shell does if a hook could not run, when failing closed on an event that a deny stops. Agents treat exit code 127 or 1, or a
# signal, as a failed hook and continue; exit 2 denies, but on some agents only if stderr is not empty.
GUARD = " || { [ $? -eq 2 ] || echo 'onehook: the hook could not run (blocked: fail=closed)' >&2; exit 2; }"
# A command in resident mode begins with this if it has no guard: dash, which is /bin/sh on many systems, would otherwise wait for it in a
# separate process, which costs about 0.4 ms. A shell that cannot exec ends there, and never reaches what follows.
EXEC = "exec "
_PORTABLE = ".onehook/launch"
_OPTIONS = ("--fail", "--timeout")  # of the command, after its host and event
_LEAST_SECONDS = 10
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_UNQUOTED = _PLAIN | frozenset("@%+=:,/")


def inside(path: str, folder: str) -> bool:
    return os.path.abspath(path).startswith(os.path.join(folder, ""))


def hooks_in(path: str) -> dict[str, Any]:
    """The hooks of a file, by their event; none if the file switches them off."""
    try:
        data = loads(read_regular(path).decode("utf-8"))
    except (OSError, ValueError, OnehookError):
        return {}
    hooks = data.get("hooks") if isinstance(data, dict) and not data.get("disableAllHooks") else None
    return hooks if isinstance(hooks, dict) else {}


def entries(given: object) -> list[dict[str, Any]]:
    return [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []


def beginning(host: str, event: str, policy: str, project: str, folder: str, interpreter: str = "", launcher: str = "") -> str:
    """The beginning of the command that install writes for a policy. `folder`: how it names the project, "" if it does not."""
    policy, launcher = os.path.abspath(policy), launcher or LAUNCHER
    program = f"{_quoted(os.path.abspath(interpreter or sys.executable))} -I -S {_quoted(launcher)}"
    if launcher == os.path.join(project, _PORTABLE):
        program = f"python3 -I -S {folder}/{_PORTABLE}"
    named = f"{folder}/{_quoted(policy[len(os.path.join(project, '')) :])}" if folder else _quoted(policy)
    return f"{program} {named} --host {host} --event {event}"


def same(
    entry: Mapping[str, object], keys: set[str], text: object, seconds: object, begin: str, closed: bool, ends: tuple[str, str]
) -> bool:
    """Whether an entry with exactly these keys runs a command with this beginning. `ends`: its endings if it fails open, and closed."""
    if set(entry) != keys or entry["type"] != "command" or sys.platform == "win32":
        return False
    start = next((start for start in _starts(begin) if isinstance(text, str) and text.startswith(start)), "")
    if not isinstance(text, str) or not start or not isinstance(seconds, (int, float)) or seconds < _LEAST_SECONDS:
        return False
    rest = text[len(start) :]
    fails_closed = " --fail closed" in rest
    end = ends[fails_closed]
    options = rest[: len(rest) - len(end)].split(" ")
    pairs = list(zip(options[1::2], options[2::2]))
    if options[0] or len(options) % 2 == 0 or not all(name in _OPTIONS and value and _PLAIN.issuperset(value) for name, value in pairs):
        return False
    return rest.endswith(end) and fails_closed >= closed


def _starts(begin: str) -> Iterator[str]:
    """The possible beginnings of a command: as it is, and in resident mode, with either client of the onehook that it names."""
    yield begin
    interpreter, _, rest = begin.partition(" -I -S ")
    folder, launcher, _ = rest.partition("/launch.py")
    if not launcher:
        return
    quote = "'" if folder.startswith("'") else ""
    for client in (f"{folder}/resident/onehook-client{quote}", f"{interpreter} -I -S {folder}/resident/client.py{quote}"):
        yield f"{client} {begin}"
        yield f"{EXEC}{client} {begin}"


def _quoted(word: str) -> str:
    """Like shlex.quote, which is slow to import."""
    return word if _UNQUOTED.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"
