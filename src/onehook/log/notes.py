"""Lines of the log that are not about an event of an agent: what was done to the policies, or to the log itself."""

from __future__ import annotations

import sys
import time

from onehook.core import Options
from onehook.logger import append, new_id, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def note(event: str, subject: str, reason: str = "", *, until: float = 0, rules: Sequence[str] = (), by_person: bool = True) -> None:
    """Add a line about something that a person has done, or that was refused. If that is not possible, stderr says so."""
    pause = {"until": stamp(until), "rules": list(rules), "reason": reason} if until else None
    try:
        append(entry_about(event, subject, reason=reason, pause=pause, approver=_user() if by_person else None), Options())
    except OSError as error:
        print(f"[onehook] this was not logged: {error}", file=sys.stderr)


def entry_about(event: str, subject: str, **fields: Any) -> dict[str, Any]:
    """A line whose agent is onehook itself."""
    now = time.time()
    blank = dict.fromkeys(("agent_version", "session", "project"), "")
    return {
        "time": stamp(now), "id": new_id(now), "agent": "onehook", **blank, "event": event, "tool": "", "subject": subject,
        "decision": "none", "would": None, "by": [], "reason": "", "effects": [], "dropped": [], "error": "", "ms": 0, "policy": "",
        "policy_hash": "", "mode": "enforce", "pause": None, "approver": None, **fields,
    }  # fmt: skip


def _user() -> str | None:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name
        return None
