"""Facts about Claude Code for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Response

FAILURES = True
TOKENS = 28
START_WORDS = {"startup": "startup", "resume": "resume", "fork": "fork"}
RESULT = "stdout"
NOT_BUILT = frozenset({"effort", "mcp_server", "prompt_id"})
NOT_ALWAYS_SENT = frozenset({"prompt_id"})
SAYS_ALLOW = frozenset({"permission", "request", "switch"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ({"context"}, lambda a: a.decision == "deny", lambda a: {"decision": None, "reason": None, "user_message": joined(a)},
     "cannot be stopped; the reason is shown to the user"),
]  # fmt: skip
TRUST_FILES = ['{"numStartups": 3, "projects": {"DIR": {"hasTrustDialogAccepted": true}}}', '{\n  "projects": {},\n  "theme": "dark"\n}\n']
PERMISSIONS = [
    (
        "project",
        ".claude/settings.json",
        {
            "permissions": {
                "deny": ["Read(./.env)", "Bash(curl:*)", "mcp__github__delete_repo", "Skill(deploy)"],
                "ask": ["Bash(git push:*)"],
                "allow": ["Bash(npm run test:*)", "Task(Explore)", "WebFetch(domain:example.com)", "Edit(/src/**)"],
                "defaultMode": "acceptEdits",
            }
        },
        [
            ("deny", "Read(./.env)"),
            ("deny", "Bash(curl:*)"),
            ("deny", "mcp__github__delete_repo"),
            ("ask", "Bash(git push:*)"),
            ("allow", "Bash(npm run test:*)"),
            ("allow", "Agent(Explore)"),
            ("allow", "WebFetch(domain:example.com)"),
            ("allow", "Edit(/src/**)"),
        ],
        ["Skill(deploy): it is about a tool that other agents do not have"],
    ),
    (
        "user",
        ".claude/settings.json",
        {"permissions": {"deny": ["Read(/notes/**)", "Read(~/.ssh/**)"]}},
        [("deny", "Read(~/.ssh/**)")],
        ["its path starts from the folder of the settings"],
    ),
]
PLUGIN = (
    {".claude-plugin/plugin.json": {"name": "guards"}},
    {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}"/guard.sh'}]}]},
)
INSTALLED_PLUGIN = (
    ".claude/plugins/cache/mk/guards/1.0.0",
    {
        ".claude/settings.json": '{{"enabledPlugins": {{"guards@mk": {on}}}}}',
        ".claude/plugins/installed_plugins.json": '{{"plugins": {{"guards@mk": [{{"installPath": "{root}"}}]}}}}',
    },
)
PROCESS = ("claude", "-p", "Please do the task.")
RESULT_TEXTS = [
    ("Bash", {"stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"}, "", None),
    ("Bash", {"stdout": "a", "stderr": "", "backgroundTaskId": "b1"}, "a", None),
    ("Glob", {"filenames": ["a", "b"], "numFiles": 2}, "a\nb", None),
    ("SomethingNew", {"answer": [1]}, '{"answer":[1]}', None),
    ("mcp__s__t", [{"type": "image", "data": "x"}, {"type": "text", "text": "a"}], "a", None),
]
STOP_LIMITS = [
    (".claude/settings.json", {"Stop": [{"hooks": [{"type": "command", "command": "./a.sh"}]}]}, 8),
]
OWN_VARIABLES = {"CLAUDECODE": "1"}
MAKES_PLUGIN_DATA = True  # seen with 2.1.325
LISTED_NAMES = r"[A-Za-z0-9_|, -]+"
DOCUMENTED = (
    {},
    {"SessionStart": None, "PreToolUse": "*", "PostToolUse": "*", "UserPromptSubmit": None, "Stop": None},
    {"type": "command"},
)
REJECTED = [
    (lambda data: data["hooks"]["PreToolUse"].append({"hooks": [{"type": "x"}]}), '"type" must be one of'),
]
BACKGROUND = [({"async": True}, "background = true"), ({"asyncRewake": True}, "wake = true")]
LOST_AT_START = (
    """{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "note", "sessionTitle": "T"}}""",
    "sessionTitle",
)
A_WRITE = ('["PreToolUse"]', {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "/p/a", "content": "x"}})
JUDGED_AND_GOES_ON = "continue_on_block = true\n"
RUN_BY = (".claude/settings.json", "PreToolUse", "/bin/sh")


def joined(answer: Response) -> str | None:
    return f"{answer.user_message}\n\n{answer.reason}" if answer.user_message else answer.reason


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": updated}}


def other_names_count(native_event: str) -> bool:
    return True
