"""Writes the decision log: one JSON line for each event that was answered, once the agent has its answer.

A line holds its number (`n`) and the SHA-256 of the line before (`prev`), so that `onehook log verify` finds a line that was removed,
changed or moved. The file `head` holds what the next writer needs: the current file, its size, and the number and hash of its last line.
It is also the lock, so that writers at the same time make one chain, and it shows that the end of a log was cut off.

The fields are described in docs/schema/log.json, with their names in OpenTelemetry and OCSF. What is rarely needed is in onehook/log.

Every event loads this module, though few have a line to write: after a fork it would take five times as long, since each page of memory
that the import touches is copied.
"""

from __future__ import annotations

import sys
import time
from _imp import source_hash

from onehook.cache import stamp_of
from onehook.codec import dumps
from onehook.hostkit.tools import absolute
from onehook.system import LOG_QUOTING, LOG_RULES, LOG_TEXT, digest, is_file, log_folder, os, project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from onehook.core import Event, Options, Output, Pause

    class Request(Protocol):
        """The part of runner.Request that is logged."""

        begun: float
        event_name: str
        hosts: Sequence[str]
        pause: Pause | None
        policy: str


# Do not follow a link, and neither wait for a FIFO nor write to it.
SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
MAX_FILE = 64 << 20  # bytes; a day with more has several files
_EFFECTS = ("modified_input", "modified_output", "additional_context", "user_message", "message", "lint_command")
_WEIGHT = ("allow", "context", "rewrite", "mask", "warn", "ask", "deny")  # of the answers without effect, the strongest is named


def kept(request: Request, output: Output, options: Options, sources: str, opening: dict[str, Any] | None = None) -> str:
    """Append the line of an event; returns what went wrong, or ""."""
    try:
        entry = entry_of(request, output, options, sources, opening)
        texts = texts_of(entry)
        if options.log_content or (any(map(is_doubtful, texts)) and not are_shortened(entry, texts)):
            from onehook.masks import append_masked

            append_masked(entry, texts, output.event, options, append)
        else:
            append(entry, options)
    except Exception as error:
        return f"this decision was not logged: {type(error).__name__}: {error}"
    return wake(options.telemetry, entry["policy"], entry["time"]) if options.telemetry else ""


AWAKE = 30  # seconds without a sign of life after which the process that sends the log is started again


def wake(url: str, policy: str, now: str) -> str:
    """Start what sends the log to a collector, unless it runs; see log/flusher.py. Returns what went wrong, or ""."""
    try:
        name = f"{log_folder()}/otlp-{digest(f'{url} {policy}'.encode('utf-8', 'replace'))[:16]}"
        try:
            if os.stat(f"{name}.awake").st_mtime > time.time() - AWAKE:
                return ""
        except FileNotFoundError:
            pass
        from onehook.log.wake import start

        start(name, url, policy, now)
    except Exception as error:
        return f"the log is not sent to {url}: {type(error).__name__}: {error}"
    return ""


def made_ready(request: Request, event: Event) -> dict[str, Any]:
    """Prepare a line while the policy runs in a separate process: loading SHA-256 after a fork takes 0.25 ms, half of the time for a
    line. For most events this is wasted, since nothing answers them, so it does no more than that: also running the code for a line
    here, so that its memory is already copied, slowed all events down by 0.3 ms.
    """
    opening = opening_of(request, event)
    opening["policy_hash"] = hash_of_file(request.policy)
    if is_doubtful(opening["subject"]):
        from onehook.screens import is_clean

        is_clean(opening["subject"])  # the result is remembered
    return opening


def opening_of(request: Request, event: Event | None) -> dict[str, Any]:
    """The fields of a line, those filled in that do not depend on the answer."""
    policy = request.policy or sys.argv[0]
    return {
        "time": "",
        "id": "",
        "agent": event.host if event is not None else "".join(request.hosts[:1]),
        "agent_version": event.host_version if event is not None else "",
        "session": event.session_id if event is not None else "",
        "project": project_of(event.cwd) if event is not None else "",
        "event": event.event if event is not None else request.event_name,
        "tool": event.tool if event is not None else "",
        "subject": subject_of(event) if event is not None else "",
        "decision": "none",
        "would": None,
        "by": [],
        "reason": "",
        "effects": [],
        "dropped": [],
        "error": "",
        "ms": 0.0,
        "policy": absolute(policy, "" if policy.startswith("/") else os.getcwd()),  # the current folder may no longer exist
        "policy_hash": "",
        "mode": "",
        "pause": None,
        "approver": None,
    }


