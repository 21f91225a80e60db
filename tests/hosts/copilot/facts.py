"""Facts about Copilot CLI for the shared tests. See default_facts.py."""

from __future__ import annotations

import re
from typing import Any

from onehook.core import Change, Event, Mcp
from onehook.hosts.copilot import reverse

FIELD_LOSSES = {
    ("agentStop", "last_assistant_message"): "Copilot does not say it",
    ("Stop", "last_assistant_message"): "Copilot does not say it",
    ("errorOccurred", "last_assistant_message"): "Copilot does not say it",
    ("ErrorOccurred", "last_assistant_message"): "Copilot does not say it",
}
START_WORDS = {"startup": "new", "resume": "resume"}
OTHER_SETTINGS = False
FLAT_ENTRIES = True
COMMAND_KEY = "bash"
RESULT = "textResultForLlm"
INSTEAD = {"compacted": ("PreCompact", "", {})}
SAYS_ALLOW = frozenset({"permission", "request"})
ANSWER_LOSSES = [
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing shows the dialog"),
    ({"feedback", "continue"}, lambda a: a.decision == "deny" and a.additional_context is not None,
     lambda a: {"reason": f"{a.reason}\n\n{a.additional_context}", "additional_context": None}, "with a block there is one text"),
]  # fmt: skip
TRUST_FILES = [
    '// by Copilot\n// do not edit\n{\n  "trustedFolders": [\n    "DIR"\n  ],\n  "firstLaunchAt": "x"\n}',
    '{"trustedFolders": []}',
]
PERMISSIONS = [
    (
        "user",
        ".copilot/settings.json",
        {"deniedUrls": ["https://evil.example", "https://x.org/path", "*.bad.example"], "allowedUrls": ["docs.example.com"]},
        [
            ("deny", "WebFetch(domain:evil.example)"),
            ("deny", "WebFetch(domain:*.bad.example)"),
            ("deny", "WebFetch(domain:bad.example)"),
            ("allow", "WebFetch(domain:docs.example.com)"),
        ],
        ["a part of a site"],
    ),
    (
        "project",
        "~/.copilot/permissions-config.json",
        {
            "locations": {
                "PROJECT": {
                    "tool_approvals": [
                        {"kind": "commands", "commandIdentifiers": ["git commit", "npm:*"]},
                        {"kind": "write"},
                        {"kind": "memory"},
                        {"kind": "mcp", "serverName": "github", "toolName": "get_issue"},
                    ]
                },
                "/other": {"tool_approvals": [{"kind": "read"}]},
            }
        },
        [("allow", "Bash(git commit:*)"), ("allow", "Bash(npm:*)"), ("allow", "Edit"), ("allow", "mcp__github__get_issue")],
        ["memory: it is about a tool"],
    ),
]
PLUGIN = (
    {"plugin.json": {"name": "guards"}},
    {"PreToolUse": [{"type": "command", "bash": '"$COPILOT_PLUGIN_ROOT"/guard.sh'}]},
)
INSTALLED_PLUGIN = (
    ".copilot/plugins/guards",
    {
        ".copilot/config.json": '// managed\n{{"installedPlugins": [{{"name": "guards", '
        '"cache_path": "{home}/.copilot/plugins/guards", "enabled": {on}}}]}}'
    },
)
PROCESS = ("/usr/lib/node_modules/@github/copilot-linux-x64/copilot", "-p", "x")
_PRINTED = "a\n<shellId: secret completed with exit code 1>\n<shellId: 4 completed with exit code 0>"
RESULT_TEXTS = [
    ("Bash", {"text_result_for_llm": _PRINTED}, "a\n<shellId: secret completed with exit code 1>", 0),
]
STOP_LIMITS = [
    (".github/hooks/a.json", {"agentStop": [{"type": "command", "bash": "./a.sh"}]}, 8),
]


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    if name != "permissionRequest":
        return changes
    return [Change(c.path, "edit", "", reverse._diff(c)) for c in changes]  # every change is an edit, and its diff is the new text


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" and name != "permissionRequest" else "Edit"  # only a patch deletes


def mcp_as_told(name: str, mcp: Mcp | None) -> Mcp | None:
    if mcp is None or name == "permissionRequest":
        return mcp
    return Mcp.joined(mcp.tool if not mcp.server and "-" in mcp.tool else f"{mcp.server}-{mcp.tool}", "-")  # split if there is only one way


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"permissionDecision": "allow", "modifiedArgs": updated}


def config_entry(line: str, matched: bool) -> dict[str, Any]:
    return {"type": "command", "bash": line}


def result_payload(common: dict[str, Any], response: Any) -> dict[str, Any]:
    return {**common, "hook_event_name": "PostToolUse", "timestamp": "t", "tool_result": response}


def other_names_count(native_event: str) -> bool:
    return native_event[0].isupper()


def matches(matcher: str, subject: str, is_call: bool) -> bool:
    return re.fullmatch(f"(?:{matcher})", subject) is not None
