"""format_after_edit: run the project's formatter on each file that the agent changes."""

from __future__ import annotations

import os

from onehook.core import Hooks, Response, wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onehook.core import Event

_SHOWN = 1500  # characters of a formatter's output; the model needs no more


def format_after_edit(formatters: Mapping[str, Sequence[str]], *, timeout: float = 15) -> Hooks:
    """Run a formatter on every written file: format_after_edit({"*.py": ["ruff", "format"]}).

    The file's path is added as the last argument; no shell is involved. The model is told which files the formatter changed, and what
    it reported.
    """
    rules = [(pattern, list(words)) for pattern, words in formatters.items()]
    for pattern, words in rules:
        if isinstance(formatters[pattern], str) or not words:
            raise ValueError(f'{pattern}: give the formatter as a list of words, for example ["ruff", "format"]')
    hooks = Hooks()

    @hooks.on("PostToolUse", tool="Write|Edit")
    def format_changed_files(event: Event) -> Response | None:
        if os.environ.get("ONEHOOK_REPLAY"):
            return None  # replaying past events must not change files
        told: list[str] = []
        for path in _written(event):
            for pattern, words in rules:
                if wildcard(pattern, os.path.basename(path)) or wildcard(pattern, path):
                    told += _format(path, words, event.cwd, timeout)
        return Response(additional_context="\n".join(told)) if told else None

    return hooks


def _written(event: Event) -> list[str]:
    paths = [os.path.abspath(change.to or change.path) for change in event.changes if change.kind != "delete"]
    return [path for path in dict.fromkeys(paths) if os.path.isfile(path)]


def _format(path: str, words: list[str], cwd: str, timeout: float) -> list[str]:
    import subprocess

    before = _content(path)
    shown = " ".join(words)
    try:
        done = subprocess.run(
            [*words, path],
            cwd=cwd if os.path.isdir(cwd) else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = (
            f"took longer than {timeout:g} s" if isinstance(error, subprocess.TimeoutExpired) else f"could not be started: {error.strerror}"
        )
        return [f"`{shown}` {why}; {path} was not formatted"]
    told: list[str] = []
    if done.returncode:
        told.append(f"`{shown}` failed on {path}:\n{done.stdout.decode('utf-8', 'replace').strip()[-_SHOWN:]}")
    if _content(path) != before:
        told.append(f"`{shown}` changed {path}; read it again before you edit it")
    return told


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
