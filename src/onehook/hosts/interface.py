"""What a host offers, part by part. For type checkers: nothing imports this file when onehook runs.

A part is a module of the host's folder, and the module itself is the implementation. `wire` and `reverse` are required. The others are
optional as a whole: a host without `live` cannot be proven, and so on. Inside a part every member is required, and what most hosts leave at
its default is a field of the part's TRAITS, where the default is declared (Traits of onehook.hostkit.effects, of config and of live).

Each host's `conforms.py` passes its parts to `conforms`, so that mypy and pyright report a missing or mistyped member. Nothing imports
that module, because inside an import cycle (such as the package itself) mypy does not see the types of all members. Constants are
read-only properties here, since a module cannot satisfy a protocol with a writable attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from onehook.core import Event, Output, Response
    from onehook.hostkit import config as config_kit
    from onehook.hostkit import live as live_kit
    from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Wish
    from onehook.hostkit.effects import Caps, Mark, Results, Row, Traits
    from onehook.hostkit.imports import Borrowed, Plugins
    from onehook.hostkit.live import Launch, Sandbox, Step
    from onehook.hostkit.permissions import Listed
    from onehook.hostkit.tools import Tool
    from onehook.hostkit.transcripts import Entry, Transcript
    from onehook.hostkit.trust import Grant
    from onehook.hostkit.usage import Usage


class Wire(Protocol):
    """wire.py, required: what the agent sends and what it obeys. Pure, and on the hot path."""

    @property
    def ID(self) -> str: ...  # the host's name, which is also the name of its folder
    @property
    def EVENTS(self) -> Mapping[str, Row]: ...  # native event name -> what it is
    @property
    def TOOLS(self) -> Mapping[str, Tool]: ...  # native tool name -> the unified tools it is, and how its input is spelled
    @property
    def RESULTS(self) -> Results: ...  # how a tool's result is read; Results() if its shape is enough
    @property
    def MARKS(self) -> tuple[Mark, ...]: ...  # what identifies a payload as this host's
    @property
    def SENDS(self) -> tuple[str, ...]: ...  # keys of its payloads that not every host sends
    @property
    def TRAITS(self) -> Traits: ...  # what differs from most hosts

    def parse(self, payload: dict[str, Any], event_name: str) -> Event: ...  # event_name: for payloads that do not name their event
    def caps(self, event: Event, /) -> Caps: ...  # what takes effect for this event on this version
    def render(self, event: Event, response: Response, chatter: bool) -> Output: ...  # chatter: something else goes to stderr as well


class Reverse(Protocol):
    """reverse.py, required: the opposite direction. Used by manifests, fire, doctor and prove; on the hot path of a manifest."""

    @property
    def LABEL(self) -> str: ...  # the agent's name in messages
    @property
    def ANSWERS(self) -> tuple[str, ...]: ...  # the fields of a hook's answer, for all events

    @property
    def ENV_FILE(self) -> str: ...  # the variable that names a file in which hooks set variables for later commands; "" if there is none

    def parts(self, event: Event) -> list[Event]: ...  # the event, split into the calls that it would be on this host
    def payload(self, event: Event, native_event: str = ...) -> dict[str, Any]: ...  # what the agent would send for this event
    def answer(self, event: Event, stdout: str, stderr: str, exit_code: int, native_event: str = ...) -> Response: ...  # a hook's answer
    def losses(self, event: Event, stdout: str, exit_code: int, native_event: str = ...) -> list[str]: ...  # its fields that are lost
    def variables(self, event: Event, project: str) -> dict[str, str]: ...  # environment variables that the agent's hooks expect


class Judge(Protocol):
    """judge.py, for an agent with hooks that a model judges: what the model's verdict (ok, reason, impossible) means there."""

    @property
    def JUDGED(self) -> tuple[str, ...]: ...  # the native events that can have such hooks

    # The answer that a command would give for the same verdict; `asked` is what a manifest sets for the hook.
    def verdict(self, event: Event, said: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]: ...


