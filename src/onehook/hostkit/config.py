"""What the hosts' config modules share: where an agent reads hooks from, and what one entry looks like there.

The installer only knows formats; everything about a host comes from its config module. Not on the hot path.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import Any

from onehook.hostkit.imports import grouped_handlers, listed_handlers
from onehook.hostkit.own_entries import EXEC as EXEC
from onehook.hostkit.own_entries import GUARD as GUARD
from onehook.jsonc import read_regular, without_comments

SCOPES = ("project", "local", "user", "enterprise")
DEFAULT_EVENTS = ("SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")
_STRING_OR_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|(,)\s*[}\]]')
# GUARD for all shells including fish, which has neither $? nor, up to 4.0, braces, and drops the rest of a list after a command that it
# does not find. In other shells $status is empty or the same as $?. The shell itself has reported on stderr what it could not run.
GUARD_IN_ANY_SHELL = ' || exit 2; test "$status" != 127 || exit 2'
# For an agent that reads stdout whatever the exit code is: the word for a denial that such agents share.
GUARD_ON_STDOUT = """ || echo '{"decision": "block", "reason": "onehook: the hook could not run (blocked: fail=closed)"}'"""
GUARDS = (GUARD, GUARD_IN_ANY_SHELL, GUARD_ON_STDOUT)
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest")


@dataclass(frozen=True)
class Machine:
    """Where install looks and writes. All access to the environment goes through here, so that tests can set it."""

    home: Path
    project: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    platform: str = sys.platform
    system_root: Path = Path("/")  # what "/etc" and the like are below
    ask_hosts: bool = False  # whether an agent's program may be started to ask it

    @classmethod
    def here(cls, project: Path | None = None) -> Machine:
        return cls(Path.home(), Path(os.path.abspath(project or Path.cwd())), dict(os.environ))

    @property
    def windows(self) -> bool:
        return self.platform == "win32"

    def folder(self, variable: str, default: str) -> Path:
        """A folder that a variable may move: $CODEX_HOME, else ~/.codex."""
        named = self.variables.get(variable)
        return Path(os.path.abspath(named)) if named else self.home / default

    def scope_of(self, folder: Path) -> Path:
        """Where links in a user's config may lead: the home folder, where people keep their dotfiles, or a folder outside of it."""
        return self.home if folder.is_relative_to(self.home) else folder

    def system(self, linux: str, macos: str, windows: str) -> Path:
        """A machine-wide path."""
        if self.windows and os.name == "nt":
            return Path(windows)
        if self.windows:
            return self.system_root.joinpath(*PureWindowsPath(windows).parts[1:])
        return self.system_root / (macos if self.platform == "darwin" else linux).lstrip("/")

    def system_file(self, variable: str, linux: str, macos: str, windows: str) -> Path:
        """A machine-wide file that a variable may move."""
        named = self.variables.get(variable)
        return Path(named) if named else self.system(linux, macos, windows)

    def which(self, binary: str) -> str | None:
        return shutil.which(binary, path=self.variables.get("PATH", ""))


@dataclass(frozen=True)
class Place:
    """One file that a host reads hooks from."""

    scope: str
    path: Path
    format: str  # json, jsonc, toml, or "own" if the whole file is onehook's
    root: Path  # nothing outside this folder is written
    committed: bool = False  # teams keep it in their repository


@dataclass(frozen=True)
class Wish:
    """How a policy is to be installed."""

    fail_closed: bool = False
    timeout: float | None = None
    stop_limit: int = 5
    matchers: Mapping[str, str] = field(default_factory=dict)  # unified event -> unified tools; "" for every tool event
    observe: bool = False
    log: str = ""  # whether decisions are logged; "": as set in the policy
    ask_via: str = ""  # who asks a person; "": as set in the policy
    holds: bool = False  # a person may be asked while the agent waits
    hold: int = 0  # seconds that the agent should wait on this event, so that a person has time; 0: as on any other event

    @property
    def deadline(self) -> float:
        """Seconds for one event, as written into the command: the policy's own are not known until it is loaded."""
        return self.timeout or 20.0

    @property
    def host_timeout(self) -> int:
        """Seconds that the agent waits: longer than onehook's own deadline, since most agents fail open when theirs passes."""
        return self.hold or int(self.deadline + 10)

    def matcher(self, event: str) -> str:
        return self.matchers.get(event) or self.matchers.get("", "")


