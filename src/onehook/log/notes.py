"""Lines of the log that are not about an event of an agent: what a person has done to the policies."""

from __future__ import annotations

import sys
import time

from onehook.core import Options
from onehook.log.files import entry_about
from onehook.logger import append, new_id, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def note(event: str, subject: str, reason: str = "", *, until: float = 0, rules: Sequence[str] = (), by_person: bool = True) -> None:
    """Add a line about something that a person has done, or that was refused. If that is not possible, a warning goes to stderr."""
    now = time.time()
    pause = {"until": stamp(until), "rules": list(rules), "reason": reason} if until else None
    told = {"reason": reason, "pause": pause, "approver": _user() if by_person else None}
    try:
        append(entry_about(stamp(now), new_id(now), event, subject, **told), Options())
    except OSError as error:
        print(f"[onehook] this was not logged: {error}", file=sys.stderr)


def _user() -> str | None:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name
        return None
