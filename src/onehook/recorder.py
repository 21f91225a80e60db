"""Called by the runner while ONEHOOK_RECORD names a folder: writes each event and its answer as one JSON line, one file per session.

Credentials are masked by their format (onehook.policies.secret_formats) and by their place (secret_places). Recording may be slow or fail;
it never changes an answer.
"""

from __future__ import annotations

import os
import time

from onehook.codec import dumps
from onehook.system import repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onehook.core import Event, Output
    from onehook.logger import Request

FOLDER, MASK = "ONEHOOK_RECORD", "ONEHOOK_RECORD_MASK"


def keep(request: Request, output: Output) -> None:
    """Append the event. An error is reported on stderr, unless stderr is the host's message channel."""
    try:
        _append(os.environ[FOLDER], _file_name(output.event), _entry(request, output))
    except Exception as error:
        if not output.alone:
            output.stderr = f"{output.stderr}\n[onehook] this event was not recorded: {type(error).__name__}: {error}".lstrip("\n")


def _entry(request: Request, output: Output) -> dict[str, Any]:
    event = output.event
    entry: dict[str, Any] = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "host": event.host if event is not None else "".join(request.hosts[:1]),
        "event": event.event if event is not None else "",
        "native_event": event.native_event if event is not None else request.event_name,
        "payload": event.native if event is not None else None,
        "answer": {
            "stdout": output.stdout,
            "stderr": output.stderr,
            "exit_code": output.exit_code,
            "response": None if output.answer is None else output.answer.to_dict(),
        },
    }
    if output.dropped:
        entry["answer"]["dropped"] = [drop.to_dict() for drop in output.dropped]
    if output.error:
        entry["answer"]["error"] = output.error
    if event is not None and event.echo:
        entry["echo"] = True
    return entry if os.environ.get(MASK) == "off" else masked(entry)


def masked(value: Any, key: str = "") -> Any:
    """A JSON value with every credential in it replaced by [rule]. Keys count too, as in "password": "..."."""
    if isinstance(value, dict):
        return {name: masked(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner, key) for inner in value]
    if not isinstance(value, str) or len(value) < 4:
        return value
    from onehook.policies.secret_places import find_all, mask_all

    text = mask_all(value)
    if text == value and key and "\n" not in value and (found := find_all(f'{key}: "{value}"')):
        return f"[{found[0].kind}]"
    return text


def _file_name(event: Event | None) -> str:
    if event is None:
        return "unreadable.jsonl"
    named = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in event.session_id)[:100].lstrip(".")
    return f"{event.host}-{named or 'no-session'}.jsonl"


def _append(folder: str, name: str, entry: dict[str, Any]) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.islink(folder):
        raise OSError(f"{folder} is a symbolic link")
    _ignore_in_git(folder)
    data = dumps(entry).encode("ascii") + b"\n"
    # A single append, so that hooks that run at the same time do not mix their lines.
    descriptor = _opened(os.path.join(folder, name), os.O_APPEND)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _opened(path: str, flags: int) -> int:
    """A file to write. A link in its place, which a cloned repository may hold, is not followed; a FIFO does not block."""
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, os.O_WRONLY | os.O_CREAT | flags | safe, 0o600)


def _ignore_in_git(folder: str) -> None:
    """Recordings hold what people typed, so they must not be committed by accident. A .gitignore that is already there is left as it is."""
    path = os.path.join(folder, ".gitignore")
    if os.path.lexists(path) or not repository(os.path.abspath(folder)):
        return
    try:
        descriptor = _opened(path, os.O_EXCL)
    except FileExistsError:  # another hook was faster
        return
    try:
        os.write(descriptor, b"# Written by onehook record.\n/*.jsonl\n/.gitignore\n")
    finally:
        os.close(descriptor)
