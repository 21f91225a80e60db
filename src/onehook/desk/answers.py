"""The person's side: what is asked, and answering it. For `onehook approve` and for the page; no event loads this."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from onehook.desk import pin
from onehook.desk.requests import (
    ANSWER,
    AT_ONCE,
    LATE,
    NEXT_TRY,
    REQUEST,
    SESSION,
    DeskError,
    call_of,
    folder,
    ids,
    is_waiting,
    parsed,
    put_once,
    read,
    session_of,
    sweep,
)
from onehook.desk.statements import sealed
from onehook.hosts import having, load
from onehook.system import digest

SCOPES = ("once", "session")
_TEXTS = (
    "id", "host", "host_version", "model", "session", "agent", "project", "cwd", "event", "tool", "native_tool", "command", "url", "prompt",
    "reason", "policy",
)  # fmt: skip
_TABLES = {"by": ("kind", "name", "said"), "changes": ("path", "kind")}
_LISTS = ("paths", "rewritable")


class NoSuchRequest(DeskError):
    """There is no request with this ID, or it can no longer be answered."""


class AlreadyAnswered(DeskError):
    """Somebody was faster."""


class PinNeeded(DeskError):
    """This answer needs a PIN: there is one, or there has to be one."""


@dataclass(frozen=True)
class Asked:
    """A request as it is on disk. Its content comes from a process that the agent may have forged: show it, never act on it.

    state: "waiting" (a hook waits for the answer), "unanswered" (its time is over; an answer counts for the next attempt at the same call),
    "gone" (its hook was ended; nothing to answer), "answered".

    content, as JSON data: id, time and until (when it was asked, and how long the agent waits), host (`title` has its name), host_version,
    model, session, agent (of a subagent), project, cwd, event, tool, native_tool, input (the whole input in the agent's own form; what the
    policy itself rewrites is in it), command, paths, url, mcp ({"server", "tool"} or null), changes (of files: path, kind, old, new, to),
    prompt, reason (of the ask), by (who asks, as in the decision log: kind, name, said, reason, pack, file, line, ...), policy (its file),
    and rewritable (the names of the input that an answer can change; an agent without them can only be told).
    """

    id: str
    content: dict[str, Any]
    digest: str  # of exactly the bytes that are shown: an answer refers to these, and the hook compares
    state: str

    @property
    def title(self) -> str:
        """The agent's name for people."""
        host = self.content["host"]
        return load(host, "config").TITLE if host in having("config") else "an agent"

    @property
    def open(self) -> bool:
        return self.state in ("waiting", "unanswered")

    @property
    def age(self) -> float:
        return max(0.0, time.time() - float(self.content["time"]))

    @property
    def left(self) -> float:
        """Seconds that the agent still waits."""
        return max(0.0, float(self.content["until"]) - time.time())

    def to_dict(self) -> dict[str, Any]:
        return {"state": self.state, **self.content}


@dataclass(frozen=True)
class Answer:
    """decision: "allow" or "deny". scope: "once" or "session". words: the message for the model, with a deny. input: what is changed before
    it runs, such as {"command": "git push origin mine"}."""

    decision: str
    scope: str = "once"
    words: str = ""
    input: dict[str, Any] | None = None


def listed() -> list[Asked]:
    """Every request that can be answered, oldest first."""
    sweep(time.time())
    found = (_asked(id) for id in ids() if not _is_answered(f"{folder()}/{id}"))  # most are, and to look is quicker than to read them
    return sorted((asked for asked in found if asked is not None and asked.open), key=lambda asked: float(asked.content["time"]))


def one(id: str) -> Asked:
    """The request with this ID, or with the only ID that begins with it. `state` shows whether it was answered or is gone."""
    found = [name for name in ids() if name.startswith(id)] if id else []
    asked = _asked(found[0]) if len(found) == 1 else None
    if asked is None:
        several = f"{len(found)} requests begin with {id!r}: give a longer part of the ID"
        raise NoSuchRequest(several if len(found) > 1 else f"there is no request {id!r}")
    return asked


def watched(stop: Callable[[], bool] = lambda: False, every: float = 0.3) -> Iterator[list[Asked]]:
    """The list now, and again whenever it has changed, until `stop` returns true."""
    before: list[tuple[str, str]] | None = None
    while not stop():
        now = listed()
        shape = [(asked.id, asked.state) for asked in now]
        if shape != before:
            yield now
        before = shape
        time.sleep(every)


def _asked(id: str) -> Asked | None:
    path = f"{folder()}/{id}"
    data = read(f"{path}/{REQUEST}")
    content = parsed(data)
    if data is None or content.get("id") != id or not _is_request(content):
        return None
    return Asked(id, content, digest(data), _state(path, content))


