"""Whether a person runs this command: what disables a policy must not be started by the agent that the policy is for.

Three things are checked: an agent among the parent processes, a variable that an agent sets for its shell, and, for some commands, a
terminal (desk/people.py).
"""

from __future__ import annotations

import os

from onehook.core import OnehookError
from onehook.desk.people import Process as Process
from onehook.desk.people import agent_above, has_terminal, processes_above
from onehook.log.notes import note


class NotAPerson(OnehookError):
    """An agent, or nobody, runs a command that is for a person."""


def require(act: str, *, terminal: bool = False) -> None:
    """Refuse if an agent runs this, or, with `terminal`, if there is no terminal. The refusal is logged."""
    who = agent_above(os.environ, processes_above()) or ("" if not terminal or has_terminal() else "there is no terminal here")
    if who:
        note("Refused", act, who, by_person=False)
        raise NotAPerson(f"only a person can {act}, in a terminal of their own: {who}")
