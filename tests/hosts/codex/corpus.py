"""Hooks for Codex CLI (.codex/hooks.json)."""

from __future__ import annotations

from tests.corpus.patterns import Agent, Hook, Moment, bash, prompt, start, stop

AGENT = Agent("codex", ".codex/hooks.json")
DIR = ".codex/hooks"

HOOKS = (
    Hook(
        "shell-guard",
        "PreToolUse",
        f"python3 {DIR}/guard.py",
        (bash("pip install requests", decision="deny", reason="uv"), bash("uv add requests")),
        matcher="Bash",
        path=f"{DIR}/guard.py",
        script="""import json, sys
if json.load(sys.stdin)["tool_input"]["command"].startswith("pip install"):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                             "permissionDecisionReason": "use uv add"}}))
""",
    ),
    Hook(
        "stderr-deny",
        "PreToolUse",
        "grep -q 'mkfs' && { echo 'no disks' >&2; exit 2; }; exit 0",
        (bash("mkfs.ext4 /dev/sda", decision="deny", reason="no disks"), bash("df -h")),
        matcher="^Bash$",
    ),
    Hook(
        "patch-guard",
        "PreToolUse",
        f"./{DIR}/patch.sh",
        (
            Moment("PreToolUse", "Write", {"file_path": "{project}/vendor/a.c", "content": "x\n"}, decision="deny", reason="vendored"),
            Moment("PreToolUse", "Write", {"file_path": "{project}/src/a.c", "content": "x\n"}),
        ),
        matcher="apply_patch|Edit|Write",
        path=f"{DIR}/patch.sh",
        script="""#!/bin/sh
grep -q 'vendor/' && { echo 'vendored code is not edited' >&2; exit 2; }
exit 0
""",
    ),
    Hook("prompt-note", "UserPromptSubmit", "cat >/dev/null; echo 'answer briefly'", (prompt("explain", context="answer briefly"),)),
    Hook(
        "session-note", "SessionStart", "cat >/dev/null; echo 'python 3.12 here'", (start(context="python 3.12"),), matcher="startup|resume"
    ),
    Hook(
        "stop-block",
        "Stop",
        """cat >/dev/null; echo '{"decision": "block", "reason": "write the tests too"}'""",
        (stop(decision="deny", reason="write the tests too"),),
    ),
)
