"""A line of the log whose texts may hold credentials, or are too long."""

from __future__ import annotations

import sys

from onehook.system import LOG_QUOTING, LOG_TEXT, NOWHERE, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from typing import Any

    from onehook.core import Event, Options


_WINDOW = 4000  # characters that are looked at for credentials before a string is cut


def append_masked(
    entry: dict[str, Any],
    texts: Sequence[str],
    event: Event | None,
    options: Options,
    append: Callable[[dict[str, Any], Options], None],
) -> None:
    """Append a line without credentials. `texts`: what of it may hold some.

    To load the rules that find them takes longer than all the rest, so it is left to a process of its own where the log is not required.
    """

    def write() -> None:
        append(masked_entry(entry, texts, event if options.log_content else None), options)

    doubtful = options.log_content or any(may_hold_credential(cut(text)) for text in texts)
    # A process with threads must not fork.
    if options.log == "required" or not doubtful or not hasattr(os, "fork") or len(sys._current_frames()) > 1:
        write()
    elif os.fork() == 0:
        try:
            os.setsid()
            nowhere = os.open(NOWHERE, os.O_RDWR)
            for descriptor in (0, 1, 2):  # the agent waits until these are closed
                os.dup2(nowhere, descriptor)
            write()
        finally:
            os._exit(0)


def masked_entry(entry: dict[str, Any], quoting: Container[str], content: Event | None = None) -> dict[str, Any]:
    """An entry without credentials. `content`: an event to add whole."""
    for holder, name in [*((entry, name) for name in LOG_QUOTING), *((one, "reason") for one in entry["by"] if one.get("reason"))]:
        holder[name] = masked(holder[name]) if holder[name] in quoting else _short(holder[name])
    if content is not None:
        from onehook.recorder import masked as masked_value

        entry["content"] = masked_value(content.native)
    return entry


def masked(text: str) -> str:
    """Cut, and with every credential replaced by [kind]."""
    text = cut(text)
    if may_hold_credential(text):
        from onehook.policies.secret_places import mask_all

        text = mask_all(text)
    return _short(text)


def cut(text: str) -> str:
    """The part of a string that is searched. If the beginning of a key were cut off, its end would not be recognised."""
    return text[:_WINDOW].partition("-----BEGIN ")[0]


def _short(text: str) -> str:
    return text if len(text) <= LOG_TEXT else f"{text[: LOG_TEXT - 1]}…"


# What a string must contain for a rule of policies/secret_places.py to find something by its place ...
_NAMES = (
    "pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "dsn", "salt", "connection", "bearer", "basic ", "cookie", "sig=",
    "hook", "login", "redis-cli", "smbclient", "ldap",
)  # fmt: skip
_WITH_OPTIONS = ("curl", "wget", "http", "xh", "mysql", "mariadb", "mongo", "zip", "sqlcmd", "7z")
# ... or by its format: a long word.
_LETTERS = bytes(c if chr(c).isalnum() or chr(c) in "_.-~" else 32 for c in range(128)) + b"x" * 128


def may_hold_credential(text: str) -> bool:
    lower = text.lower()
    if any(name in lower for name in _NAMES) or ("://" in text and "@" in text):
        return True
    if " -" in text and any(name in lower for name in _WITH_OPTIONS):
        return True
    words = text.encode("utf-8", "replace").translate(_LETTERS).split()
    return any(len(word) >= 20 and (len(word) >= 35 or not word.isalpha()) for word in words)
