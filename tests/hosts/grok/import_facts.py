"""Grok Build as a source of `onehook import`. See tests/setup/importing.py."""

from __future__ import annotations

import json

FOLDER = ".grok"
DENY = """echo '{"decision": "deny", "reason": "not here"}'"""
EXTRA = ()
FLAT = False
GUARD_CWD = ""


def files():
    def group(name, matcher=None, **more):
        return {
            **({"matcher": matcher} if matcher is not None else {}),
            "hooks": [{"type": "command", "command": f"../scripts/{name}.sh", **more}],
        }

    first = {
        "PreToolUse": [
            group("guard", "Bash", timeout=7, env={"LEVEL": "it's 3"}),
            group("files", "write|search_replace"),
            group("github", "^github__.*"),
            group("regex", "[a-c].*"),
            {"hooks": [{"type": "http", "url": "https://hooks.example/x"}]},
        ],
        "BeforeModel": [group("error")],
    }
    second = {
        "PostToolUse": [group("format", "Edit"), group("log")],
        "SessionStart": [group("context", "new|startup"), group("never", "clear")],
        "UserPromptSubmit": [group("prompt", "ignored here")],
        "Stop": [group("stop")],
        "PreCompact": [group("compact", "manual")],
    }
    return {
        ".grok/hooks/guards.json": json.dumps({"hooks": first}, indent=2) + "\n",
        ".grok/hooks/notes.json": json.dumps({"hooks": second}, indent=2) + "\n",
    }


REFUSED = {
    "../scripts/regex.sh": "its matcher '[a-c].*' cannot be written as a list of tools",
    "https://hooks.example/x": "it is of type 'http', not a command",
    "../scripts/error.sh": "Grok has no event 'BeforeModel'",
    "../scripts/never.sh": "its matcher 'clear' never matches: a session starts with one of new, startup, resume",
    "../scripts/compact.sh": "its matcher 'manual' on PreCompact has no equivalent in a manifest",
}
LOSSES = ("it also fires for Grok's monitor",)
TIMEOUTS = {"guard": 7, "files": 5, "stop": 600}
MATCHED = {"guard": ("Bash",), "files": ("Write", "Edit"), "github": ("mcp__github__*",), "format": ("Edit",), "log": ()}
SOURCES = ["startup"]
NAMED = None
TOOL_EVENT = "PreToolUse"
STOP_EVENT = "Stop"
OFF = None
MATCHERS = [
        ("Bash", ["Bash"]), ("run_terminal_command", ["Bash"]), ("^Bash$", ["Bash"]), ("Write", ["Write", "Edit"]), ("Edit", ["Edit"]),
        ("Read|Grep", ["Read", "Grep"]), ("*", []), ("", []), ("todo_write", ["todo_write"]), ("Task", ["Agent"]),
        ("notes__note", ["mcp__notes__note"]), (".+__.+", ["MCP"]), ("[rs]ead", None),
    ]  # fmt: skip
UNITS = [(7, 7), (None, 600)]
UNUSABLE = [({"env": {"A B": "1"}}, "not a table of strings"), ({"type": "prompt", "prompt": "x"}, "not a command")]
