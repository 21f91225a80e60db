"""How hooks learn about a compaction: a program for Claude Code that saves what it received, and policies that do the same.

They must be called exactly once. A host that calls them for every request would prove nothing about compactions.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from onehook.prove.evidence import Evidence

KEPT = "compactions.jsonl"

MANIFEST = """[[hook]]
events = ["SessionStart"]
sources = ["compact"]
run = ["./keep.sh"]
speaks = "claude"
timeout = 10
"""
FILES = {".hooks/keep.sh": f'#!/bin/sh\n{{ cat; echo; }} >> "$CLAUDE_PROJECT_DIR/{KEPT}"\n'}


def keeping(event: str) -> str:
    """The body of a policy that keeps the name of each event of this kind."""
    lines = [
        "import json, os",
        f'@hooks.on("{event}")',
        "def handler(event):",
        f'    with open(os.path.join(event.cwd, "{KEPT}"), "a") as file:',
        '        file.write(json.dumps({"hook_event_name": event.event}) + "\\n")',
    ]
    return "\n".join(lines) + "\n"


def told_once(**fields: str) -> Callable[[Evidence], bool]:
    """Whether exactly one event was received, with these fields."""

    def seen(evidence: Evidence) -> bool:
        kept = [json.loads(line) for line in (evidence.text(KEPT) or "").splitlines() if line.strip()]
        return evidence.acted and [{name: told.get(name) for name in fields} for told in kept] == [fields]

    return seen
