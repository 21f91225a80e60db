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

    Shell commands are parsed: `cat .env`, `> .env`, `cp .env x`, `bash -c 'cat .env'`, `cat .e*` and `python -c "open('.env')"` are
    recognised. So are commands and searches that read a folder with such a file in it: `cp -r`, `tar`, `grep -r`, `find -exec`, the
    Grep tool; and calls of MCP tools that name a file. A program that opens the file itself is not: this is a guard rail, not a sandbox.
    """
    if not patterns or not all(isinstance(pattern, str) and pattern for pattern in patterns):
        raise ValueError('name at least one pattern: protected_paths("*.env")')
    guarded, excepted = [_prepared(pattern) for pattern in patterns], [_prepared(pattern) for pattern in allow]
    hooks = Hooks()

    def is_guarded(path: str, cwd: str, links: bool = True) -> bool:
        for form in _forms(path, cwd, links):
            if any(_covers(pattern, form) for pattern in guarded) and not any(_covers(pattern, form) for pattern in excepted):
                return True
        return False

    def guarded_in(path: str, cwd: str) -> str:
        """The path if it is protected, or the first protected file in a folder that is read recursively; otherwise ""."""
        if is_guarded(path, cwd):
            return path
        inside = getattr(path, "files", None)  # of a Folder
        return next((file for file in inside(cwd) if is_guarded(file, cwd, links=False)), "") if inside else ""

    @hooks.on("PreToolUse")
    def protected_path(event: Event) -> Response | None:
        written = [path for change in event.changes for path in (change.path, change.to) if path]
        for path in written if allow_read else [*written, *_read(event)]:
            if found := guarded_in(path, event.cwd):
                ban = f"it may not be {'changed' if path in written else 'read or changed'}"
                return deny(f"{found} is protected by policy; {ban}{_way_out(path, found)}")
        return _of_command(event) if event.command else None

    def _of_command(event: Event) -> Response | None:
        from onehook.policies.file_words import touched_files

        for word, verb, writes in touched_files(event.command, event.cwd):
            if (writes or not allow_read) and (found := guarded_in(word, event.cwd)):
                return deny(f"{verb} would {'change' if writes else 'read'} {found}, which is protected by policy{_way_out(word, found)}")
        return None

    return hooks


def _read(event: Event) -> list[str]:
    if event.tool != "Grep":
        return event.paths
    from onehook.policies.file_words import files_of_tool

    return files_of_tool(event)


def _way_out(path: str, found: str) -> str:
    return f"; leave it out, or name other files than {path}" if found != path else ""


def _prepared(pattern: str) -> str:
    return os.path.expanduser(pattern).replace("\\", "/").lower()


def _forms(path: str, cwd: str, links: bool) -> Iterator[tuple[str, str]]:
    """The ways to name a file, absolute and relative to the project: as given, and with links resolved."""
    whole = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    yield _form(whole, cwd)
    real = os.path.realpath(whole) if links else whole
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