def entry_of(request: Request, output: Output, options: Options, sources: str, opening: dict[str, Any] | None = None) -> dict[str, Any]:
    """The line of an event; credentials are not masked yet."""
    now, ms = time.time(), (time.monotonic() - request.begun) * 1000
    entry, answer, pause = opening or opening_of(request, output.event), output.answer, request.pause
    entry["time"] = stamp(now)
    entry["id"] = new_id(now)
    # An error that is not answered by a deny lets the action through.
    entry["decision"] = (answer.decision or "none") if answer is not None else "deny" if output.exit_code == 2 else "none"
    entry["by"] = output.by
    entry["approver"] = output.approver
    would = -1
    for one in output.by:
        one.pop("ask_via", None)  # it was only for asking
        if ("observed" in one or "exception" in one) and one["said"] in _WEIGHT:
            would = max(would, _WEIGHT.index(one["said"]))
    if would >= 0:
        entry["would"] = _WEIGHT[would]
    entry["reason"] = (answer.reason or "") if answer is not None else ""
    for name in _EFFECTS:
        if getattr(answer, name, None) is not None:
            entry["effects"].append(name)
    for drop in output.dropped:
        entry["dropped"].append(drop.to_dict())
    entry["error"] = output.error
    entry["ms"] = round(ms, 2)
    entry["policy_hash"] = sources or entry["policy_hash"] or hash_of_file(request.policy)
    entry["mode"] = options.mode
    entry["pause"] = pause and {"until": stamp(pause.until), "rules": list(pause.rules), "reason": pause.reason}
    return entry


def subject_of(event: Event) -> str:
    """What an event is about, in one string. Never what was typed or written."""
    if event.command or event.url:
        return event.command or event.url
    if event.paths:
        return ", ".join(event.paths[:8])
    if event.mcp is not None:
        return f"{event.mcp.server}.{event.mcp.tool}"
    for name in ("query", "pattern", "description"):
        word = event.tool_input.get(name)
        if isinstance(word, str):
            return word
    return event.source


