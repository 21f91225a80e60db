"""Facts about Factory Droid for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Event, Output, Response
from onehook.hosts.droid import wire

NOT_BUILT = frozenset({"CLAUDE_ENV_FILE"})  # a file that only the agent itself reads
HOOKS_ARE_BARE = True
FIELD_LOSSES = {("Stop", "last_assistant_message"): "Droid does not say it"}
SAYS_ALLOW = frozenset({"permission"})
ANSWER_LOSSES = [
    ({"prompt"}, lambda a: a.decision == "deny" and a.additional_context is not None, lambda a: {"additional_context": None},
     "of a blocked prompt nothing reaches the model"),
]  # fmt: skip
TOKENS = 0
FAILED_UNTOLD = ("false",)
COMPACTED_WHEN_ASKED = ("session",)
TRUST_FILES = [
    '{\n\t"model": "x",\n\t"trustedFolders": {\n\t\t"DIR": {"trustedAt": "2026-01-01T00:00:00.000Z"}\n\t}\n}\n',
    '{"trustedFolders": {}}',
]
PERMISSIONS = [
    (
        "project",
        ".factory/settings.json",
        {
            "commandAllowlist": ["npm test"],
            "commandDenylist": ["git push"],
            "commandBlocklist": ["rm -rf /", "mkfs.*"],
            "permissionRules": {"version": 1, "rules": [{"id": "no-prod"}]},
        },
        [("deny", "Bash(rm -rf /:*)"), ("deny", "Bash(mkfs.*)"), ("ask", "Bash(git push:*)"), ("allow", "Bash(npm test)")],
        ["no-prod: permissionRules have a language of their own"],
    ),
]
PLUGIN = (
    {".factory-plugin/plugin.json": {"name": "guards"}},
    {"PreToolUse": [{"matcher": "Execute", "hooks": [{"type": "command", "command": '"${DROID_PLUGIN_ROOT}/guard.sh"'}]}]},
)
INSTALLED_PLUGIN = (
    ".factory/plugins/cache/mk-1/guards-2/3",
    {
        ".factory/settings.json": '{{"enabledPlugins": {{"guards@mk": {on}}}}}',
        ".factory/plugins/installed_plugins/guards.json": '{{"pluginId": "guards@mk", "entry": {{"installPath": "{root}"}}}}',
    },
)
PROCESS = ("/home/dev/.local/bin/droid", "exec", "x")
_PRINTED = "[Process exited with code 7] secret\n\n[Process exited with code 0]"
RESULT_TEXTS = [
    ("Execute", _PRINTED, "[Process exited with code 7] secret", 0),
]
RUN_BY = (".factory/settings.json", "PreToolUse", "sh")


def tool_as_told(name: str, event: Event) -> str:
    if not event.changes:
        return event.tool
    return "Write" if event.changes[0].kind == "write" else "Edit"  # only a patch deletes


def as_received(event: Event, output: Output, answer: Response) -> Response:
    if output.exit_code == 2 and wire.EVENTS[event.native_event].shape in ("prompt", "feedback", "compact"):
        assert output.stderr.endswith(answer.reason or "")
        answer.reason = output.stderr.strip()  # there, the reason is all of stderr, including the warnings
    return answer


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": updated}}