@dataclass(frozen=True)
class Commands:
    """The command line of an entry for each kind of shell; "" for a shell in which it would not work."""

    posix: str
    powershell: str
    cmd: str
    words: tuple[str, ...] = ()  # for hosts that start it without a shell; every path is absolute
    client: int = 0  # how many of these words are the client's, in resident mode


@dataclass(frozen=True)
class Found:
    """A hook entry in a config."""

    event: str  # the native event
    path: tuple[str | int, ...]  # where in the document
    command: str
    item: Any
    matcher: str = ""  # the tools that it runs for, as the agent writes them; "" for all


@dataclass(frozen=True)
class Diagnosis:
    """One result of doctor. level: ok, note, warn (a deny still works) or fail (it would not)."""

    level: str
    what: str
    fix: str = ""


Slot = tuple[str, ...]


@dataclass(frozen=True)
class Switches:
    """What can disable the agent's hooks, in addition to the files that it reads hooks from and the one that it keeps trust in.

    `python -m onehook.docgen.registry` writes it into onehook.policies.agent_files, for self_protect.
    """

    files: Callable[[Machine], Iterable[Path]] = lambda machine: ()  # files and folders
    words: tuple[str, ...] = ()  # verbs and options of its command line; * stands for the rest of a word; several words in this order
    variables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Held:
    """A value in a machine-wide file that the machine's hooks need so that they run whatever a user's own settings are."""

    file: Callable[[Machine], Place]
    path: tuple[str, ...]
    value: Any = None  # None: the path of the file with the entries, as an element of a list
    level: str = "warn"  # as in Diagnosis, if it is missing
    effect: str = "a user's settings can switch its hooks off"


@dataclass(frozen=True)
class Traits:
    """What differs from most hosts: the optional members of a host's config, with their defaults."""

    captured: tuple[str, ...] = ()  # versions of the agent whose payloads were recorded
    programs: tuple[str, ...] = ()  # where in the home folder its installer puts the program, if that may not be on PATH
    # How a command can recognise that this agent runs it: variables that it sets for its shell and for nothing else, and the names of its
    # programs in a process list, if they are not all of BINARIES.
    shell_variables: tuple[str, ...] = ()
    longest_timeout: int = 0  # the longest time that it waits for a hook, if an entry asks for it, up to a day; 0 if unknown
    reloads: bool | None = None  # whether it rereads its hooks during a session; None if this was not tested
    processes: tuple[str, ...] | None = None
    updates: tuple[str, ...] = ()  # where it keeps its own updates: patterns, below the home folder, for paths that end in a version
    skeleton: Mapping[str, Any] = field(default_factory=dict)  # what a new file needs besides hooks
    escape_slashes: bool = False  # the agent mistakes "//" inside a string for a comment
    shell: tuple[str, ...] = ("/bin/sh", "-c")  # what runs a command; $SHELL stands for the user's own shell
    guard: str = GUARD  # what follows a command, so that it denies if it cannot run; "" if the agent denies then anyway
    same_command_runs_once: bool = False  # even if it is in several files
    held: Held | None = None  # what `install --scope enterprise` writes beside the entries
    unguarded: Mapping[str, str] = field(default_factory=dict)  # tools that no policy can check -> why
    switches: Switches = Switches()  # what else switches its hooks off
    agent_types: tuple[str, ...] = ()  # the unified events that report the kind of agent that they come from
    # How the agent compares a matcher with the name of a tool: a matcher of only these characters is a list of names. Any other is a
    # regular expression that may match anywhere in the name, or has to match the whole name.
    listed: str = ""
    whole: bool = False
    also_listed: tuple[str, ...] = ()  # the unified names that such a list may have instead of the agent's own
    # For an agent whose files are not all of one shape: where an entry goes in this file.
    slot_in: Callable[[Place, Slot], Slot] = lambda place, slot: slot
    # For an agent without a file for command hooks: the content of a file that only onehook writes, from the command for each event.
    own_content: Callable[[Place, Mapping[str, Commands], Wish, Machine], bytes] | None = None
    # For `onehook import`: the files of a scope that the agent reads hooks from, if they are not just the config's places.
    read_from: Callable[[Machine, str], list[Place]] | None = None
    # Files of other hosts from which the agent runs hooks as well, each with its host.
    borrowed_from: Callable[[Machine, str], list[tuple[Place, str]]] = lambda machine, scope: []


