"""Gemini CLI as a source of `onehook import`. See tests/setup/importing.py."""

from __future__ import annotations

import json

from tests.setup.importing import command, group

FOLDER = ".gemini"
DENY = """echo '{"decision": "deny", "reason": "not here"}'"""
EXTRA = ()
FLAT = False
GUARD_CWD = ""


def files():
    guard = {"type": "command", "name": "no-rm", "command": "$GEMINI_PROJECT_DIR/.gemini/scripts/guard.sh", "timeout": 5000}
    hooks = {
        "BeforeTool": [
            {
                "matcher": "run_shell_command",
                "sequential": True,
                "hooks": [{**guard, "description": "no rm -rf", "env": {"LEVEL": "it's 3"}}],
            },
            group(FOLDER, "files", "write_file|replace"),
            group(FOLDER, "github", "mcp_github_.*"),
            group(FOLDER, "regex", "^(?!read).*"),
            {"hooks": [{"type": "plugin", "name": "compiled"}, command(FOLDER, "off", name="off")]},
        ],
        "AfterTool": [group(FOLDER, "format", "^(replace|write_file)$"), group(FOLDER, "log", ".*")],
        "SessionStart": [group(FOLDER, "context", "startup"), group(FOLDER, "never", "startup|resume")],
        "BeforeAgent": [group(FOLDER, "prompt", "ignored here")],
        "AfterAgent": [group(FOLDER, "stop", "*", timeout=120000)],
        "PreCompress": [group(FOLDER, "compress", "manual")],
        "PreToolUse": [group(FOLDER, "claudes")],
    }
    settings = {"theme": "dark", "hooksConfig": {"disabled": ["off"]}, "hooks": hooks}
    return {".gemini/settings.json": "// the team's settings\n" + json.dumps(settings, indent=2) + "\n"}


REFUSED = {
    "./.gemini/scripts/regex.sh": "its matcher '^(?!read).*' cannot be written as a list of tools",
    "{'type': 'plugin', 'name': 'compiled'}": "it is of type 'plugin', not a command",
    "./.gemini/scripts/off.sh": "it is switched off here (hooksConfig.disabled)",
    "./.gemini/scripts/never.sh": "its matcher 'startup|resume' never matches: it must be exactly",
    "./.gemini/scripts/compress.sh": "its matcher 'manual' on PreCompress has no equivalent in a manifest",
    "./.gemini/scripts/claudes.sh": "Gemini CLI has no event 'PreToolUse'",
}
LOSSES = ("'description' is not carried over", "'sequential' is not carried over")
TIMEOUTS = {"guard": 5, "files": 60, "stop": 120}
MATCHED = {
    "guard": ("Bash",),
    "files": ("Write", "Edit"),
    "github": ("mcp__github__*", "mcp__github_*"),
    "format": ("Edit", "Write"),
    "log": (),
}
SOURCES = ["startup"]
NAMED = ("guard", "no-rm")
TOOL_EVENT = "BeforeTool"
STOP_EVENT = "AfterAgent"
OFF = {"hooksConfig": {"enabled": False}}
MATCHERS = [
        ("read_file", ["Read"]), ("write", ["Write", "write_todos"]), ("^write_file$", ["Write"]), ("search_file_content", ["Grep"]),
        ("^mcp_.*", ["MCP"]), ("mcp_.*", ["read_mcp_resource", "list_mcp_resources", "MCP"]), ("^foo.*", None),
        ("mcp", ["read_mcp_resource", "list_mcp_resources", "MCP"]), ("read_many_files", ["read_many_files"]),
        ("^mcp_github_create_issue$", ["mcp__github__create_issue", "mcp__github_create__issue"]), ("(replace|glob)", ["Edit", "Glob"]),
        (".+", []), ("save_memory", ["save_memory"]), ("no.*thing", None), ("a(b)+", None), ("mcp_.*_x", None), ("[", None),
    ]  # fmt: skip
UNITS = [(1500, 1.5), (None, 60)]
UNUSABLE = [({"command": "ls $GEMINI_PLANS_DIR"}, "GEMINI_PLANS_DIR"), ({"env": {"A": 1}}, "not a table of strings")]
