"""What the shared tests need to know about a host in addition to its tables: the defaults. A host's facts.py contains what differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onehook.core import Change, Event, Mcp, Output, Response

Loss = tuple[set[str], Callable[[Response], bool], Callable[[Response], dict[str, Any]], str]

# ---- payloads ----

# Everything that a payload cannot carry: (native event, field of the event) -> why.
FIELD_LOSSES: Mapping[tuple[str, str], str] = {}
# Whether a matcher can distinguish tools of MCP servers from others.
MCP_BY_NAME = True
# The key of a tool's result that contains what a command printed; "" if the result is that text, None if there is no place for it.
RESULT: str | None = ""
# Keys that the agent sends and that are never built, and keys that are built but not always sent.
NOT_BUILT: frozenset[str] = frozenset()
NOT_ALWAYS_SENT: frozenset[str] = frozenset()
# One version for each behaviour, for a host whose answers differ by version.
VERSIONS: tuple[str, ...] = ("",)


def changes_as_told(name: str, changes: list[Change]) -> list[Change]:
    """The changes as this native event can represent them."""
    return changes


def tool_as_told(name: str, event: Event) -> str:
    """The unified tool of a call; a call that changes a file is named after what it does."""
    return {"write": "Write", "delete": "Delete", "edit": "Edit"}[event.changes[0].kind] if event.changes else event.tool


def mcp_as_told(name: str, mcp: Mcp | None) -> Mcp | None:
    return mcp


# ---- answers ----

# The shapes of an answer that express "allow"; the others express it by silence. None: all shapes express it.
SAYS_ALLOW: frozenset[str] | None = frozenset()
# Everything that the written form of an answer cannot express: (shapes, when, what is read instead, why).
ANSWER_LOSSES: Sequence[Loss] = ()
# How a hook of this agent rewrites a tool's input; None if it cannot.
rewrite: Callable[[dict[str, Any]], dict[str, Any]] | None = None


def as_received(event: Event, output: Output, answer: Response) -> Response:
    """The answer as the agent gets it, where that depends on more than its shape."""
    return answer


# ---- results of tools ----

# What no capture shows: (native tool, its result, the text in it, the exit code). What a command prints cannot be mistaken for what the
# agent puts around it, and without the agent's own text nothing is known.
RESULT_TEXTS: Sequence[tuple[str, Any, str, int | None]] = ()
# Tools whose results are not in the payload.
UNHELD_RESULTS: tuple[str, ...] = ()


def result_payload(common: dict[str, Any], response: Any) -> dict[str, Any]:
    """What the agent sends after a tool."""
    return {**common, "hook_event_name": "PostToolUse", "tool_response": response}


# ---- the sessions in transcripts/ ----

# Commands that left no trace because the agent refused them itself, by a part of the file's name.
REFUSED_UNSEEN: Mapping[str, tuple[str, ...]] = {}
BEGINS: tuple[str, ...] = ("SessionStart", "UserPromptSubmit")  # the events before the first call
LAST_MESSAGE = "all done"  # of the stop
LISTED: str = "build\nold.txt"  # what `ls` printed
TOKENS = 14  # at least, in one of them: 7 in and 7 out for a request; 0 if its files do not report them
SUCCESS: int | None = 0  # the exit code of a command that succeeded; None if the agent does not report it
READ: str | None = "one\ntwo"  # the result of reading a file with these lines; None if there is no tool for it
FAILURES = False  # whether a failed command is a PostToolUseFailure
# Commands whose failure is not reported to any hook.
FAILED_UNTOLD: tuple[str, ...] = ()

# ---- proofs ----

# Modes in which the agent compacts on request, not when the context is full.
COMPACTED_WHEN_ASKED: tuple[str, ...] = ()

# ---- manifests ----

# What the agent sends when it has no event of its own for something, according to its documentation and not our tables: for "compacted" (a
# session continues after a compaction) and "subagent" (one has finished), as (event, tool, fields).
INSTEAD: Mapping[str, tuple[str, str, dict[str, str]]] = {}

# Which of these the agent does not report to any hook.
UNTOLD: frozenset[str] = frozenset()

# The agent's own words for why a session starts, by the unified words.
START_WORDS: Mapping[str, str] = {}

# A field of an answer at session start that other agents have no equivalent for: (an answer with it and the context "note", the field).
LOST_AT_START: tuple[str, str] | None = None
# What a program for this agent is sent for a file /p/a with the content x: (events of the hook, keys of the payload).
A_WRITE: tuple[str, Mapping[str, Any]] | None = None
# What a hook judged by a model sets for a denial that does not end the turn, as it would otherwise.
JUDGED_AND_GOES_ON = ""
# Tools whose commands are run by PowerShell on Windows and by another shell elsewhere.
POWERSHELL_ON_WINDOWS: tuple[str, ...] = ()

# ---- permission lists ----

# (scope, file, its content, the entries as (level, entry), why the others are refused)
PERMISSIONS: Sequence[tuple[str, str, Any, list[tuple[str, str]], list[str]]] = ()

# ---- imports ----

# A plugin: its manifest, by file name; its hooks, one of which starts guard.sh for a command.
PLUGIN: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None
# Where the agent keeps a plugin named guards, below the home folder, and the files that enable it, as the agent was seen to write them.
INSTALLED_PLUGIN: tuple[str, Mapping[str, str]] | None = None
# How often in a row a stop may be refused: (file, its hooks, the limit).
STOP_LIMITS: Sequence[tuple[str, Any, int]] = ()
# Hooks that the agent does not wait for: (keys of the handler, the line in the manifest).
BACKGROUND: Sequence[tuple[Mapping[str, Any], str]] = ()
# What runs the command of a hook: (file, event, shell).
RUN_BY: tuple[str, str, str] | None = None

# ---- processes ----

# How the agent, or what it starts, appears in a process list; needed where no variable distinguishes it from a person.
PROCESS: tuple[str, ...] = ()

# ---- other people's hooks ----

# Hooks of the corpus (guests/corpus.py) that cannot do on this agent what they do on their own, beyond what its tables say: name -> why.
HOOK_LIMITS: Mapping[str, str] = {}
EDITS_ARE_WRITES = False  # a tool that edits a file sends the whole new text
FLAT_ENTRIES = False  # an entry is the handler itself, with its matcher, instead of a group of handlers
COMMAND_KEY = "command"
# The folder in which a hook is a file named after its event; "" if hooks are entries in a config.
HOOK_FILES = ""
# The file in a project that contains the hooks of a guest.
GUEST_FILE = ""
# Variables that hooks see on this agent, in addition to those that onehook sets on others.
OWN_VARIABLES: Mapping[str, str] = {}
MAKES_PLUGIN_DATA = False  # whether it creates the folder for a plugin's data before a hook starts
# How the agent reads matchers, independent of our tables. Which matchers are lists of names; any other is a regular expression:
LISTED_NAMES = ""
# and what a matcher is compared with, if not the tool: a payload field, by unified event; or by native event, a field or a fixed word.
SUBJECTS: Mapping[str, str] = {
    "SessionStart": "source", "SessionEnd": "reason", "PreCompact": "trigger", "SubagentStart": "agent_type", "SubagentStop": "agent_type",
    "Notification": "notification_type",
}  # fmt: skip
OWN_SUBJECTS: Mapping[str, str] = {}


def rewritten_command(rewrite: dict[str, Any]) -> str | None:
    """The command in a rewritten input, in the agent's format."""
    return rewrite.get("command")


