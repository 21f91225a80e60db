"""Facts about Pi for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

SAYS_ALLOW = frozenset({"tool"})
FAILURES = True
INSTEAD = {"compacted": ("PostCompact", "", {}), "subagent": ("PostToolUse", "Agent", {"prompt": "look around"})}
START_WORDS = {"startup": "startup", "resume": "resume", "fork": "fork"}
TRUST_FILES = ('{"DIR": true}\n', '{\n  "DIR": false\n}\n')
OTHER_SETTINGS = False


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"args": updated}
