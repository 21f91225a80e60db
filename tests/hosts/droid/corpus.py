"""Hooks for Factory Droid (.factory/hooks.json)."""

from __future__ import annotations

from tests.corpus.patterns import Agent, Hook, bash, write

AGENT = Agent("droid", ".factory/hooks.json", wrapped=False)

HOOKS = (
    Hook(
        "execute-guard",
        "PreToolUse",
        """jq -e '.tool_input.command | startswith("dd ")' >/dev/null && { echo 'no dd' >&2; exit 2; }; exit 0""",
        (bash("dd if=/dev/zero of=/dev/sda", decision="deny", reason="no dd"), bash("du -sh .")),
        matcher="Execute",
        needs=("jq",),
    ),
    Hook(
        "create-guard",
        "PreToolUse",
        """grep -q '"tool_name":"Create"' && { echo 'no new files' >&2; exit 2; }; exit 0""",
        (write("new.txt", decision="deny", reason="no new files"),),
        matcher="Create|Edit",
    ),
)
