"""context_notes, todo_reminder, session_diary: what the model is reminded of, and what is recorded about a session."""

from __future__ import annotations

import os

from onehook.core import Hooks, Response, deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from onehook.core import Event

_TODO, _DIARY = "onehook.todo_reminder", "onehook.session_diary"
_SHOWN = 8000  # characters of a file
_WORDS = ("TODO", "FIXME", "XXX", "HACK")


def context_notes(start: str = "", compacted: str = "", files: Iterable[str] = ()) -> Hooks:
    """Give the model context when a session starts, and again after a compaction, which would lose it.

    start      what the model is told at every start
    compacted  what it is also told after a compaction; on an agent that starts no session then, before the compaction
    files      files of the project whose content is given with both, such as a map of the code or a list of decisions
    """
    if not start and not compacted and not files:
        raise ValueError("give at least one of start, compacted and files")
    named = [files] if isinstance(files, str) else list(files)
    hooks = Hooks()

    @hooks.on("SessionStart")
    def remind(event: Event) -> Response | None:
        texts = [start, compacted if event.source == "compact" else "", *(_content(event.cwd, name) for name in named)]
        return _context(texts)

    @hooks.on("PreCompact")
    def before_compaction(event: Event) -> Response | None:
        return _context([compacted])

    return hooks


def _context(texts: list[str]) -> Response | None:
    told = "\n\n".join(text for text in texts if text)
    return Response(additional_context=told) if told else None


def _content(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            text = file.read(_SHOWN + 1)
    except OSError:
        return ""
    return f"{name}:\n{text[:_SHOWN]}{' ...' if len(text) > _SHOWN else ''}"


def todo_reminder(words: Iterable[str] = _WORDS) -> Hooks:
    """When the agent wants to stop, remind it once of the TODO comments that it has added.

    words  the words that such a comment begins with
    """
    marks = (words,) if isinstance(words, str) else tuple(words)
    hooks = Hooks()

    @hooks.on("PostToolUse", tool="Write|Edit")
    def note_todos(event: Event) -> None:
        found: list[str] = event.session.get(_TODO, [])
        for change in event.changes:
            before = set((change.old or "").splitlines())
            added = [line.strip() for line in (change.new or "").splitlines() if line not in before]
            found += [f"{change.path}: {line[:160]}" for line in added if any(mark in line for mark in marks)]
        if found:
            event.session[_TODO] = list(dict.fromkeys(found))[-50:]

    @hooks.on("Stop")
    def remind_of_todos(event: Event) -> Response | None:
        found = event.session.get(_TODO)
        if not found or event.stop_hook_active:
            return None
        event.session[_TODO] = []
        return deny("you have added these notes; do what they ask for, or list them in your summary:\n" + "\n".join(found))

    return hooks


def session_diary(path: str = ".agent-diary.md") -> Hooks:
    """Append a line to a file of the project whenever the agent stops: when, which agent, how long, which files it has changed.

    path  the file, relative to the project's folder
    """
    if not path or os.path.isabs(path) or ".." in path.replace("\\", "/").split("/"):
        raise ValueError(f"{path!r}: name a file below the project's folder")
    hooks = Hooks()

    @hooks.on("PostToolUse")
    def note_work(event: Event) -> None:
        import time

        known = event.session.get(_DIARY) or {"since": time.time(), "files": [], "commands": 0}
        names = [os.path.relpath(change.to or change.path, event.cwd) if event.cwd else change.path for change in event.changes]
        event.session[_DIARY] = {
            "since": known["since"],
            "files": list(dict.fromkeys([*known["files"], *names]))[-50:],
            "commands": known["commands"] + bool(event.command),
        }

    @hooks.on("Stop")
    def write_line(event: Event) -> None:
        import time

        known = event.session.get(_DIARY)
        if not known or os.environ.get("ONEHOOK_REPLAY"):
            return
        minutes = max(1, round((time.time() - known["since"]) / 60))
        files = ", ".join(known["files"]) or "no files"
        line = f"- {time.strftime('%Y-%m-%d %H:%M')} {event.host}, {minutes} min: {files}; {known['commands']} commands\n"
        with open(os.path.join(event.cwd or ".", path), "a", encoding="utf-8") as file:
            file.write(line)
        event.session[_DIARY] = None

    return hooks
