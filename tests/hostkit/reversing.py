"""What the tests of the reverse modules share: random events and answers, and a host's own view of them."""

from __future__ import annotations

import functools
import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from onehook.core import Change, Event, Response
from onehook.hostkit.reverse import TOOL_EVENTS, sample
from onehook.hosts import HOSTS, load

CWD = "/home/dev/project"
COMMON = {"session_id": "s-1", "cwd": CWD}
EVERY_EVENT = [(host, name) for host in HOSTS for name in load(host).EVENTS]
FAST = settings(max_examples=15)
SHARED = settings(max_examples=30)  # each example is used for many rows
THOROUGH = settings(max_examples=100)


def reverse_of(host: str) -> Any:
    return load(host, "reverse")


def before_a_tool(host: str) -> str:
    """The host's name for the event before a shell command."""
    return next(name for name, row in load(host).EVENTS.items() if row.event == "PreToolUse" and row.tool in ("", "Bash"))


words = st.text(st.sampled_from("abcdefgh-0123_."), min_size=1, max_size=8).filter(lambda word: word.strip("."))
names = st.text(st.sampled_from("abcdefgh0123-"), min_size=1, max_size=8)
# Carriage returns are excluded: a patch is read line by line, and "\r\n" is a line ending for Codex.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=30)
said = texts.map(str.strip).filter(bool)
paths = st.lists(words, min_size=1, max_size=3).map("/".join) | st.lists(words, min_size=1, max_size=3).map(
    lambda parts: "/" + "/".join(parts)
)
TOOL_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "Bash": {"command": texts},
    "Read": {"file_path": paths},
    "Write": {"file_path": paths, "content": texts},
    "Edit": {"file_path": paths, "old_string": texts, "new_string": texts},
    "Delete": {"file_path": paths},
    "Grep": {"pattern": texts, "path": paths},
    "Glob": {"pattern": texts, "path": paths},
    "List": {"path": paths},
    "WebFetch": {"url": words.map("https://example.com/{}".format)},
    "WebSearch": {"query": texts},
    "Agent": {"prompt": texts},
    "MCP": {"server": names, "tool": names, "argument": texts},
    "SomethingElse": {"url": words.map("https://example.com/{}".format), "more": st.integers()},
}
EVENT_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "SessionStart": {"source": st.sampled_from(["startup", "resume", "clear", "compact", "fork"])},
    "PreModelSwitch": {"source": st.sampled_from(["command", "picker", "sdk"])},
    "PostModelSwitch": {"source": st.sampled_from(["command", "auto", "resume"])},
    "ConfigChange": {"source": st.sampled_from(["user_settings", "skills"])},
    "DirectoryAdded": {"source": st.sampled_from(["slash_command", "register_repo_root"])},
    "UserPromptSubmit": {"prompt": texts},
    "UserPromptExpansion": {"prompt": texts},
    "Stop": {"stop_hook_active": st.booleans(), "last_assistant_message": texts},
    "SubagentStop": {"stop_hook_active": st.booleans(), "last_assistant_message": texts, "agent_id": words},
    "PostToolUse": {"tool_response": texts | st.none() | st.dictionaries(st.sampled_from(["stdout", "output", "x"]), texts)},
    "PostToolUseFailure": {"error": said},
    "StopFailure": {"error": said, "last_assistant_message": texts},
    "AgentResponse": {"last_assistant_message": texts},
    "AgentThought": {"last_assistant_message": texts},
}
IMPLIED = {"Bash": ("Bash",), "MCP": ("MCP",), "Read": ("Read",), "Edit": ("Write", "Edit")}


@functools.cache  # building a strategy again for each example takes longer than the test itself
def samples(unified: str, tools: tuple[str, ...] = ()) -> st.SearchStrategy[Event]:
    """Events of a kind, about one of these tools or, without any, about all."""
    fields = st.fixed_dictionaries(EVENT_FIELDS.get(unified, {}))
    if unified not in TOOL_EVENTS:
        return fields.map(lambda given: sample(unified, **COMMON, **given))
    calls = st.one_of([st.tuples(st.just(tool), st.fixed_dictionaries(TOOL_FIELDS[tool])) for tool in tools or TOOL_FIELDS])
    return st.builds(lambda given, call: sample(unified, call[0], **COMMON, **given, **call[1]), fields, calls)


Kind = tuple[str, tuple[str, ...]]  # the arguments of samples


def kind_of(host: str, name: str) -> Kind:
    row = load(host).EVENTS[name]
    return row.event, IMPLIED.get(row.tool, ())


def samples_for(host: str, name: str) -> st.SearchStrategy[Event]:
    return samples(*kind_of(host, name))


def _kinds_of_events() -> dict[Kind, list[tuple[str, str]]]:
    found: dict[Kind, list[tuple[str, str]]] = {}
    for host, name in EVERY_EVENT:
        found.setdefault(kind_of(host, name), []).append((host, name))
    return found


# EVERY_EVENT, grouped by what is drawn for it. Drawing an example takes ten times as long as checking it on a host.
KINDS = _kinds_of_events()


_places = st.tuples(*[words.map(lambda word: f"{CWD}/{word}")] * 2)
_kinds = st.sampled_from(["write", "edit", "delete", "move"])


@st.composite
def changes(draw: st.DrawFn) -> list[Change]:
    made: list[Change] = []
    for _ in range(draw(st.integers(1, 4))):
        path, to = draw(_places)
        kind = draw(_kinds)
        if kind == "write":
            made.append(Change(path, kind, None, draw(texts)))
        elif kind == "edit":
            path = made[-1].to or made[-1].path if made and draw(st.booleans()) else path
            made.append(Change(path, kind, draw(texts), draw(texts)))
        else:
            made.append(Change(path, kind, to=to if kind == "move" else None))
    return made


_perhaps = st.none() | said
responses = st.builds(
    Response,
    st.sampled_from([None, "allow", "deny", "ask"]),
    _perhaps,
    _perhaps,
    st.none() | st.dictionaries(st.sampled_from(["command", "file_path", "content", "more"]), texts, min_size=1),
    _perhaps,
    _perhaps,
    _perhaps,
)


def native_event_of(host: str, name: str, version: str = "1.0.0", tool: str = "") -> Event:
    """An event as the host sends it."""
    row = load(host).EVENTS[name]
    tool = (tool or row.tool or "Bash") if row.event in TOOL_EVENTS else ""
    fields = {"Read": {"file_path": "a"}, "MCP": {"server": "s", "tool": "t"}, "Edit": {"file_path": "a"}}.get(tool, {"command": "ls"})
    event = sample(row.event, tool, host_version=version, **COMMON, **(fields if tool else {}))
    parsed: Event = load(host).parse(reverse_of(host).payload(event, name), name)
    return parsed


def event_on(host: str, tool: str, **fields: Any) -> Event:
    """A tool call to be sent to the host's hooks."""
    event: Event = load(host).parse(reverse_of(host).payload(sample("PreToolUse", tool, **COMMON, **fields)), "")
    return event


def elsewhere(event: Event) -> Event:
    """The same event, as if it came from another host."""
    copy = event.copy()
    copy.host = ""
    return copy


def specific(name: str, **fields: Any) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, **fields}})
