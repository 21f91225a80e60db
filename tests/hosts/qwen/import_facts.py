"""Qwen Code as a source of `onehook import`. See tests/setup/importing.py."""

from __future__ import annotations

import json

from tests.setup.importing import command, group

FOLDER = ".qwen"
DENY = "echo 'not here' >&2; exit 2"
EXTRA = ()
FLAT = False
GUARD_CWD = ""


def files():
    hooks = {
        "PreToolUse": [
            group(FOLDER, "guard", "Bash", timeout=5000, statusMessage="looking", env={"LEVEL": "it's 3"}),
            group(FOLDER, "files", "WriteFile|edit"),
            group(FOLDER, "github", "mcp__github__.*"),
            {
                "matcher": "Shell",
                "hooks": [{"type": "http", "url": "https://hooks.example/x"}, command(FOLDER, "later", env={"LEVEL": 1})],
            },
            group(FOLDER, "regex", "[^r].*"),
        ],
        "PostToolUse": [group(FOLDER, "format", "^(edit|write_file)$"), group(FOLDER, "log", "*")],
        "SessionStart": [group(FOLDER, "context", "startup|branch")],
        "UserPromptSubmit": [group(FOLDER, "prompt", timeout=9, name="words")],
        "Stop": [group(FOLDER, "stop"), {"hooks": [{"type": "prompt", "prompt": "is it done?"}]}],
        "PreCompact": [group(FOLDER, "compact", "manual"), group(FOLDER, "shell", env={"LEVEL": 1})],
    }
    return {".qwen/settings.json": json.dumps({"model": {"name": "m"}, "hooks": hooks}, indent=2) + "\n"}


REFUSED = {
    "https://hooks.example/x": "it is of type 'http', not a command",
    "./.qwen/scripts/later.sh": "is not a table of strings",
    "./.qwen/scripts/regex.sh": "its matcher '[^r].*' cannot be written as a list of tools",
    "is it done?": "a model decides; name one",
    "./.qwen/scripts/compact.sh": "its matcher 'manual' on PreCompact has no equivalent in a manifest",
    "./.qwen/scripts/shell.sh": "is not a table of strings",
}
LOSSES = ("'statusMessage' is not carried over", "it also fires for Qwen Code's monitor")
TIMEOUTS = {"guard": 5, "files": 60, "prompt": 9}
MATCHED = {"guard": ("Bash",), "files": ("Write", "Edit"), "github": ("mcp__github__*",), "format": ("Edit", "Write"), "log": ()}
SOURCES = ["startup", "fork"]
NAMED = ("prompt", "words")
TOOL_EVENT = "PreToolUse"
STOP_EVENT = "Stop"
OFF = {"disableAllHooks": True}
MATCHERS = [
        ("Bash", ["Bash"]), ("run_shell_command", ["Bash"]), ("ShellTool", ["Bash"]), ("edit", ["Edit"]),
        ("notebook_edit", ["notebook_edit"]),
        ("Edit | WriteFile", ["Edit", "Write"]), ("Task", ["Agent"]), ("mcp__.*", ["MCP"]), ("^mcp__db__query$", ["mcp__db__query"]),
        ("mcp__db", ["mcp__db*"]), ("Read|*", []), ("TodoWrite", ["todo_write"]), ("web_", ["WebFetch", "WebSearch"]), ("(a)(b)", None),
    ]  # fmt: skip
UNITS = [(30, 30), (999, 999), (1000, 1), ("45", 45), ("x", 60), (None, 60)]
UNUSABLE = [({"env": ["A=1"]}, "not a table of strings")]
