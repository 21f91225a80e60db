"""Tell whether Copilot's own entry answers an event that also reached the entry in Claude Code's settings.

Copilot also runs the hooks in a project's Claude Code settings, so with onehook in both files every event would be handled twice. Seen on
1.0.102: all sources run, in the order user, repository, .claude, and any deny wins. So the entry in Claude Code's file stays
silent where Copilot's own file has the same entry, byte for byte as install writes it for this launcher; in doubt both answer. Read only
for events that come through Claude Code's entries.
"""

from __future__ import annotations

import os

from onehook.hostkit import own_entries as kit
from onehook.hosts.copilot.wire import CAMEL_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from onehook.hostkit.config import Machine

FILE = ".github/hooks/onehook.json"
BORROWS = ("project", "local")  # scopes of Claude Code's files; ~/.claude/settings.json is not read
FOLDER = '"${CLAUDE_PROJECT_DIR:-.}"'  # the project, in an entry: Copilot sets the variable too, and its hooks start in the project
# Every exit code except 0 denies, even that of a shell that finds no interpreter. When failing open, only the answer on stdout decides.
GOES_ON = " || true"

_PROJECT = "COPILOT_PROJECT_DIR"
_KEYS = {"type", "bash", "powershell", "timeoutSec"}  # of an entry for every tool; with any other key it may not run, or run differently


def started_with(machine: Machine, scope: str) -> dict[str, str]:
    return {_PROJECT: str(machine.project)}


def answers(
    event: str, policy: str, closed: bool, variables: Mapping[str, str] = os.environ, interpreter: str = "", launcher: str = ""
) -> bool:
    """Whether Copilot also runs an entry in its own files for this event and policy, with the same program and no laxer options.

    interpreter, launcher: the program that asks, if it is not this process.
    """
    project = variables.get(_PROJECT, "")
    if not project or not kit.inside(policy, project):
        return False
    hooks = kit.hooks_in(os.path.join(project, FILE))
    begin = kit.beginning("copilot", event, policy, project, FOLDER, interpreter, launcher)
    return any(
        kit.same(entry, _KEYS, entry.get("bash"), entry.get("timeoutSec"), begin, closed, (GOES_ON, ""))
        for entry in kit.entries(hooks.get(CAMEL_OF.get(event, "")))
    )