def _is_request(content: dict[str, Any]) -> bool:
    """Whether a file has everything that people see, with the right types: anyone may have written it, so it must not break the
    list."""
    texts = all(isinstance(content.get(name), str) for name in _TEXTS)
    times = all(isinstance(content.get(name), (int, float)) and 0 < content[name] < 1e11 for name in ("time", "until"))
    tables = all(_are_tables(content.get(name), keys) for name, keys in _TABLES.items())
    lists = all(isinstance(content.get(name), list) and all(isinstance(one, str) for one in content[name]) for name in _LISTS)
    mcp = content.get("mcp")
    return texts and times and tables and lists and isinstance(content.get("input"), dict) and (mcp is None or isinstance(mcp, dict))


def _are_tables(value: Any, keys: tuple[str, ...]) -> bool:
    """A list of tables that have these strings; what else is in them is a string, a number or null."""
    tables = isinstance(value, list) and all(isinstance(one, dict) and all(isinstance(one.get(key), str) for key in keys) for one in value)
    return tables and all(item is None or isinstance(item, (str, int, float)) for one in value for item in one.values())


def _is_answered(path: str) -> bool:
    return os.path.lexists(f"{path}/{ANSWER}")


def _state(path: str, content: dict[str, Any]) -> str:
    if _is_answered(path):
        return "answered"
    if is_waiting(content["id"]):
        return "waiting"
    over = time.time() - content["until"]
    return "unanswered" if 0 <= over < LATE else "gone"


# --- answering --------------------------------------------------------------------------------------------------------------------


def give(asked: Asked, answer: Answer, key: pin.Key | None, *, by: str, via: str) -> str:
    """Answer a request as the person saw it; returns what the answer does, in a sentence.

    Without a key (no PIN is set), only a terminal can answer, and only while the agent waits: the hook checks who answers.
    """
    if answer.decision not in ("allow", "deny") or answer.scope not in SCOPES:
        raise ValueError(f"{answer.decision}, {answer.scope}")
    if answer.input is not None and (answer.decision != "allow" or answer.scope != "once"):
        raise DeskError("another command can only be approved, and only once")
    if not asked.open:
        raise (AlreadyAnswered if asked.state == "answered" else NoSuchRequest)(f"request {asked.id} is {asked.state}")
    statement = _statement(asked, answer, by, via)
    if key is None:
        return _at_the_terminal(asked, answer, statement)
    if key.public != pin.public_key():
        raise pin.WrongPin("the PIN was changed in the meantime")
    path = f"{folder()}/{asked.id}/{ANSWER}"
    try:
        if not put_once(path, sealed(statement, key)):
            raise AlreadyAnswered(f"request {asked.id} has already been answered")
    except FileNotFoundError:
        raise NoSuchRequest(f"request {asked.id} is gone") from None
    return _effect(asked, answer)


def _at_the_terminal(asked: Asked, answer: Answer, statement: dict[str, Any]) -> str:
    if pin.is_set():
        raise PinNeeded("a PIN is set: only an answer with the PIN counts")
    if answer.scope == "session" or asked.state != "waiting":
        what = "for the rest of a session" if answer.scope == "session" else "after the agent has stopped waiting"
        raise PinNeeded(f"an answer {what} needs a PIN, so that a later hook can verify it: run `onehook approve --set-pin`")
    from onehook.desk.peer import tell

    said = tell(asked.id, statement)
    if said:
        raise (AlreadyAnswered if "already" in said else DeskError)(said)
    return _effect(asked, answer)


def _statement(asked: Asked, answer: Answer, by: str, via: str) -> dict[str, Any]:
    now = time.time()
    session = answer.scope == "session"
    return {
        "id": asked.id,
        "digest": asked.digest,
        "call": call_of(asked.content),
        "session": session_of(asked.content) if session else "",
        "decision": answer.decision,
        "words": answer.words,
        "input": answer.input,
        "by": by,
        "via": via,
        "at": now,
        "until": now + (SESSION if session else AT_ONCE if asked.state == "waiting" else NEXT_TRY),
    }


def _effect(asked: Asked, answer: Answer) -> str:
    what = "approved" if answer.decision == "allow" else "denied"
    if answer.scope == "session":
        return f"{what} for the rest of this session, for every request with the same reason"
    if asked.state == "waiting":
        return f"{what}: the agent continues"
    return f"{what}: the agent has stopped waiting, so this applies to its next attempt within {NEXT_TRY // 60} minutes, once"