def no_slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[Slot, Any]:
    """`slot` of a host that has Traits.own_content."""
    raise LookupError(f"there is no entry for {event}: onehook writes the whole file")


def no_text_problems(place: Place, text: str, data: Any) -> list[str]:
    """`text_problems` of a host for which the parsed data shows every problem."""
    return []


def byte_order_mark(title: str, text: str) -> list[str]:
    return [f"the file begins with a byte order mark, which {title} rejects: save it without one"] if text.startswith("\ufeff") else []


def trailing_commas(text: str, then: str) -> list[str]:
    """For agents that allow comments but no trailing commas; `then` is what the agent does about one."""
    commas = (match.start() for match in _STRING_OR_LAST_COMMA.finditer(without_comments(text)) if match[1])
    lines = (text.count("\n", 0, comma) + 1 for comma in commas)
    return [f"line {line}: a comma after the last element; {then}: remove it" for line in lines][:1]


def grouped(data: Any) -> Iterator[Found]:
    """The entries of the shape that Claude Code introduced: hooks.<Event>[group].hooks[handler].command."""
    for event, group, handler, path in grouped_handlers(data):
        if isinstance(handler.get("command"), str):
            yield Found(event, path, handler["command"], handler, written_matcher(group))


def listed_entries(data: Any, command_of: Callable[[dict[str, Any]], str | None]) -> Iterator[Found]:
    """The entries of the shape hooks.<Event>[entry]. `command_of`: the command of an entry, None if it has none."""
    for event, entry, path in listed_handlers(data):
        command = command_of(entry)
        if command is not None:
            yield Found(event, path, command, entry, written_matcher(entry))


def written_matcher(entry: Mapping[str, Any]) -> str:
    matcher = entry.get("matcher")
    return matcher if isinstance(matcher, str) else ""


def grouped_slot(event: str, native: str, handler: Mapping[str, Any], matcher: str) -> tuple[tuple[str, ...], Any]:
    """Where an entry of that shape goes, and its group. `matcher` is in the host's own names; "" for every tool."""
    group: dict[str, Any] = {"matcher": matcher or "*"} if event in TOOL_EVENTS else {}
    return ("hooks", native), {**group, "hooks": [handler]}


