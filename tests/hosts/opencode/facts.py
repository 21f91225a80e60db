"""Facts about OpenCode for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Event

FIELD_LOSSES = {
    ("session.idle.child", "stop_hook_active"): "a subagent's end cannot be denied",
    ("session.created.child", "source"): "the plugin says how every session began",
}
INSTEAD = {"compacted": ("PreCompact", "", {})}
SAYS_ALLOW = frozenset({"tool", "request"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "deny", lambda a: {"reason": "denied by policy"},
     "an answer to a permission request carries no text"),
]  # fmt: skip
PERMISSIONS = [
    (
        "project",
        "opencode.json",
        {
            "permission": {
                "bash": {"*": "ask", "git *": "allow", "git push *": "deny", "rm -rf *": "deny"},
                "edit": {"*": "allow", "docs/*": "deny", "*.lock": "deny"},
                "read": {"*.env": "deny"},
                "webfetch": "ask",
                "github_delete_*": "deny",
                "doom_loop": "ask",
            }
        },
        [
            ("deny", "Bash(git push *)"),
            ("deny", "Bash(rm -rf *)"),
            ("deny", "Edit(./docs/**)"),
            ("deny", "Edit(*.lock)"),
            ("deny", "Read(*.env)"),
            ("deny", "mcp__github__delete_*"),
            ("ask", "WebFetch"),
            ("allow", "Bash(git *)"),
            ("allow", "Edit"),
        ],
        ["opencode ask bash: 'bash git *' is an exception to it; here, ask wins over allow", "doom_loop: it is about a tool"],
    ),
    (
        "user",
        ".config/opencode/opencode.jsonc",
        '{"permission": {"bash": {"rm *": "deny", "*": "allow"}} /* last wins */ }',
        [("allow", "Bash")],
        ["bash rm *: it has no effect, since 'bash' comes after it"],
    ),
]
PROCESS = ("/usr/lib/node_modules/opencode-linux-x64/bin/opencode", "run", "x")


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # only a patch deletes


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"decision": "allow", "args": updated}
