"""Whether Grok's own entry answers an event that also reached the entry in Claude Code's settings.

Grok runs the hooks in the user's and the project's Claude Code settings too, so with onehook in both every event would be handled twice.
Seen on 1.0.41: all sources run, in the order ~/.grok, ~/.claude, .claude, .grok, and a denial ends the chain. So the entry in Claude
Code's file stays silent where Grok's own file has the same entry, byte for byte as install writes it for this launcher; in doubt both
answer. A project's files run only in a trusted folder: GROK_HOOK_NAME shows whether this is one of them. Read only for events that
come through Claude Code's entries.
"""

from __future__ import annotations

import os

from onehook.hostkit import own_entries as kit
from onehook.hosts.grok.wire import EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from onehook.hostkit.config import Machine

NAME = "hooks/onehook.json"  # in the folder of a scope
FILE = f".grok/{NAME}"
BORROWS = ("project", "local", "user")
FOLDER = "."  # the project, in an entry of its file

_PROJECT, _HOOK, _HOME = "GROK_WORKSPACE_ROOT", "GROK_HOOK_NAME", "GROK_HOME"
_KEYS = {"type", "command", "timeout"}  # with any other key an entry may run differently
_NATIVE = {row.event: name for name, row in EVENTS.items()}
_ALL = (None, "", "*")


_DOLLAR = "'\\$'"  # replaces a $ inside single quotes


def unexpanded(command: str) -> str:
    """A command without $NAME, which Grok would replace even in quotes. Paths with a $ are in single quotes, which end before it here."""
    parts = command.split("$")
    return "".join((parts[0], *(f"{_DOLLAR}{part}" if part[:1].isalpha() or part[:1] in ("_", "{") else f"${part}" for part in parts[1:])))


def expanded(command: str) -> str:
    return command.replace(_DOLLAR, "$")


def hook_name(stem: str, event: str, group: object, hook: object) -> str:
    """The name that Grok gives an entry of a file, after global/ or project/."""
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in event).lstrip("_")
    return f"{stem}:{snake}[{group}].hooks[{hook}]"


def started_with(machine: Machine, scope: str) -> dict[str, str]:
    moved = {_HOME: machine.variables[_HOME]} if machine.variables.get(_HOME) else {}
    source = "global" if scope == "user" else "project"
    return {_PROJECT: str(machine.project), _HOOK: f"{source}/settings:stop[0].hooks[0]", "HOME": str(machine.home), **moved}


def answers(
    event: str, policy: str, closed: bool, variables: Mapping[str, str] = os.environ, interpreter: str = "", launcher: str = ""
) -> bool:
    """Whether Grok also runs an entry in its own files for this event and policy, with the same program and no laxer options.

    interpreter, launcher: the program that asks, if it is not this process.
    """
    project = variables.get(_PROJECT, "").rstrip("/")
    folder = variables.get(_HOME) or os.path.join(variables.get("HOME", ""), ".grok")
    if not project or not variables.get("HOME") or os.path.exists(os.path.join(folder, "disabled-hooks")):
        return False  # onehook's entry may be disabled

    def has(file: str, within: str) -> bool:
        begin = unexpanded(kit.beginning("grok", event, policy, project, within, interpreter, launcher))
        return any(_runs(group, event, begin, closed) for group in kit.entries(kit.hooks_in(file).get(_NATIVE.get(event, ""))))

    if variables.get(_HOOK, "").startswith("project/") and kit.inside(policy, project) and has(os.path.join(project, FILE), FOLDER):
        return True
    return has(os.path.join(folder, NAME), "")


def _runs(group: Mapping[str, object], event: str, begin: str, closed: bool) -> bool:
    """Whether a group runs the command for every tool."""
    if group.get("matcher") not in _ALL:
        return False
    ends = ("", kit.GUARD if EVENTS[_NATIVE[event]].gates else "")
    return any(
        kit.same(entry, _KEYS, entry.get("command"), entry.get("timeout"), begin, closed, ends) for entry in kit.entries(group.get("hooks"))
    )
