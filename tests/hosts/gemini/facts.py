"""Facts about Gemini CLI for the shared tests. See default_facts.py."""

from __future__ import annotations

import re
from typing import Any

START_WORDS = {"startup": "startup", "resume": "resume"}
RESULT = "llmContent"
INSTEAD = {"compacted": ("PreCompact", "", {}), "subagent": ("PostToolUse", "Agent", {"prompt": "look around"})}
ANSWER_LOSSES = [
    ({"result"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "of a denied result there is one text"),
]  # fmt: skip
TRAILING_COMMA = "Gemini CLI does not start with it"
TRUST_FILES = ['{\n  "DIR": "TRUST_FOLDER"\n}\n', "{}"]
PERMISSIONS = [
    (
        "project",
        ".gemini/settings.json",
        {
            "tools": {
                "allowed": ["run_shell_command(git status)", "read_file"],
                "exclude": ["web_fetch"],
                "confirmationRequired": ["replace"],
            }
        },
        [("deny", "WebFetch"), ("ask", "Edit"), ("allow", "Bash(git status:*)"), ("allow", "Read")],
        [],
    ),
    (
        "user",
        ".gemini/policies/mine.toml",
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = ["rm -rf", "git "]\ndecision = "ask_user"\npriority = 100\n'
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "git status"\ndecision = "allow"\npriority = 200\n'
        '[[rule]]\ntoolName = "grep_search"\nargsPattern = "(env|id_rsa)"\ndecision = "deny"\npriority = 200\n'
        '[[rule]]\nmcpName = "github"\ntoolName = "*"\ndecision = "deny"\npriority = 10\n',
        [("deny", "mcp__github"), ("ask", "Bash(rm -rf:*)"), ("allow", "Bash(git status:*)")],
        ["'run_shell_command git status' is an exception to it", "it has the condition argsPattern"],
    ),
]
PLUGIN = (
    {"gemini-extension.json": {"name": "guards"}},
    {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "command": '"${extensionPath}/guard.sh"'}]}]},
)
INSTALLED_PLUGIN = (
    ".gemini/extensions/guards",
    {".gemini/extensions/extension-enablement.json": '{{"guards": {{"overrides": ["{not_on}{repo}/*"]}}}}'},
)
PROCESS = ("/usr/bin/node", "--max-old-space-size=12051", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js", "-p", "x")
_PRINTED = "<untrusted_context>\nOutput: a\nExit Code: 3 secret\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>"
RESULT_TEXTS = [
    ("run_shell_command", {"llmContent": _PRINTED}, "a\nExit Code: 3 secret", 2),
    ("run_shell_command", {"llmContent": "changed format"}, "changed format", None),
]
OWN_VARIABLES = {"GEMINI_CLI": "1"}
POWERSHELL_ON_WINDOWS = ("run_shell_command",)
RUN_BY = (".gemini/settings.json", "BeforeTool", "bash")


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": updated}}


def result_payload(common: dict[str, Any], response: Any) -> dict[str, Any]:
    return {**common, "hook_event_name": "AfterTool", "timestamp": "t", "tool_response": response}


def matches(matcher: str, subject: str, is_call: bool) -> bool:
    return re.search(matcher, subject) is not None if is_call else matcher == subject
