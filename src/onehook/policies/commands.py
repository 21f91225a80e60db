"""dangerous_commands and git_guard: shell commands that should not run."""

from __future__ import annotations

import os

from onehook.core import Hooks, ask, deny
from onehook.policies.rule_names import RULES, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from onehook.core import Event, Response


def dangerous_commands(*, skip: Iterable[str] = (), strict: bool = False, decision: str = "deny") -> Hooks:
    """Stop shell commands that do irreversible damage: rm -rf /, mkfs, a forced push, curl | sh, ...

    skip      rules to disable, by name (see the table in docs/policies.md)
    strict    also deny every rm -rf, and eval of text that cannot be inspected
    decision  "deny", or "ask" to let the user decide
    """
    left_out = tuple(skip)
    check(left_out, tuple(RULES))
    if decision not in ("deny", "ask"):
        raise ValueError(f'decision must be "deny" or "ask", not {decision!r}')
    hooks = Hooks()

    @hooks.on("PreToolUse", tool="Bash")
    def dangerous_command(event: Event) -> Response | None:
        from onehook.policies.danger import dangers

        for found in dangers(event.command, skip=left_out, strict=strict):
            reason = f"dangerous command: {found.reason} (rule {found.rule})"
            return deny(reason) if decision == "deny" else ask(reason)
        return None

    return hooks


def git_guard(*, protected: Iterable[str] = ("main", "master"), allow_lease: bool = False) -> Hooks:
    """Stop git commands that rewrite shared history or bypass the repository's rules.

    Covers a forced push, a commit, merge or push on a protected branch, and skipped hooks (--no-verify, core.hooksPath).

    protected    branches that may not be changed directly
    allow_lease  allow push --force-with-lease
    """
    branches = tuple(protected)
    hooks = Hooks()

    @hooks.on("PreToolUse", tool="Bash")
    def git_command(event: Event) -> Response | None:
        if "git" not in event.command.lower() and not any(c in event.command for c in "\\'\"$`"):
            return None  # it cannot contain git, so the shell parser need not be loaded
        from onehook.policies.danger_git import git_danger

        reason = git_danger(event.command, branches, current_branch=current_branch(event.cwd), allow_lease=allow_lease)
        return deny(f"git: {reason}") if reason else None

    return hooks


def current_branch(folder: str) -> str | None:
    """The current branch of the repository that contains a folder, from its HEAD file; None outside a repository or on no branch."""
    folder = os.path.abspath(folder or os.getcwd())
    while True:
        found = _head(os.path.join(folder, ".git"))
        if found is not None:
            return found.removeprefix("ref: refs/heads/").strip() if found.startswith("ref: refs/heads/") else None
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _head(git: str) -> str | None:
    try:
        if os.path.isfile(git):  # a worktree or a submodule: the file names its .git
            with open(git, encoding="utf-8", errors="replace") as file:
                named = file.read(4096).partition("gitdir:")[2].strip()
            git = os.path.join(os.path.dirname(git), named)
        with open(os.path.join(git, "HEAD"), encoding="utf-8", errors="replace") as file:
            return file.read(4096)
    except OSError:
        return None
