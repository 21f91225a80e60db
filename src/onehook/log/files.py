"""The files of the log, and their lines."""

from __future__ import annotations

import os

from onehook.codec import loads
from onehook.core import PayloadError
from onehook.system import log_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

START = "0" * 64  # the hash before the first line


def log_files(folder: str, ending: str = ".jsonl") -> list[str]:
    """The files of the log in the order of their lines: by day, and by part."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(ending) and name[:4].isdigit()]
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names, key=order)]


def order(name: str) -> tuple[str, int]:
    """By the name of a file: its day, and its part of that day."""
    part = name[11:].partition(".")[0]
    return name[:10], int(part) if part.isdigit() else 1


def next_file(name: str, today: str) -> str:
    """The file after this one: 2026-11-16.jsonl, and 2026-11-16.2.jsonl where that is too large."""
    if name[:10] != today:
        return log_file(today)
    return f"{today}.{order(name)[1] + 1}.jsonl"


def parsed(line: bytes) -> dict[str, Any] | None:
    """A line of the log; None if it is not one."""
    try:
        entry = loads(line.decode("ascii"))
    except (PayloadError, ValueError):
        return None
    return entry if isinstance(entry, dict) else None


def entry_about(time: str, id: str, event: str, subject: str, **fields: Any) -> dict[str, Any]:
    """A line that is not about an event of an agent: the agent is onehook itself."""
    blank = dict.fromkeys(("agent_version", "session", "project"), "")
    return {
        "time": time, "id": id, "agent": "onehook", **blank, "event": event, "tool": "", "subject": subject, "decision": "none",
        "would": None, "by": [], "reason": "", "effects": [], "dropped": [], "error": "", "ms": 0, "policy": "", "policy_hash": "",
        "mode": "enforce", "pause": None, "approver": None, **fields,
    }  # fmt: skip
