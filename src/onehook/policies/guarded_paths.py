"""protected_paths: files that the agent may not touch, whether with its file tools or with shell commands."""

from __future__ import annotations

import os

from onehook.core import Hooks, deny, wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onehook.core import Event, Response


def protected_paths(*patterns: str, allow_read: bool = False, allow: Iterable[str] = ()) -> Hooks:
    """Keep files away from the agent: protected_paths("*.env", "secrets/*", "~/.ssh/*").

    A pattern without a slash matches the name of a file or of any parent folder; one with a slash matches the path, relative to the
    project, or from / or ~. * matches any characters, including slashes; case is ignored.

    allow_read  only prevent changes
    allow       exceptions, as patterns: allow=("*.example.env",)

    Shell commands are parsed: `cat .env`, `> .env`, `cp .env x`, `bash -c 'cat .env'` and `cat .e*` are recognised. A program that
    opens the file itself is not: this is a guard rail, not a sandbox.
    """
    if not patterns or not all(isinstance(pattern, str) and pattern for pattern in patterns):
        raise ValueError('name at least one pattern: protected_paths("*.env")')
    guarded, excepted = [_prepared(pattern) for pattern in patterns], [_prepared(pattern) for pattern in allow]
    hooks = Hooks()

    def is_guarded(path: str, cwd: str) -> bool:
        for form in _forms(path, cwd):
            if any(_covers(pattern, form) for pattern in guarded) and not any(_covers(pattern, form) for pattern in excepted):
                return True
        return False

    @hooks.on("PreToolUse")
    def protected_path(event: Event) -> Response | None:
        written = [path for change in event.changes for path in (change.path, change.to) if path]
        touched = written if allow_read else [*written, *event.paths]
        for path in touched:
            if is_guarded(path, event.cwd):
                return deny(f"{path} is protected by policy; it may not be {'changed' if path in written else 'read or changed'}")
        return _of_command(event) if event.command else None

    def _of_command(event: Event) -> Response | None:
        from onehook.policies.file_words import touched_files

        for word, verb, writes in touched_files(event.command, event.cwd):
            if (writes or not allow_read) and is_guarded(word, event.cwd):
                return deny(f"{verb} would {'change' if writes else 'read'} {word}, which is protected by policy")
        return None

    return hooks


def _prepared(pattern: str) -> str:
    return os.path.expanduser(pattern).replace("\\", "/").lower()


def _forms(path: str, cwd: str) -> Iterator[tuple[str, str]]:
    """The ways to name a file, absolute and relative to the project: as given, and with links resolved."""
    whole = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    yield _form(whole, cwd)
    real = os.path.realpath(whole)
    if real != whole:
        yield _form(real, os.path.realpath(cwd) if cwd else "")


def _form(path: str, base: str) -> tuple[str, str]:
    plain, root = path.replace("\\", "/").lower(), base.replace("\\", "/").lower().rstrip("/")
    return plain, plain[len(root) + 1 :] if root and plain.startswith(root + "/") else plain


def _covers(pattern: str, form: tuple[str, str]) -> bool:
    whole, inside = form
    if "/" not in pattern:
        return any(wildcard(pattern, name) for name in inside.split("/") if name)
    if pattern.startswith("/") or pattern[1:2] == ":":
        return wildcard(pattern, whole)
    return wildcard(pattern.removeprefix("./"), inside) or wildcard("*/" + pattern.removeprefix("./"), inside)
