"""Ready-made policies: hooks.use(dangerous_commands()).

Each is a factory that returns Hooks, except find_secrets and redact_secrets, which are for your own policies. Only the policies that you
name are loaded, and what they need is loaded by the first event that needs it: a session start does not pay for the shell parser.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.policies.commands import dangerous_commands as dangerous_commands
    from onehook.policies.commands import git_guard as git_guard
    from onehook.policies.credentials import secrets as secrets
    from onehook.policies.finishing import run_before_stop as run_before_stop
    from onehook.policies.finishing import session_briefing as session_briefing
    from onehook.policies.finishing import tests_before_stop as tests_before_stop
    from onehook.policies.formatting import format_after_edit as format_after_edit
    from onehook.policies.guarded_paths import protected_paths as protected_paths
    from onehook.policies.notes import context_notes as context_notes
    from onehook.policies.notes import session_diary as session_diary
    from onehook.policies.notes import todo_reminder as todo_reminder
    from onehook.policies.scanning import scanner as scanner
    from onehook.policies.secret_formats import find_secrets as find_secrets
    from onehook.policies.secret_formats import redact_secrets as redact_secrets
    from onehook.policies.self_protection import self_protect as self_protect
    from onehook.policies.sessions import budget as budget
    from onehook.policies.sessions import dry_run as dry_run
    from onehook.policies.sessions import loop_guard as loop_guard
    from onehook.policies.teams import commit_rules as commit_rules
    from onehook.policies.teams import mcp_servers as mcp_servers

_MODULES = {
    "budget": "sessions",
    "commit_rules": "teams",
    "context_notes": "notes",
    "dangerous_commands": "commands",
    "dry_run": "sessions",
    "find_secrets": "secret_formats",
    "format_after_edit": "formatting",
    "git_guard": "commands",
    "loop_guard": "sessions",
    "mcp_servers": "teams",
    "protected_paths": "guarded_paths",
    "redact_secrets": "secret_formats",
    "run_before_stop": "finishing",
    "scanner": "scanning",
    "secrets": "credentials",
    "self_protect": "self_protection",
    "session_briefing": "finishing",
    "session_diary": "notes",
    "tests_before_stop": "finishing",
    "todo_reminder": "notes",
}
POLICIES = tuple(name for name, module in _MODULES.items() if module != "secret_formats")  # what a rules file can name
__all__ = [  # noqa: PLE0604, RUF100  (made by __getattr__)
    "budget", "commit_rules", "context_notes", "dangerous_commands", "dry_run", "find_secrets", "format_after_edit", "git_guard",
    "loop_guard", "mcp_servers", "protected_paths", "redact_secrets", "run_before_stop", "scanner", "secrets", "self_protect",
    "session_briefing", "session_diary", "tests_before_stop", "todo_reminder",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'onehook.policies' has no attribute {name!r}; it has {', '.join(__all__)}")
    module = __import__(f"onehook.policies.{_MODULES[name]}", fromlist=[name])
    return getattr(module, name)
