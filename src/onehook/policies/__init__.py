"""Policies to start from: hooks.use(dangerous_commands()).

Each is a factory that returns Hooks. Only the named factory is loaded, and what it needs is loaded by the first event that needs it: a
session start does not pay for the shell parser.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onehook.policies.commands import dangerous_commands as dangerous_commands
    from onehook.policies.commands import git_guard as git_guard
    from onehook.policies.credentials import secrets as secrets
    from onehook.policies.finishing import session_briefing as session_briefing
    from onehook.policies.finishing import tests_before_stop as tests_before_stop
    from onehook.policies.formatting import format_after_edit as format_after_edit
    from onehook.policies.guarded_paths import protected_paths as protected_paths

_MODULES = {
    "dangerous_commands": "commands",
    "format_after_edit": "formatting",
    "git_guard": "commands",
    "protected_paths": "guarded_paths",
    "secrets": "credentials",
    "session_briefing": "finishing",
    "tests_before_stop": "finishing",
}
__all__ = [  # noqa: PLE0604, RUF100  (made by __getattr__)
    "dangerous_commands",
    "format_after_edit",
    "git_guard",
    "protected_paths",
    "secrets",
    "session_briefing",
    "tests_before_stop",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'onehook.policies' has no attribute {name!r}; it has {', '.join(__all__)}")
    module = __import__(f"onehook.policies.{_MODULES[name]}", fromlist=[name])
    return getattr(module, name)
