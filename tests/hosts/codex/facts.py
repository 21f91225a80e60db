"""Facts about Codex for the shared tests. See default_facts.py."""

from __future__ import annotations

from typing import Any

from onehook.core import Change, Event

START_WORDS = {"startup": "startup", "resume": "resume", "fork": "fork"}
OTHER_SETTINGS = False
READ = None
# "permission": a bare allow is expressed by silence, an allow with a rewrite explicitly.
SAYS_ALLOW = frozenset({"request", "permission"})
ANSWER_LOSSES = [
    ({"permission"}, lambda a: a.decision == "allow" and a.modified_input is None, lambda a: {"decision": None},
     "a bare allow is said by silence"),
    ({"permission"}, lambda a: a.decision is None and a.modified_input is not None, lambda a: {"decision": "allow"},
     "a rewrite is taken only with allow"),
    ({"request"}, lambda a: a.decision == "ask", lambda a: {"decision": None}, "to say nothing leaves it to Codex"),
]  # fmt: skip
# In code mode, Codex writes no line for a command that it refused itself, as it does with rm -rf.
REFUSED_UNSEEN = {"21-41-13": ("rm -rf build",)}
TRUST_FILES = [
    'model = "m"\n\n[projects."DIR"]\ntrust_level = "trusted"\n',
    '[hooks.state]\n\n[hooks.state."DIR/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n\n[tui]\nx = 1',
    "",
]
PERMISSIONS = [
    (
        "project",
        ".codex/rules/default.rules",
        '# rules\nprefix_rule(\n    pattern = ["git", ["push", "reset"], "--hard"],\n    decision = "forbidden",\n'
        '    justification = "no",\n'
        '    match = ["git reset --hard"],\n)\nprefix_rule(pattern = ["gh", "pr", "view"], decision = "prompt")\n'
        'prefix_rule(pattern = ["ls"])\n'
        'prefix_rule(pattern = ["sh", "-c", "a b"])\nnetwork_rule(host = "x.org", protocol = "https", decision = "deny")\n'
        'host_executable(name = "git", paths = ["/usr/bin/git"])\n',
        [("deny", "Bash(git push --hard:*)"), ("deny", "Bash(git reset --hard:*)"), ("ask", "Bash(gh pr view:*)"), ("allow", "Bash(ls:*)")],
        ["a word of it has a blank", "network of the sandbox"],
    ),
]
PLUGIN = (
    {".codex-plugin/plugin.json": {"name": "guards"}},
    {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": '"${PLUGIN_ROOT}/guard.sh"'}]}]},
)
INSTALLED_PLUGIN = (
    ".codex/plugins/cache/mk/guards/1.0.0",
    {".codex/config.toml": '[plugins."guards@mk"]\nenabled = {on}\n'},
)
PROCESS = ("node", "/usr/lib/node_modules/.bin/codex", "exec")
RESULT_TEXTS = [
    ("Bash", "Chunk ID: secret\nOutput:\na", "Chunk ID: secret\nOutput:\na", None),
]
LISTED_NAMES = r"[A-Za-z0-9_|]+"
DOCUMENTED = (
    {},
    {"SessionStart": None, "PreToolUse": "*", "PostToolUse": "*", "UserPromptSubmit": None, "Stop": None},
    {"type": "command"},
)
REJECTED = [(lambda data: data.update(version=1), "unknown top-level key 'version'")]
BACKGROUND = [({"async": True}, "background = true")]
A_WRITE = (
    '["PreToolUse"]',
    {"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n"}},
)
RUN_BY = (".codex/hooks.json", "PreToolUse", "$SHELL")


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    return [
        Change(c.path, c.kind, None if c.kind == "write" else ended(c.old), ended(c.new)) if c.kind in ("write", "edit") else c
        for c in changes
    ]


def ended(text: str | None) -> str:
    """A patch consists of whole lines."""
    return text if text and text.endswith("\n") else f"{text}\n" if text else ""


def tool_as_told(name: str, event: Event) -> str:
    return "Edit" if event.changes else event.tool


def rewrite(updated: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": updated}}


def other_names_count(native_event: str) -> bool:
    return True
