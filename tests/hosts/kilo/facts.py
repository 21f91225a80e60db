"""Kilo is a fork of OpenCode: what is true there is true here."""

from __future__ import annotations

from tests.hosts.opencode.facts import ANSWER_LOSSES, FIELD_LOSSES, INSTEAD, SAYS_ALLOW, rewrite, tool_as_told

__all__ = ["ANSWER_LOSSES", "FIELD_LOSSES", "INSTEAD", "SAYS_ALLOW", "rewrite", "tool_as_told"]
PERMISSIONS = [
    (
        "project",
        ".kilo/kilo.json",
        {"permission": {"bash": {"terraform *": "deny"}}},
        [("deny", "Bash(terraform *)")],
        [],
    ),
    (
        "project",
        "opencode.json",
        {"permission": {"bash": {"terraform *": "deny"}}},
        [("deny", "Bash(terraform *)")],
        [],
    ),
    (
        "project",
        ".kilocode/kilo.jsonc",
        {"permission": {"bash": {"terraform *": "deny"}}},
        [("deny", "Bash(terraform *)")],
        [],
    ),
]