class Config(Protocol):
    """config.py: where the agent reads hooks from, and what an entry looks like there. Used by install, doctor, status, uninstall."""

    @property
    def TITLE(self) -> str: ...  # the agent's name for users
    @property
    def BINARIES(self) -> tuple[str, ...]: ...  # any of these on PATH shows that the agent is installed
    @property
    def FOLDERS(self) -> tuple[str, ...]: ...  # so does a folder of this name in the project or in the home folder
    @property
    def EVENTS(self) -> Mapping[str, str]: ...  # unified event -> the native event that is installed for it
    @property
    def PROJECT(self) -> str: ...  # the project's folder in the agent's shell; "." if hooks start there, "" if there is no way to name it
    @property
    def TRAITS(self) -> config_kit.Traits: ...  # what differs from most hosts

    def places(self, machine: Machine) -> list[Place]: ...  # the first of each scope is written to, the others are only read
    def slot(self, event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]: ...  # path of a list, entry
    def found(self, data: Any) -> Iterator[Found]: ...  # every hook entry of a file
    def problems(self, data: Any) -> list[str]: ...  # what makes the agent reject a file's data, or part of it
    def text_problems(self, place: Place, text: str, data: Any) -> list[str]: ...  # the same, for problems that only the file's text shows
    def diagnose(self, machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]: ...  # for doctor: switches


class Live(Protocol):
    """live.py: how the agent is started for a proof.

    A step function returns one step of the model's script, or None if the agent has no such tool. The steps between subagent() and
    subagent_end() are the subagent's; give each a "when" with a word from its prompt. MCP servers are registered before prepare(), which
    may have to name them on the command line.
    """

    @property
    def MODES(self) -> tuple[str, ...]: ...  # the ways to start it; ("",) if there is only one
    @property
    def TRAITS(
        self,
    ) -> live_kit.Traits: ...  # the package, the releases that are proven, facts about releases, what differs from most hosts

    def prepare(self, sandbox: Sandbox, mode: str = ...) -> Launch: ...  # writes settings into the sandbox; returns the command
    def mcp_server(self, sandbox: Sandbox, name: str, argv: Sequence[str], /) -> None: ...  # registers an MCP server in the sandbox
    def shell(self, command: str, mode: str = ...) -> Step | None: ...
    def write(self, path: str, content: str, mode: str = ...) -> Step | None: ...
    def read(self, path: str, mode: str = ...) -> Step | None: ...
    def edit(self, path: str, old: str, new: str, mode: str = ...) -> Step | None: ...
    def mcp(self, server: str, tool: str, args: Mapping[str, Any], mode: str = ...) -> Step | None: ...
    def subagent(self, prompt: str, mode: str = ...) -> Step | None: ...
    def subagent_end(self, text: str, mode: str = ...) -> Step | None: ...
    def compaction(self, mode: str = ...) -> list[Step]: ...  # steps after which the agent compacts the session, once


class Imports(Protocol):
    """imports.py: the hooks in the agent's config files as hooks of a manifest, for `onehook import`."""

    @property
    def STOP_LIMIT(self) -> int: ...  # how often in a row the agent lets a hook refuse a stop
    @property
    def PLUGINS(self) -> Plugins: ...  # how its plugins carry hooks

    def handlers(self, data: Any, place: Place | None = ...) -> Iterator[Borrowed]: ...  # place: for agents where the file matters


class GuestWire(Protocol):
    """wire.py of a guest: the tables of a Wire. There is nothing to parse or render for an agent in which onehook does not run."""

    @property
    def ID(self) -> str: ...
    @property
    def EVENTS(self) -> Mapping[str, Row]: ...

    def caps(self, event: Event, /) -> Caps: ...


class GuestImports(Protocol):
    """imports.py of a guest."""

    @property
    def TITLE(self) -> str: ...  # the agent's name for users
    @property
    def STOP_LIMIT(self) -> int: ...  # how often in a row the agent lets a hook refuse a stop
    @property
    def SHELL(self) -> tuple[str, ...]: ...  # what runs a command, as Traits.shell

    def found(self, machine: Machine, scope: str) -> Iterator[tuple[Place, Borrowed]]: ...  # the hooks of a scope, and where they are


class Permissions(Protocol):
    """permissions.py: the agent's own permission lists as entries of [permissions] in a rules file, for `onehook import`."""

    def listed(self, machine: Machine, scope: str) -> Iterable[Listed]: ...


