"""Tell whether Copilot's own entry answers an event that also reached the entry in Claude Code's settings.

Copilot also runs the hooks in a project's Claude Code settings, so with onehook in both files every event would be handled twice. Seen on
1.0.102: all sources run, in the order user, repository, .claude, and any deny wins. So the entry in Claude Code's file stays
silent where Copilot's own file has the same entry; in doubt both answer. Read only for events that come through Claude Code's entries.
"""

from __future__ import annotations

import os

from onehook.codec import loads
from onehook.core import OnehookError
from onehook.hosts.copilot.wire import CAMEL_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = ".github/hooks/onehook.json"
PROJECT = "COPILOT_PROJECT_DIR"
BORROWS = ("project", "local")  # of Claude Code's files; ~/.claude/settings.json is not read
_LAUNCHER = "onehook/launch.py"


def answers(event: str, policy: str, closed: bool, variables: Mapping[str, str] = os.environ) -> bool:
    """Whether Copilot also runs an entry of its own for this event and policy, and one that is no laxer."""
    project = variables.get(PROJECT, "")
    folder = os.path.join(project, "")
    policy = os.path.abspath(policy)
    if not project or not policy.startswith(folder):
        return False
    return any(_same(entry, policy[len(folder) :], event, closed) for entry in _entries(os.path.join(project, FILE), event))


def _entries(path: str, event: str) -> list[object]:
    """What Copilot runs for an event, whatever the tool is."""
    try:
        with open(path, encoding="utf-8") as file:
            data = loads(file.read())
    except (OSError, ValueError, OnehookError):
        return []
    hooks = data.get("hooks") if isinstance(data, dict) and not data.get("disableAllHooks") else None
    entries = hooks.get(CAMEL_OF.get(event, "")) if isinstance(hooks, dict) else None
    return [entry for entry in entries if isinstance(entry, dict) and "matcher" not in entry] if isinstance(entries, list) else []


def _same(entry: object, policy: str, event: str, closed: bool) -> bool:
    text = entry.get("bash") if isinstance(entry, dict) else None
    words = [word.strip("\"'") for word in text.split()] if isinstance(text, str) else []
    pairs = list(zip(words, words[1:]))
    return (
        any(word.endswith(_LAUNCHER) for word in words)
        and any(word.replace('"', "").endswith(f"/{policy}") for word in words)
        and ("--event", event) in pairs
        and (("--fail", "closed") in pairs or not closed)
    )