def stamp(now: float) -> str:
    """RFC 3339, in UTC, with milliseconds.

    Computed here: the first call of time.gmtime makes the C library read the time zone, which takes longer than all of this.
    """
    days, second = divmod(int(now), 86400)
    # Counted from 1 March of the year 0, a year ends with its leap day, and 400 years have the same number of days.
    era, day = divmod(days + 719468, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153  # 0 is March; five months have 153 days
    day -= (153 * month + 2) // 5
    year += 400 * era + (month > 9)
    month += 3 if month < 10 else -9
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{int(now * 1000) % 1000:03d}"
    return f"{year:04d}-{month:02d}-{day + 1:02d}T{clock}Z"


def new_id(now: float) -> str:
    """An id that sorts by time, with the random part at the end."""
    return f"{int(now * 1000):011x}{os.urandom(3).hex()}"


# --- credentials -----------------------------------------------------------------------------------------------------------------


def texts_of(entry: dict[str, Any]) -> list[str]:
    """The strings that have to be searched for credentials. A rule's reason comes from the rules file, and quotes nothing."""
    texts = dict.fromkeys(map(entry.__getitem__, LOG_QUOTING))
    for one in entry["by"]:
        reason = one.get("reason")
        texts[reason] = None
        if one["kind"] == "rule":
            texts.pop(reason)
            texts.pop(f"{reason} (rule {one['name']})", None)
    return list(filter(None, texts))


def are_shortened(entry: dict[str, Any], texts: Sequence[str]) -> bool:
    """Whether these strings of a line contain no credentials, and have been cut."""
    from onehook.screens import is_clean, shorten

    if not all(map(is_clean, texts)):
        return False
    try:
        for text in texts:
            remember(text)
    except OSError:  # then it is searched again
        pass
    shorten(entry, texts, str)
    return True


def is_doubtful(text: str) -> bool:
    """Whether a string has to be cut or searched before it is logged."""
    return is_long(text) and not is_remembered(text)


# Agents repeat their commands. A string in which no credential was found is remembered in a file of the log, for all processes, by a hash
# of it and of the state of the rules that searched it.
REMEMBERED = 4096  # strings
_remembered: set[str] = set()


def is_remembered(text: str) -> bool:
    if text not in _remembered and len(text) <= LOG_TEXT:
        mark, place = _mark_of(text)
        try:
            file = os.open(f"{log_folder()}/clean", os.O_RDONLY | SAFE)
        except OSError:  # then nothing is remembered
            return False
        os.lseek(file, place, 0)
        if os.read(file, 8) == mark:
            _remembered.add(text)
        os.close(file)
    return text in _remembered


def remember(text: str) -> None:
    if len(text) <= LOG_TEXT:
        mark, place = _mark_of(text)
        file, _ = opened(f"{log_folder()}/clean", os.O_WRONLY)
        os.lseek(file, place, 0)
        os.write(file, mark)
        os.close(file)


def _mark_of(text: str) -> tuple[bytes, int]:
    """What is remembered about a string, and where in the file."""
    mark = source_hash(0, f"{stamp_of(LOG_RULES)}{text}".encode("utf-8", "surrogatepass"))
    return mark, int.from_bytes(mark[:4], "little") % REMEMBERED * 8


# What a string must contain for a rule of policies/secret_places.py to find something in it: one of these, or a long word.
_NAMES = (
    "pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "dsn", "salt", "connection", "bearer", "basic ", "cookie", "sig=",
    "hook", "login", "redis-cli", "smbclient", "ldap", "curl", "wget", "http", "xh", "mysql", "mariadb", "mongo", "zip", "sqlcmd", "7z",
)  # fmt: skip


def is_long(text: str) -> bool:
    """Whether a string has to be cut, or may contain a credential."""
    if len(text) > LOG_TEXT or "://" in text:
        return True
    lower = text.lower()
    for name in _NAMES:
        if name in lower:
            return True
    return max(map(len, text.replace("/", " ").split()), default=0) > 19


# --- the chain -------------------------------------------------------------------------------------------------------------------


def append(entry: dict[str, Any], options: Options) -> None:
    """Add a line to today's log; raises OSError if that is not possible."""
    folder = log_folder()
    body = dumps(entry).encode("ascii")
    head, _ = opened(f"{folder}/head", os.O_RDWR)
    try:
        try:
            os.lockf(head, os.F_TLOCK, 0)  # released when it is closed; fcntl.flock would need another module
        except (OSError, AttributeError) as error:
            from onehook.log.repair import wait_for

            wait_for(head, error)
        try:
            name, digits, count, last = os.read(head, 200).decode("ascii").split()
            size, number, mark = int(digits), int(count), b""
        except ValueError:  # new, or damaged
            from onehook.log.repair import recovered

            name, size, number, last, mark = recovered(folder)
        today = entry["time"][:10]
        if today > name[:10] or size > MAX_FILE:  # if the clock was set back, the newest file is continued
            from onehook.log.files import next_file

            name, size = next_file(name, today), 0
        file, found = opened(f"{folder}/{name}", os.O_WRONLY | os.O_APPEND)
        try:
            if found != size:
                from onehook.log.repair import repaired

                size, number, last, mark = repaired(file, f"{folder}/{name}", size, number, last)
            line = b'{"n": %d, "prev": "%s", %s%s' % (number + 1, last.encode(), mark, body[1:])
            if os.write(file, line + b"\n") != len(line) + 1:
                os.ftruncate(file, size)
                raise OSError("the disk is full")
        finally:
            os.close(file)
        os.lseek(head, 0, 0)
        os.write(head, b"%-24s %12d %12d %s\n" % (name.encode(), size + len(line) + 1, number + 1, digest(line).encode()))
    finally:
        os.close(head)
    if not size:  # a new file: time to look for old ones
        from onehook.log.repair import swept

        gone = swept(folder, entry, options)
        if gone:
            append(gone, options)


def rehearsed(entry: dict[str, Any]) -> None:
    """What append computes, without the file."""
    any(map(is_doubtful, texts_of(entry)))
    digest(dumps(entry).encode("ascii"))


def opened(path: str, flags: int) -> tuple[int, int]:
    """A file of the log, and its size."""
    flags |= os.O_CREAT | SAFE
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileNotFoundError:
        from os import makedirs

        makedirs(path.rpartition("/")[0], mode=0o700, exist_ok=True)
        descriptor = os.open(path, flags, 0o600)
    status = os.fstat(descriptor)
    if status.st_mode & 0o170000 != 0o100000:
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return descriptor, status.st_size


def hash_of_file(path: str) -> str:
    try:
        if not is_file(path):  # a FIFO would block
            return ""
        file = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):
        return ""
    try:
        return digest(os.read(file, min(os.fstat(file).st_size, 1 << 22)))
    except OSError:
        return ""
    finally:
        os.close(file)
