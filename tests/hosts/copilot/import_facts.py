"""Copilot CLI as a source of `onehook import`. See tests/setup/importing.py."""

from __future__ import annotations

import json

from tests.setup.importing import command, script

FOLDER = ".github"
DENY = """echo '{"permissionDecision": "deny", "permissionDecisionReason": "not here"}'"""
EXTRA = ("pascal",)
FLAT = True
GUARD_CWD = ".github/scripts"


def files():
    def entry(name, **more):
        return {"type": "command", "bash": f"./{script(FOLDER, name)}", **more}

    guard = {
        "type": "command",
        "bash": "./guard.sh",
        "powershell": "./guard.ps1",
        "command": "no",
        "cwd": ".github/scripts",
        "timeoutSec": 5,
    }
    first = {
        "preToolUse": [
            {**guard, "matcher": "bash", "env": {"LEVEL": "it's 3"}},
            entry("files", matcher="create|edit", timeout=9),
            entry("github", matcher="github-.*"),
            entry("star", matcher="*"),
            entry("regex", matcher="[a-c].*"),
            {"type": "http", "url": "https://hooks.example/x"},
        ],
        "PreToolUse": [{"matcher": "Bash|Write", "hooks": [command(FOLDER, "pascal")]}],
        "preMcpToolCall": [entry("error")],
    }
    second = {
        "postToolUse": [entry("format", matcher="edit"), {"type": "command", "exec": script(FOLDER, "log"), "args": ["a b"]}],
        "sessionStart": [entry("context", matcher="ignored here"), {"type": "prompt", "prompt": "/help"}],
        "userPromptSubmitted": [entry("prompt")],
    }
    inline = {"agentStop": [entry("stop"), {"type": "http", "url": "./stop.ps1"}], "preCompact": [entry("compact", matcher="manual")]}
    off = {"version": 1, "disableAllHooks": True, "hooks": {"agentStop": [entry("off")]}}
    return {
        ".github/hooks/guards.json": json.dumps({"version": 1, "hooks": first}, indent=2) + "\n",
        ".github/hooks/notes.json": json.dumps({"version": 1, "hooks": second}, indent=2) + "\n",
        ".github/hooks/off.json": json.dumps(off),
        ".github/copilot/settings.json": json.dumps({"hooks": inline}),
    }


REFUSED = {
    "./.github/scripts/star.sh": "its matcher '*' never matches on preToolUse, so Copilot does not run it",
    "./.github/scripts/regex.sh": "its matcher '[a-c].*' cannot be written as a list of tools",
    "https://hooks.example/x": "it is of type 'http', not a command",
    "./.github/scripts/error.sh": "onehook has no event for 'preMcpToolCall'",
    "/help": "it is of type 'prompt', not a command",
    "./stop.ps1": "it is of type 'http', not a command",
    "./.github/scripts/compact.sh": "its matcher 'manual' on preCompact has no equivalent in a manifest",
    "./.github/scripts/off.sh": "hooks are switched off in this file (disableAllHooks)",
}
LOSSES = ("'powershell' is not carried over", "it also fires for Copilot's str_replace_editor, apply_patch")
TIMEOUTS = {"guard": 5, "files": 9, "stop": 30}
MATCHED = {"guard": ("Bash",), "files": ("Write", "Edit"), "github": ("mcp__github__*", "mcp__github-*"), "format": ("Edit",), "log": ()}
SOURCES = []
NAMED = None
TOOL_EVENT = "preToolUse"
STOP_EVENT = "agentStop"
OFF = {"disableAllHooks": True}
MATCHERS = [
        ("bash", ["Bash"]), ("bash|powershell", ["Bash"]), ("powershell", ["powershell"]), ("^(view|grep)$", ["Read", "Grep"]), (".*", []),
        ("edit|create|apply_patch", ["Edit", "Write"]), ("Bash", ["Bash"]), ("ask_user", ["ask_user"]), ("bash.*", ["Bash"]),
        ("db-query", ["mcp__db__query"]), ("a-b-c", ["mcp__a__b-c", "mcp__a-b__c"]), (".*-query", None), (".*-.*", ["MCP"]),
        ("x.*", None), ("", None),
    ]  # fmt: skip
UNITS = [(7, 7), (None, 30)]
UNUSABLE = [
    ({"command": '"$COPILOT_HOOK_DIR"/x'}, "COPILOT_HOOK_DIR"), ({"env": {"A B": "1"}}, "not a table of strings"),
    ({"command": "", "exec": "x", "args": "y"}, "args are not a list"), ({"cwd": 3}, "cwd is not a string"),
    ({"command": ""}, "it has no command"),
]  # fmt: skip
