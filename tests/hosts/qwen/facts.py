"""Facts about Qwen Code for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

FAILURES = True
START_WORDS = {"startup": "startup", "resume": "resume", "fork": "branch"}
RESULT = "llmContent"
SAYS_ALLOW = frozenset({"request"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ({"feedback", "failure"}, lambda a: a.decision == "deny",
     lambda a: {"decision": None, "reason": None, "additional_context": "\n\n".join(filter(None, [a.reason, a.additional_context]))},
     "after the tool a block has no effect; the reason is told as context"),
]  # fmt: skip
TRAILING_COMMA = "Qwen Code sets the whole file aside as settings.json.corrupted"
TRUST_FILES = ['// mine\n{"DIR": "DO_NOT_TRUST"}\n']
# Trust is off by default.
ASKS_FOR_TRUST = (".qwen/settings.json", '{"security": {"folderTrust": {"enabled": true}}}\n')
PERMISSIONS = [
    (
        "project",
        ".qwen/settings.json",
        {
            "permissions": {
                "deny": ["Read(secrets/**)", "run_shell_command(rm *)", "WebFetch(api.example.com)"],
                "allow": ["ShellTool(git *)", "ReadFile(//etc/hosts)"],
            },
            "tools": {"exclude": ["write_file"], "core": ["read_file"]},
        },
        [
            ("deny", "Read(./secrets/**)"),
            ("deny", "Bash(rm *)"),
            ("deny", "WebFetch(domain:*api.example.com)"),
            ("deny", "Write"),
            ("allow", "Bash(git *)"),
            ("allow", "Read(//etc/hosts)"),
        ],
        ["tools.core switches every other tool off"],
    ),
]
PROCESS = ("/usr/bin/node", "--expose-gc", "/usr/lib/node_modules/@qwen-code/qwen-code/cli.js", "-p", "x")
_PRINTED = "Command: x\nDirectory: (root)\nOutput: Output: a\nSignal: secret\nError: (none)\nExit Code: 0\nSignal: (none)"
RESULT_TEXTS = [
    ("run_shell_command", {"llmContent": _PRINTED}, "Output: a\nSignal: secret", 0),
]
LISTED_NAMES = r"[A-Za-z0-9_|]+"
BACKGROUND = [({"async": True}, "background = true")]
POWERSHELL_ON_WINDOWS = ("run_shell_command",)
RUN_BY = (".qwen/settings.json", "PreToolUse", "bash")


def result_payload(common: dict[str, Any], response: Any) -> dict[str, Any]:
    return {**common, "hook_event_name": "PostToolUse", "timestamp": "t", "tool_response": response}


def other_names_count(native_event: str) -> bool:
    return True
