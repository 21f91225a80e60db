"""Hermes Agent: the commands that a person has allowed (0.19.0), each for one event. Without a terminal it does not ask."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any

from onehook.hostkit.config import Found, Machine, Place
from onehook.hostkit.trust import Grant
from onehook.hosts.hermes.config import hermes_folder, places
from onehook.textedit.document import ConfigError, Document

LEVEL = "fail"
EFFECT = "it does not run them, and a session without a terminal does not even ask (a run with -z accepts all hooks)"
ASKS = "start hermes in a terminal and allow them"
_YES = ("1", "true", "yes", "on")


def store(machine: Machine) -> Place:
    folder = hermes_folder(machine)
    return Place("user", folder / "shell-hooks-allowlist.json", "json", machine.scope_of(folder))


def needed(machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
    if machine.variables.get("HERMES_ACCEPT_HOOKS", "").strip().lower() in _YES or _accepts_all(machine):
        return []
    approvals = stored.get("approvals") if isinstance(stored, dict) else None
    known = {(one.get("event"), one.get("command")) for one in approvals if isinstance(one, dict)} if isinstance(approvals, list) else set()
    lacking = [entry for entry in ours if (entry.event, entry.item["command"].strip()) not in known]
    by = ("event", "command")
    return [Grant(("approvals",), _approval(entry), f"the hook for {entry.event}", listed=True, by=by) for entry in lacking]


def _accepts_all(machine: Machine) -> bool:
    place = places(machine)[0]
    try:
        data = Document(place.path, place.format).data()
    except ConfigError:
        return False
    said = data.get("hooks_auto_accept") if isinstance(data, dict) else None
    return said is True or (isinstance(said, str) and said.strip().lower() in _YES)


def _approval(entry: Found) -> dict[str, Any]:
    """What answering its own question writes: the program's modification time, by which `hermes hooks doctor` detects later changes."""
    command = entry.item["command"].strip()
    now = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
    return {"event": entry.event, "command": command, "approved_at": now, "script_mtime_at_approval": _changed_at(command.split(" ")[0])}


def _changed_at(program: str) -> str | None:
    try:
        return datetime.fromtimestamp(os.path.getmtime(program), timezone.utc).isoformat().replace("+00:00", "Z")
    except OSError:
        return None