def group_fault(group: Any, handler_fault: Callable[[dict[str, Any]], str], types: tuple[str, ...]) -> str:
    """What is wrong with a group of that shape, or ""; `handler_fault` checks what the host requires of a handler in addition to its
    type."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return 'a group needs a list "hooks"'
    if not isinstance(group.get("matcher", ""), str):
        return '"matcher" is not a string'
    return next((fault for handler in group["hooks"] if (fault := type_fault(handler, types) or handler_fault(handler))), "")


def grouped_faults(
    data: Any, no_object: str, types: tuple[str, ...], handler_fault: Callable[[dict[str, Any]], str], effect: Callable[[str], str]
) -> list[str]:
    """What is wrong with a file of that shape. `no_object`: the message if the file is not an object."""
    return hook_faults(data, no_object, '"hooks" is not an object', lambda group: group_fault(group, handler_fault, types), effect)


def type_fault(handler: Any, types: tuple[str, ...]) -> str:
    fits = isinstance(handler, dict) and handler.get("type") in types
    return "" if fits else f'"type" must be one of {", ".join(types)}'


def hook_faults(data: Any, no_object: str, no_hooks: str, fault: Callable[[Any], str], effect: Callable[[str], str]) -> list[str]:
    """What is wrong with a file of hooks.<Event>[...]. `effect`: what the host does about a fault of this event; "" if it checks none."""
    if not isinstance(data, dict):
        return [no_object]
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        return [no_hooks]
    return [said for event, entries in hooks.items() if (then := effect(event)) for said in entry_faults(event, entries, fault, then)]


def entry_faults(event: str, entries: Any, fault: Callable[[Any], str], effect: str) -> list[str]:
    """What is wrong with the entries (or groups) of one event, each with its place and with what the host does about it."""
    items = entries if isinstance(entries, list) else [None]
    return [f"hooks.{event}[{index}]: {why}; {effect}" for index, item in enumerate(items) if (why := fault(item))]


def above_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def matcher_fault(entry: Mapping[str, Any]) -> str:
    try:
        re.compile(entry.get("matcher", ""))
    except (re.error, TypeError):
        return '"matcher" is not a regular expression'
    return ""


def matches(traits: Traits, matcher: str, names: Iterable[str]) -> bool:
    """Whether the agent runs an entry with this matcher for a tool. names: the agent's own, then the unified ones."""
    if matcher in ("", "*") and not (matcher and traits.whole):
        return True
    native, *others = names
    if traits.listed and re.fullmatch(traits.listed, matcher):
        listed = [word.strip() for word in re.split("[|,]", matcher)]
        return native in listed or any(name in listed for name in others if name in traits.also_listed)
    try:
        return bool(re.fullmatch(matcher, native) if traits.whole else re.search(matcher, native))
    except re.error:
        return False


def native_tools(unified: str, tools: Mapping[str, Any], mcp: str) -> str:
    """A matcher in unified names ("Bash|Write|MCP") as a matcher in the host's own names; "" for every tool is unchanged."""
    if not unified:
        return ""
    words: list[str] = []
    for wanted in (part.strip() for part in unified.split("|")):
        names = [native for native, tool in tools.items() if wanted in tool.names]
        words += names or [mcp if wanted == "MCP" else wanted]
    unique = list(dict.fromkeys(words))
    plain = all(word.replace("_", "").isalnum() for word in unique)
    return "|".join(unique) if plain else f"^({'|'.join(unique)})$"


def anchored(matcher: str) -> str:
    """For hosts that treat a matcher as a pattern that may match anywhere in the name."""
    return matcher if not matcher or matcher.startswith("^") else f"^({matcher})$"


def table_at(data: Any, *keys: str) -> dict[str, Any]:
    """The object below these keys; empty if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def read_toml(path: Path) -> dict[str, Any]:
    """The data of a TOML file; empty if it cannot be read."""
    from onehook.textedit.toml_tree import parse

    try:
        data: dict[str, Any] = parse(read_regular(path).decode("utf-8"))
        return data
    except (OSError, ValueError):
        return {}


def all_hooks_off(path: Path, data: Any) -> list[Diagnosis]:
    if not isinstance(data, dict) or data.get("disableAllHooks") is not True:
        return []
    return [Diagnosis("fail", f"disableAllHooks is on in {path}: no hooks run", f"set disableAllHooks to false in {path}")]


def below_a_second(ours: list[Found]) -> Iterator[tuple[Found, float]]:
    """The entries whose timeout, in milliseconds, is so short that seconds were probably meant."""
    for entry in ours:
        timeout = entry.item.get("timeout", 60000)
        if isinstance(timeout, (int, float)) and timeout < 1000:
            yield entry, timeout
