"""Tell whether Copilot's own entry answers an event that also reached the entry in Claude Code's settings.

Copilot also runs the hooks in a project's Claude Code settings, so with onehook in both files every event would be handled twice. Seen on
1.0.102: all sources run, in the order user, repository, .claude, and any deny wins. So the entry in Claude Code's file stays
silent where Copilot's own file has the same entry, byte for byte as install writes it for this launcher; in doubt both answer. Read only
for events that come through Claude Code's entries.
"""

from __future__ import annotations

import os
import sys

from onehook.cache import LAUNCHER
from onehook.codec import loads
from onehook.core import OnehookError
from onehook.hosts.copilot.wire import CAMEL_OF
from onehook.jsonc import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = ".github/hooks/onehook.json"
PROJECT = "COPILOT_PROJECT_DIR"
BORROWS = ("project", "local")  # of Claude Code's files; ~/.claude/settings.json is not read
FOLDER = '"${CLAUDE_PROJECT_DIR:-.}"'  # the project, in an entry: Copilot sets the variable too, and its hooks start in the project
# Every exit code but 0 denies, that of a shell which finds no interpreter too. Under fail open the answer on stdout alone decides.
GOES_ON = " || true"

_PORTABLE = ".onehook/launch"
_KEYS = {"type", "bash", "powershell", "timeoutSec"}  # of an entry for every tool; with any other key it may not run, or differently
_OPTIONS = ("--fail", "--timeout")  # of the command, after its host and event
_LEAST_SECONDS = 10
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_UNQUOTED = _PLAIN | frozenset("@%+=:,/")


def answers(
    event: str, policy: str, closed: bool, variables: Mapping[str, str] = os.environ, interpreter: str = "", launcher: str = ""
) -> bool:
    """Whether Copilot also runs an entry of its own for this event and policy, with the same program, and one that is no laxer.

    interpreter, launcher: the program that asks, if it is not this process.
    """
    project = variables.get(PROJECT, "")
    folder = os.path.join(project, "")
    policy = os.path.abspath(policy)
    if not project or not policy.startswith(folder):
        return False
    launcher = launcher or LAUNCHER
    program = f"{_quoted(os.path.abspath(interpreter or sys.executable))} -I -S {_quoted(launcher)}"
    if launcher == os.path.join(project, _PORTABLE):
        program = f"python3 -I -S {FOLDER}/{_PORTABLE}"
    begin = f"{program} {FOLDER}/{_quoted(policy[len(folder) :])} --host copilot --event {event}"
    return any(_same(entry, begin, closed) for entry in _entries(os.path.join(project, FILE), event))


def _quoted(word: str) -> str:
    """As shlex.quote, which is slow to import."""
    return word if _UNQUOTED.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def _entries(path: str, event: str) -> list[object]:
    """What Copilot runs for an event, whatever the tool is."""
    try:
        data = loads(read_regular(path).decode("utf-8"))
    except (OSError, ValueError, OnehookError):
        return []
    hooks = data.get("hooks") if isinstance(data, dict) and not data.get("disableAllHooks") else None
    entries = hooks.get(CAMEL_OF.get(event, "")) if isinstance(hooks, dict) else None
    return entries if isinstance(entries, list) else []


def _same(entry: object, begin: str, closed: bool) -> bool:
    if not isinstance(entry, dict) or set(entry) != _KEYS or entry["type"] != "command" or sys.platform == "win32":
        return False
    text, seconds = entry["bash"], entry["timeoutSec"]
    if not isinstance(text, str) or not text.startswith(begin) or not isinstance(seconds, (int, float)) or seconds < _LEAST_SECONDS:
        return False
    goes_on = text.endswith(GOES_ON)
    options = text[len(begin) : -len(GOES_ON) if goes_on else None].split(" ")
    pairs = list(zip(options[1::2], options[2::2]))
    if options[0] or len(options) % 2 == 0 or not all(name in _OPTIONS and value and _PLAIN.issuperset(value) for name, value in pairs):
        return False
    fails_closed = ("--fail", "closed") in pairs
    return goes_on != fails_closed and fails_closed >= closed