def other_names_count(native_event: str) -> bool:
    """Whether a matcher may use other names of a tool."""
    return False


def matches(matcher: str, subject: str, is_call: bool) -> bool:
    return re.search(matcher, subject) is not None


def starts_in_plugin(native_event: str) -> bool:
    """Whether a plugin's hook starts in the folder of the plugin instead of the project."""
    return False


# ---- config files ----

# What the file in which the agent stores trust may contain: DIR is another folder.
TRUST_FILES: Sequence[str] = ()
# The user's settings that make the agent ask for trust, if it does not by default: (file, content).
ASKS_FOR_TRUST: tuple[str, str] | None = None
# The config that the agent's documentation shows for the events that are installed by default: what there is besides the hooks; the events
# in order, with their matchers; keys that every handler has.
DOCUMENTED: tuple[Mapping[str, Any], Mapping[str, str | None], Mapping[str, str]] | None = None
# What the agent rejects: (a change to the installed config, a part of doctor's message).
REJECTED: Sequence[tuple[Callable[[Any], object], str]] = ()
TRAILING_COMMA = ""  # what the agent does with a file that has comments, which it allows, and a trailing comma
HOOKS_ARE_BARE = False  # the events are at the top level of the file, not nested
OTHER_SETTINGS = True  # the file has other settings besides hooks
EVENTS_ARE_TOOLS = False  # an event is reported as a call of a tool of that name


def config_entry(line: str, matched: bool) -> dict[str, Any]:
    """An entry as a user of the agent writes it."""
    group: dict[str, Any] = {"matcher": "Bash"} if matched else {}
    return {**group, "hooks": [{"type": "command", "command": line, "timeout": 5}]}


LONGEST_REASON = 16_000_000  # characters of a reason that reach the agent
