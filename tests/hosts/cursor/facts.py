"""Facts about Cursor for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Change, Event, Mcp, Output, Response
from onehook.hosts.cursor import wire

FIELD_LOSSES = {
    ("sessionStart", "source"): "Cursor does not say how a session began",
    ("stop", "last_assistant_message"): "Cursor says it in afterAgentResponse",
    ("subagentStop", "last_assistant_message"): "Cursor says it in afterAgentResponse",
    ("workspaceOpen", "session_id"): "fires outside any session",
}
OTHER_SETTINGS = False
RESULT = "output"
VERSIONS = ("0.46.0", "2.4.21", "3.2.16", "1.0.0", "3.3.0")
INSTEAD = {"compacted": ("PreCompact", "", {})}
SAYS_ALLOW = frozenset({"tool", "action", "read", "subagent", "response"})
ANSWER_LOSSES = [
    ({"subagent", "prompt", "session", "response"}, lambda a: a.decision == "deny",
     lambda a: {"reason": a.user_message or "blocked by a hook", "user_message": None}, "there is one text, and it is the reason"),
    ({"tool", "action", "read"}, lambda a: a.decision in ("deny", "ask") and a.user_message == a.reason,
     lambda a: {"user_message": None}, "the same text for both readers is one text"),
    ({"context"}, lambda a: a.decision == "deny", lambda a: {"decision": None}, "after a tool a denial is context"),
    ({"stop"}, lambda a: a.reason is not None, lambda a: {"decision": "deny"}, "a follow-up is what a denied stop is"),
]  # fmt: skip
EDITS_ARE_WRITES = True
FLAT_ENTRIES = True
SUBJECTS: dict[str, str] = {}
OWN_SUBJECTS = {
    "beforeShellExecution": "command", "afterShellExecution": "command", "beforeReadFile": "Read", "afterFileEdit": "Write", "stop": "Stop",
    "beforeSubmitPrompt": "UserPromptSubmit", "afterAgentResponse": "AgentResponse", "subagentStart": "subagent_type",
    "subagentStop": "subagent_type",
}  # fmt: skip
_EDITS = ("afterFileEdit", "afterTabFileEdit")
PERMISSIONS = [
    (
        "project",
        ".cursor/cli.json",
        {
            "permissions": {
                "allow": [
                    "Shell(ls)",
                    "Shell(npm:run *)",
                    "Read(src/**/*.ts)",
                    "Write(package.json)",
                    "Mcp(datadog:*)",
                    "Mcp(linear)",
                    "Bash(git status)",
                ],
                "deny": ["Shell(rm)", "Read(.env*)", "Write(/etc/**)", "WebFetch(*.internal)"],
            }
        },
        [
            ("deny", "Bash(rm:*)"),
            ("deny", "Read(./.env*)"),
            ("deny", "Edit(//etc/**)"),
            ("deny", "WebFetch(domain:*.internal)"),
            ("allow", "Bash(ls:*)"),
            ("allow", "Bash(npm run *)"),
            ("allow", "Read(./src/**/*.ts)"),
            ("allow", "Edit(./package.json)"),
            ("allow", "mcp__datadog"),
            ("allow", "Bash(git status:*)"),
        ],
        ["Cursor ignores it"],
    ),
    (
        "user",
        ".cursor/permissions.json",
        {
            "terminalAllowlist": ["git status"],
            "mcpAllowlist": ["linear:list_issues", "*:*"],
            "autoRun": {"allow_instructions": ["be kind"]},
        },
        [("allow", "Bash(git status:*)"), ("allow", "mcp__linear__list_issues")],
        ["it is about every MCP server", "guidance in words"],
    ),
]
DOCUMENTED = (
    {"version": 1},
    {"sessionStart": None, "preToolUse": None, "postToolUse": None, "beforeSubmitPrompt": None, "stop": None},
    {},
)
REJECTED = [
    (lambda data: data.pop("version"), '"version" must be'),
    (lambda data: data["hooks"].update(preToolUze=[]), "Cursor has no such event"),
]
LOST_AT_START = ("""{"additional_context": "note", "env": {"A": "1"}}""", "env")
A_WRITE = ('["preToolUse"]', {"hook_event_name": "preToolUse", "tool_name": "Write", "tool_input": {"file_path": "/p/a", "content": "x"}})
HOOK_LIMITS = {"a loop until a word in the transcript": "there is no transcript, and a stop does not say what the agent said"}
PLUGIN = (
    {".cursor-plugin/plugin.json": {"name": "guards"}},
    {"beforeShellExecution": [{"command": "./guard.sh"}]},
)
PROCESS = ("/home/dev/.local/bin/cursor-agent", "-p", "x")
UNHELD_RESULTS = ("Read",)
STOP_LIMITS = [
    (".cursor/hooks.json", {"stop": [{"command": "./a.sh"}]}, 5),
    (".cursor/hooks.json", {"stop": [{"command": "./a.sh", "loop_limit": 12}]}, 12),
    (".cursor/hooks.json", {"stop": [{"command": "./a.sh", "loop_limit": None}]}, 100),
]


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    if name in _EDITS:
        return [Change(c.path, "edit", c.old or "", c.new) for c in changes]
    return [Change(c.path, "write", None, c.new) if c.kind == "edit" else c for c in changes]  # every edit is a Write


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Edit" if name in _EDITS else "Delete" if event.changes[0].kind == "delete" else "Write"


def mcp_as_told(name: str, mcp: Mcp | None) -> Mcp | None:
    return Mcp("", mcp.tool) if mcp is not None and "MCP" not in name else mcp


def as_received(event: Event, output: Output, answer: Response) -> Response:
    silent = wire.EVENTS[event.native_event].shape == "response" and wire.era(event) != "documented"
    asks = answer.decision == "ask" and event.native_event == "beforeShellExecution" and wire.era(event) != "sdk"
    return Response() if silent else answer.copy(native={"ask": {"cursor": True}}) if asks else answer


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"permission": "allow", "updated_input": updated}


def config_entry(line: str, matched: bool) -> dict[str, Any]:
    return {"command": line, **({"matcher": "Shell"} if matched else {})}


def starts_in_plugin(native_event: str) -> bool:
    return native_event not in ("stop", "subagentStop")  # Cursor's hook library 1.0.32
