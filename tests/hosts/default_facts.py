"""What the shared tests need to know of a host beside its tables: the defaults. A host's facts.py has those that differ there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onehook.core import Change, Event, Mcp, Output, Response

Loss = tuple[set[str], Callable[[Response], bool], Callable[[Response], dict[str, Any]], str]

# ---- payloads ----

# What a payload cannot carry, all of it: (native event, field of the event) -> why.
FIELD_LOSSES: Mapping[tuple[str, str], str] = {}
# Whether a matcher can tell the tools of MCP servers from others.
MCP_BY_NAME = True
# The key of a tool's result that holds what a command printed; "" if the result is that text, None if there is no place for it.
RESULT: str | None = ""
# Keys that the agent sends and nothing is built for, and keys that are built and not always sent.
NOT_BUILT: frozenset[str] = frozenset()
NOT_ALWAYS_SENT: frozenset[str] = frozenset()
# One version of each era, for a host whose answers differ by version.
VERSIONS: tuple[str, ...] = ("",)


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    """The changes as this native event can tell them."""
    return changes


def tool_as_told(name: str, event: Event) -> str:
    """The unified tool of a call; one that changes a file is called by what it does."""
    return {"write": "Write", "delete": "Delete", "edit": "Edit"}[event.changes[0].kind] if event.changes else event.tool


def mcp_as_told(name: str, mcp: Mcp | None) -> Mcp | None:
    return mcp


# ---- answers ----

# The shapes of an answer that say "allow"; the others say it by silence. None: all of them do.
SAYS_ALLOW: frozenset[str] | None = frozenset()
# What the written form of an answer cannot say, all of it: (shapes, when, what is read instead, why).
ANSWER_LOSSES: Sequence[Loss] = ()
# How a hook of this agent rewrites a tool's input; None: it cannot.
rewrite: Callable[[dict[str, Any]], dict[str, Any]] | None = None


def as_received(event: Event, output: Output, answer: Response) -> Response:
    """The answer as the agent gets it, where that depends on more than its shape."""
    return answer


# ---- the sessions in transcripts/ ----

# Commands that left no trace because the agent refused them itself, by a part of the file's name.
REFUSED_UNSEEN: Mapping[str, tuple[str, ...]] = {}
BEGINS: tuple[str, ...] = ("SessionStart", "UserPromptSubmit")  # the events before the first call
LAST_MESSAGE = "all done"  # of the stop
LISTED: str = "build\nold.txt"  # what `ls` printed
READ: str | None = "one\ntwo"  # what the tool that reads a file gave back; None if there is none
TOKENS = 14  # at least, in one of them: 7 in and 7 out for a request; 0 if its files tell of none
SUCCESS: int | None = 0  # the exit code of a command that went well; None if the agent does not tell
READ: str | None = "one\ntwo"  # the result of reading a file with these lines; None if there is no tool for it
FAILURES = False  # a command that failed is a PostToolUseFailure
# Commands whose failure no hook is told of.
FAILED_UNTOLD: tuple[str, ...] = ()

# ---- proofs ----

# Modes in which the agent compacts when it is asked to, and not when a context is full.
COMPACTED_WHEN_ASKED: tuple[str, ...] = ()

# ---- manifests ----

# What the agent sends for a moment that it has no event for, by its own documentation and not by our tables: of "compacted" (a
# session continues after a compaction) and "subagent" (one has finished), as (event, tool, fields).
INSTEAD: Mapping[str, tuple[str, str, dict[str, str]]] = {}

# Those of these moments that the agent tells no hook at all.
UNTOLD: frozenset[str] = frozenset()

# The agent's own words for why a session starts, by the unified ones.
START_WORDS: Mapping[str, str] = {}

# ---- permission lists ----

# (scope, file, its content, the entries as (level, entry), why the others are refused)
PERMISSIONS: Sequence[tuple[str, str, Any, list[tuple[str, str]], list[str]]] = ()

# ---- config files ----

# What the file may hold in which the agent keeps trust: DIR is another folder.
TRUST_FILES: Sequence[str] = ()
HOOKS_ARE_BARE = False  # the events stand at the top of the file, with nothing around them
OTHER_SETTINGS = True  # the file has other settings beside hooks
EVENTS_ARE_TOOLS = False  # an event is told as the call of a tool of that name


def config_entry(line: str, matched: bool) -> dict[str, Any]:
    """An entry as a user of the agent writes it."""
    group: dict[str, Any] = {"matcher": "Bash"} if matched else {}
    return {**group, "hooks": [{"type": "command", "command": line, "timeout": 5}]}


LONGEST_REASON = 16_000_000  # characters of a reason that reach the agent