class Transcripts(Protocol):
    """transcripts.py: the sessions that the agent leaves on disk, for `onehook replay`."""

    @property
    def FOLDER(self) -> str: ...  # in the home folder
    @property
    def FILES(self) -> tuple[str, ...]: ...  # glob patterns below FOLDER, for files or for folders of sessions
    @property
    def TOKENS(self) -> Usage | None: ...  # where a session's file reports tokens; None if it does not

    @property
    def NAME(self) -> str: ...  # where a session is below FOLDER, also if onehook writes it: {session}, or {bare} without its dashes
    @property
    def CALLS_FIRST(self) -> bool: ...  # whether a call is in the file when its hooks run or a moment later, so that they can wait for it

    def Transcript(self, path: Path, /) -> Transcript: ...  # a reader for one file
    def lines(self, session: str, cwd: str, steps: Iterable[Entry]) -> Iterator[dict[str, Any]]: ...  # the lines of a file with these steps


class Trust(Protocol):
    """trust.py, for an agent that skips hooks until a person trusts them or their folder. Used by install, uninstall, doctor, status."""

    @property
    def LEVEL(self) -> str: ...  # what doctor reports for missing trust: fail, or note if only interactive sessions ask
    @property
    def EFFECT(self) -> str: ...  # what the agent does without it
    @property
    def ASKS(self) -> str: ...  # how a person trusts the hooks from within the agent

    def store(self, machine: Machine) -> Place: ...  # the file that the agent keeps it in
    def needed(self, machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]: ...  # what the stored data lacks


class OwnEntries(Protocol):
    """own_entries.py, for an agent that also runs entries from another agent's config: whether an event would be handled twice."""

    @property
    def BORROWS(self) -> Iterable[str]: ...  # the scopes of the other agent's config that it runs

    def started_with(self, machine: Machine, scope: str) -> dict[str, str]: ...  # variables for an entry in this scope's file
    def answers(  # whether its own entry, with the same interpreter and launcher, runs as well
        self, event: str, policy: str, closed: bool, variables: Mapping[str, str] = ..., interpreter: str = ..., launcher: str = ...
    ) -> bool: ...


class Confirm(Protocol):
    """confirm.py, for an agent that sends some events (Row.confirmed) even if nothing happens: it looks outside the payload."""

    def happens(self, payload: dict[str, Any]) -> bool: ...


def conforms(
    *,
    wire: Wire,
    reverse: Reverse,
    config: Config | None = None,
    live: Live | None = None,
    imports: Imports | None = None,
    permissions: Permissions | None = None,
    transcripts: Transcripts | None = None,
    trust: Trust | None = None,
    own_entries: OwnEntries | None = None,
    confirm: Confirm | None = None,
    judge: Judge | None = None,
) -> None:
    """Called in each host's `conforms.py`, with every part that the host has."""


def conforms_as_guest(*, wire: GuestWire, reverse: Reverse, imports: GuestImports) -> None:
    """The same for a guest."""


class Load(Protocol):
    """onehook.hosts.load"""

    @overload
    def __call__(self, name: str, part: Literal["wire"] = ...) -> Wire: ...
    @overload
    def __call__(self, name: str, part: Literal["reverse"]) -> Reverse: ...
    @overload
    def __call__(self, name: str, part: Literal["config"]) -> Config: ...
    @overload
    def __call__(self, name: str, part: Literal["live"]) -> Live: ...
    @overload
    def __call__(self, name: str, part: Literal["imports"]) -> Imports: ...
    @overload
    def __call__(self, name: str, part: Literal["permissions"]) -> Permissions: ...
    @overload
    def __call__(self, name: str, part: Literal["transcripts"]) -> Transcripts: ...
    @overload
    def __call__(self, name: str, part: Literal["confirm"]) -> Confirm: ...
    @overload
    def __call__(self, name: str, part: Literal["judge"]) -> Judge: ...


class LoadOptional(Protocol):
    """onehook.hosts.optional"""

    @overload
    def __call__(self, name: str, part: Literal["config"]) -> Config | None: ...
    @overload
    def __call__(self, name: str, part: Literal["live"]) -> Live | None: ...
    @overload
    def __call__(self, name: str, part: Literal["trust"]) -> Trust | None: ...
    @overload
    def __call__(self, name: str, part: Literal["own_entries"]) -> OwnEntries | None: ...
