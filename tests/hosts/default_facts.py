"""What the shared tests need to know of a host beside its tables: the defaults. A host's facts.py has those that differ there."""

from __future__ import annotations

import re
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


# ---- results of tools ----

# What no capture shows: (native tool, its result, the text in it, the exit code). What a command prints cannot pass for what the agent puts
# around it, and without the words of the agent nothing is known.
RESULT_TEXTS: Sequence[tuple[str, Any, str, int | None]] = ()
# Tools whose results a payload does not hold.
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

# A field of an answer at the start of a session that other agents have nothing for: (an answer with it and the context "note", the field).
LOST_AT_START: tuple[str, str] | None = None
# What a program for this agent is sent for a file /p/a with the text x: (events of the hook, keys of the payload).
A_WRITE: tuple[str, Mapping[str, Any]] | None = None
# What a hook that a model judges sets for a denial that does not end the turn, which it does otherwise.
JUDGED_AND_GOES_ON = ""
# Tools whose commands PowerShell runs on Windows, and another shell elsewhere.
POWERSHELL_ON_WINDOWS: tuple[str, ...] = ()

# ---- permission lists ----

# (scope, file, its content, the entries as (level, entry), why the others are refused)
PERMISSIONS: Sequence[tuple[str, str, Any, list[tuple[str, str]], list[str]]] = ()

# ---- imports ----

# A plugin: its manifest, by the name of the file; its hooks, one of which starts guard.sh for a command.
PLUGIN: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None
# Where the agent keeps a plugin called guards, below the home folder, and the files that say that it is on, as it was seen to write them.
INSTALLED_PLUGIN: tuple[str, Mapping[str, str]] | None = None
# How often in a row a stop may be refused: (file, its hooks, the limit).
STOP_LIMITS: Sequence[tuple[str, Any, int]] = ()
# Hooks that the agent does not wait for: (keys of the handler, the line in the manifest).
BACKGROUND: Sequence[tuple[Mapping[str, Any], str]] = ()
# What runs a command of a hook: (file, event, shell).
RUN_BY: tuple[str, str, str] | None = None

# ---- processes ----

# How the agent, or what it starts, stands in a process list; needed where no variable tells it from a person.
PROCESS: tuple[str, ...] = ()

# ---- hooks of other people ----

# Hooks of the corpus (guests/corpus.py) that cannot do on the agent what they do on their own, beyond what its tables say: name -> why.
HOOK_LIMITS: Mapping[str, str] = {}
EDITS_ARE_WRITES = False  # a tool that edits a file sends the whole new text
FLAT_ENTRIES = False  # an entry is the handler itself, with its matcher, and not a group of handlers
COMMAND_KEY = "command"
# The folder in which a hook is a file with the name of its event; "" if hooks are entries of a config.
HOOK_FILES = ""
# Where a guest has its hooks in a project.
GUEST_FILE = ""
# Variables that hooks see on the agent, beside those that onehook sets on others.
OWN_VARIABLES: Mapping[str, str] = {}
MAKES_PLUGIN_DATA = False  # it makes the folder for a plugin's data before a hook starts
# How the agent reads matchers, not from our tables. What is a list of names; anything else is a regular expression:
LISTED_NAMES = ""
# and what it is held against, if not the tool: the field of a payload by the unified event; by its own event, or a word that is no field.
SUBJECTS: Mapping[str, str] = {
    "SessionStart": "source", "SessionEnd": "reason", "PreCompact": "trigger", "SubagentStart": "agent_type", "SubagentStop": "agent_type",
    "Notification": "notification_type",
}  # fmt: skip
OWN_SUBJECTS: Mapping[str, str] = {}


def rewritten_command(rewrite: dict[str, Any]) -> str | None:
    """The command in a rewritten input, in the agent's own words."""
    return rewrite.get("command")


def other_names_count(native_event: str) -> bool:
    """Whether a matcher may have other names of a tool."""
    return False


def matches(matcher: str, subject: str, is_call: bool) -> bool:
    return re.search(matcher, subject) is not None


def starts_in_plugin(native_event: str) -> bool:
    """Whether a plugin's hook starts in the folder of the plugin, and not in the project."""
    return False


# ---- config files ----

# What the file may hold in which the agent keeps trust: DIR is another folder.
TRUST_FILES: Sequence[str] = ()
# The user's settings with which the agent asks for trust, if it does not by default: (file, content).
ASKS_FOR_TRUST: tuple[str, str] | None = None
# The config that the agent's documents show for the events that are installed by default: what is beside the hooks; the events in their
# order, with their matchers; keys that every handler has.
DOCUMENTED: tuple[Mapping[str, Any], Mapping[str, str | None], Mapping[str, str]] | None = None
# What the agent rejects: (a change of the installed config, a part of what doctor says).
REJECTED: Sequence[tuple[Callable[[Any], object], str]] = ()
TRAILING_COMMA = ""  # what the agent does with a file that has comments, which it allows, and a comma after the last element
HOOKS_ARE_BARE = False  # the events stand at the top of the file, with nothing around them
OTHER_SETTINGS = True  # the file has other settings beside hooks
EVENTS_ARE_TOOLS = False  # an event is told as the call of a tool of that name


def config_entry(line: str, matched: bool) -> dict[str, Any]:
    """An entry as a user of the agent writes it."""
    group: dict[str, Any] = {"matcher": "Bash"} if matched else {}
    return {**group, "hooks": [{"type": "command", "command": line, "timeout": 5}]}


LONGEST_REASON = 16_000_000  # characters of a reason that reach the agent
