"""The file to which programs write variables for the commands of a session (Claude Code's CLAUDE_ENV_FILE), on agents that have none.

On those agents, a command is rewritten so that it reads the file first.
"""

from __future__ import annotations

import os

from onehook.core import Response
from onehook.places import state_folder
from onehook.sweep import hashed, sweep_sometimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.core import Event

EVENTS = ("SessionStart", "Setup", "CwdChanged", "FileChanged")  # on which programs may write it


def place(event: Event) -> str:
    """The session's file, in an existing folder; "" if that is not possible."""
    path = _path(event)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if not os.path.exists(path):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            sweep_sometimes(state_folder())
    except OSError:
        return ""
    return path


def applied(event: Event, answer: Response) -> Response:
    """The answer to a shell command, which reads the session's variables first if there are any."""
    path = _path(event)
    try:
        if answer.decision == "deny" or not os.stat(path).st_size:
            return answer
    except OSError:
        return answer
    rewritten = answer.modified_input or {}
    command = rewritten.get("command", event.command)
    return answer.copy(modified_input={**rewritten, "command": f"{_reading(path)}{command}"})


def original(event: Event, session: Event) -> Event:
    """An event of a session with its command as the agent wanted to run it: a hook does not see onehook's own rewrite."""
    reading = _reading(_path(session))
    return event.rewritten({"command": event.command[len(reading) :]}) if event.command.startswith(reading) else event


def _reading(path: str) -> str:
    quoted = path.replace("'", "'\\''")
    return f". '{quoted}'; "


def _path(event: Event) -> str:
    return os.path.join(state_folder(), "variables", f"{hashed((event.host, event.session_id))}.sh")
