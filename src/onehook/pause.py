"""`onehook pause`: for a while, nothing takes effect, or one rule does not. Decisions are still computed and reported.

A pause is a file in the user's state folder. An event checks whether it exists, which is one stat, and loads this module only if it does.
The file is accepted only as `onehook pause` writes it: a regular file that the user owns and nobody else can read or write, with an end
that is no further away than the longest pause. Anything else is ignored and reported on stderr: a badly forged pause has no effect.
"""

from __future__ import annotations

import os
import sys
import time

from onehook.codec import dumps, loads
from onehook.core import Pause, PayloadError, Response, merge
from onehook.places import replace_file
from onehook.system import PAUSE_FILE, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from onehook.core import Event
    from onehook.hosts import Wire

LONGEST = 8 * 3600  # seconds
_MAX_BYTES = 1 << 16
_CLOCK = 60  # seconds by which clocks may differ


def in_force(path: str, managed: bool = False) -> Pause | None:
    """The pause in a file, if it is in force now. managed: as in Pause."""
    try:
        return _joined(standing(_read(path)), managed)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, PayloadError) as error:
        print(f"[onehook] {path} is ignored: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return None


def _joined(pauses: list[dict[str, Any]], managed: bool) -> Pause | None:
    whole = [pause for pause in pauses if not pause["rule"]]
    counted = whole or pauses
    if not counted:
        return None
    reason = next((pause["reason"] for pause in counted if pause["reason"]), "")
    rules = () if whole else tuple(pause["rule"] for pause in pauses)
    return Pause(max(pause["until"] for pause in counted), rules, reason, managed)


def entries() -> list[dict[str, Any]]:
    """The pauses that are in force now: each with `rule` ("" for everything), `since`, `until` and `reason`."""
    try:
        return standing(_read(_file()))
    except (OSError, ValueError, PayloadError):
        return []


def standing(pauses: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    now = time.time()
    return [pause for pause in pauses if pause["since"] <= now + _CLOCK and now < pause["until"] <= pause["since"] + LONGEST]


def _file() -> str:
    return os.path.join(state_folder(), PAUSE_FILE)


def _read(path: str) -> list[dict[str, Any]]:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_mode & 0o170000 != 0o100000:
            raise ValueError("it is not a regular file")
        if os.name != "nt" and (status.st_uid != os.getuid() or status.st_mode & 0o077):
            raise ValueError("users other than its owner can read or write it, or somebody else owns it")
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError("it is too large")
    pauses = loads(data.decode("utf-8"))
    if not isinstance(pauses, list) or not all(_is_entry(pause) for pause in pauses):
        raise ValueError("it was not written by onehook pause")
    return pauses


def _is_entry(pause: object) -> bool:
    texts, times = ("rule", "reason"), ("since", "until")
    return (
        isinstance(pause, dict)
        and set(pause) == {*texts, *times}
        and all(isinstance(pause[key], str) for key in texts)
        and all(isinstance(pause[key], (int, float)) and not isinstance(pause[key], bool) for key in times)
    )


# --- what an event reports about it --------------------------------------------------------------------------------------------------


def told(pause: Pause) -> str:
    """The pause in one line, for a person."""
    what = f"paused until {clock(pause.until)}"
    what = f"{', '.join(pause.rules)} {'are' if len(pause.rules) > 1 else 'is'} {what}" if pause.rules else what
    return f"{what} ({pause.reason})" if pause.reason else what


def clock(when: float) -> str:
    return time.strftime("%H:%M", time.localtime(when))


def announced(pause: Pause, wire: Wire, event: Event, response: Response, noise: str) -> tuple[Response, str]:
    """An answer while there is a pause: a line on stderr, and at the start of a session a message, to the user if the agent can."""
    noise = "\n".join(part for part in (f"[onehook] {told(pause)}", noise) if part)
    if event.event != "SessionStart":
        return response, noise
    text = f"onehook: {told(pause)}. `onehook resume` ends the pause."
    caps = wire.caps(event)
    if caps["user_message"].kind == "honoured":
        response = merge(response, Response(user_message=text))
    elif caps["additional_context"].kind == "honoured":
        response = merge(response, Response(additional_context=text))
    return response, noise


# --- what `onehook pause` and `onehook resume` write -----------------------------------------------------------------------------------


def add(rule: str, seconds: float, reason: str) -> dict[str, Any]:
    """Pause a rule, or everything; returns the entry. An earlier pause of the same is replaced."""
    now = time.time()
    entry = {"rule": rule, "since": now, "until": now + seconds, "reason": reason}
    pauses = [*(pause for pause in entries() if pause["rule"] != rule), entry]
    replace_file(_file(), f"{dumps(pauses)}\n".encode("ascii"))
    return entry


def remove() -> list[dict[str, Any]]:
    """End every pause; returns those that were in force."""
    ended = entries()
    try:
        os.unlink(_file())
    except FileNotFoundError:
        pass
    return ended
