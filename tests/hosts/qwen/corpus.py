"""Hooks for Qwen Code (.qwen/settings.json)."""

from __future__ import annotations

from tests.corpus.patterns import Agent, Hook, bash, prompt, stop

AGENT = Agent("qwen", ".qwen/settings.json")

HOOKS = (
    Hook(
        "shell-deny",
        "PreToolUse",
        """grep -q '"command":"kill' && { echo 'ask the owner' >&2; exit 2; }; exit 0""",
        (bash("kill -9 1", decision="deny", reason="ask the owner"), bash("ps")),
        matcher="run_shell_command",
    ),
    Hook(
        "prompt-hint",
        "UserPromptSubmit",
        """cat >/dev/null; echo '{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "answer in German"}}'""",
        (prompt("hallo", context="answer in German"),),
    ),
    Hook(
        "stop-more",
        "Stop",
        """cat >/dev/null; echo '{"decision": "block", "reason": "format the code"}'""",
        (stop(decision="deny", reason="format the code"),),
    ),
)
