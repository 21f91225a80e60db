"""Typical hooks of a project that uses Claude Code, to import and run on every agent. Each saves what it received."""

from __future__ import annotations

import json
from typing import Any

CONFIG = ".claude/settings.json"
# name -> (event, matcher, more settings of the hook)
HOOKS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "guard": ("PreToolUse", "Bash", {"onFailure": "block", "timeout": 5}),
    "secrets": ("PreToolUse", "Read|Write|Edit|MultiEdit", {}),
    "mcp": ("PreToolUse", "mcp__proof__.*", {}),
    "push": ("PreToolUse", "Bash", {"if": "Bash(git push*)"}),
    "typescript": ("PreToolUse", "Write|Edit", {"if": "Write(src/**/*.ts)"}),
    "format": ("PostToolUse", "Edit|Write", {"statusMessage": "formatting"}),
    "lint": ("PostToolUse", "*", {}),
    "context": ("SessionStart", "startup|resume", {}),
    "compacted": ("SessionStart", "compact", {}),
    "prompt": ("UserPromptSubmit", None, {}),
    "stop": ("Stop", None, {"timeout": 120}),
    "subagent": ("SubagentStop", None, {}),
}
_SCRIPT = """#!/bin/sh
# {name}: saves what it received.
cat > "$CLAUDE_PROJECT_DIR/log/{name}"
{answer}
"""
_ANSWERS = {
    "guard": 'grep -q "rm -rf" "$CLAUDE_PROJECT_DIR/log/guard" && {{ echo "{reason}" >&2; exit 2; }}; exit 0',
    "context": 'echo "the branch is frozen"',
}


def command(name: str) -> str:
    return f'"$CLAUDE_PROJECT_DIR"/.claude/hooks/{name}.sh'


def settings() -> dict[str, Any]:
    """The content of the project's .claude/settings.json."""
    hooks: dict[str, list[Any]] = {}
    for name, (event, matcher, more) in HOOKS.items():
        group = {} if matcher is None else {"matcher": matcher}
        hooks.setdefault(event, []).append({**group, "hooks": [{"type": "command", "command": command(name), **more}]})
    return {"permissions": {"allow": ["Bash(ls:*)"]}, "hooks": hooks}


def scripts(reason: str) -> dict[str, str]:
    """The hooks' scripts; the guard blocks `rm -rf`, for this reason."""
    answers = {name: _ANSWERS.get(name, "").format(reason=reason) for name in HOOKS}
    return {f".claude/hooks/{name}.sh": _SCRIPT.format(name=name, answer=answers[name]) for name in HOOKS}


def files(reason: str) -> dict[str, str]:
    """All files of the project before the import."""
    texts = {"log/README": "the hooks' notes\n", "precious/kept.txt": "kept\n", "src/b.ts": "let b = 2\n"}
    return {CONFIG: json.dumps(settings(), indent=2) + "\n", **texts, **scripts(reason)}


def wrongly_told(name: str, note: str | None) -> str:
    """What is wrong with what a hook saved; "" if it received its event in Claude Code's format."""
    if note is None:
        return f"{name} was not started"
    event = HOOKS[name][0]
    try:
        told = json.loads(note)
    except ValueError:
        told = {}
    return "" if told.get("hook_event_name") == event and told.get("session_id") else f"{name} received {note[:80]!r}"
