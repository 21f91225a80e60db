"""onehook.toml: hook programs in any language, each in the dialect of the host (or the contract) that it was written for.

Every [[hook]] becomes registrations like those of a policy's handlers, except that the programs for an event run concurrently. Answers
merge by the same rules, in the order of the manifest.
"""

from __future__ import annotations

import os
import sys
import time

from onehook.cache import JUDGE, LAUNCHER
from onehook.core import EVENTS, EXTENDED_EVENTS, STOPS, Hooks, Options, Registration, Response, UsageError, merge, wildcard, withheld
from onehook.hosts import GUESTS, HOSTS, having, wire_of
from onehook.manifest.dialects import OWN_DIALECT, answers, dialect_of
from onehook.manifest.programs import AT_ONCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from onehook.core import Event

TIMEOUT = 15.0  # seconds for a program that sets none; below the 20 s of a whole event
_MARGIN = 5.0  # seconds that the whole event has in addition to its programs
_LISTS = ("events", "tools", "hosts", "commands", "paths", "sources", "agent_types", "skills")
_JUDGED = ("agent", "continue_on_block", "model")  # keys that only a hook with a prompt has
_FLAGS = ("transcript", "background", "wake", "once", "agent", "continue_on_block")
_KEYS = (
    *_LISTS, "run", "shell", "speaks", "timeout", "fail", "name", "mode", "transcript", "background", "wake", "once", "prompt", *_JUDGED,
)  # fmt: skip
_MODEL = ("api", "model", "url", "key_env", "key_file")
_APIS = ("anthropic", "openai")
_NO_MODEL = 'a prompt needs a model to judge it; for example: [model] api = "anthropic", model = "...", key_env = "ANTHROPIC_API_KEY"'


def load_manifest(path: str, source: bytes, given: Mapping[str, Any] | None = None) -> Manifest:
    """The policy that a manifest describes. `given`: the options from the command line."""
    data = _parsed(path, source)
    entries, model = data.pop("hook", None), data.pop("model", None)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path} has no [[hook]] and no rules; see docs/bring-your-own.md and docs/rules.md")
    if model is not None and (problem := model_problem(model)):
        raise UsageError(f"{path}: [model]: {problem}")
    return programs_of([(path, number, entry) for number, entry in enumerate(entries)], data, given or {}, model)


def model_problem(model: object) -> str:
    """What is wrong with a [model], or ""."""
    if not isinstance(model, dict) or not all(isinstance(value, str) and value for value in model.values()):
        return "it must be a table of strings"
    unknown = [key for key in model if key not in _MODEL]
    if unknown:
        return f"unknown key {unknown[0]!r}; known keys: {', '.join(_MODEL)}" + (
            "; the key itself does not belong here" if "key" in unknown else ""
        )
    if model.get("api") not in _APIS:
        return f"api must be one of {', '.join(_APIS)}"
    return "" if "model" in model else "model is missing: the name of a model"


def programs_of(
    entries: Sequence[tuple[str, int, dict[str, Any]]],
    options: Mapping[str, Any],
    given: Mapping[str, Any],
    model: Mapping[str, str] | None = None,
) -> Manifest:
    """The policy of [[hook]] entries, each with its file and its number there. `model`: for those that a model judges."""
    try:
        hooks = Manifest(options, given)
    except UsageError as error:
        raise UsageError(f"{entries[0][0]}: {error}") from None
    fail = given.get("fail") or options.get("fail")
    if fail is None:  # if one hook fails closed, those that set nothing do too: the safe reading, and the same wherever they run
        fail = "closed" if any(entry.get("fail") == "closed" for _, _, entry in entries) else "open"
    for path, number, entry in entries:
        hooks.add(_checked(path, number, entry, model), os.path.abspath(path), fail, model)
    hooks.settle()
    return hooks


def _parsed(path: str, source: bytes) -> dict[str, Any]:
    from onehook.manifest.toml_reader import read

    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start})") from None
    data = read(text)
    return _parsed_by_a_library(path, text) if data is None else data


def _parsed_by_a_library(path: str, text: str) -> dict[str, Any]:
    """Rarer TOML (multi-line strings, inline tables, ...) and invalid TOML, for which this raises the error."""
    for name in ("tomllib", "tomlkit"):  # the first is part of Python since 3.11
        try:
            library = __import__(name)
        except ImportError:
            continue
        try:
            data = library.loads(text)
        except Exception as error:
            raise UsageError(f"{path} is not TOML: {error}") from None
        plain: dict[str, Any] = data.unwrap() if hasattr(data, "unwrap") else data
        return plain
    raise UsageError(f"cannot read {path}: use the simple TOML of docs/bring-your-own.md, or Python 3.11")


def _checked(path: str, number: int, entry: dict[str, Any], model: Mapping[str, str] | None) -> dict[str, Any]:
    """Check the types of an entry's keys; the error names the entry."""

    def wrong(text: str) -> UsageError:
        return UsageError(f"{path}: hook {number + 1}{_called(entry)}: {text}")

    for key in entry:
        if key not in _KEYS:
            raise wrong(f"unknown key {key!r}; known keys: {', '.join(_KEYS)}")
    for key in _LISTS:
        value = entry.get(key, ["-"])
        if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
            raise wrong(f"{key} must be a list of strings")
    if "events" not in entry:
        raise wrong('events is missing; for example: events = ["PreToolUse"]')
    for key in _FLAGS:
        if not isinstance(entry.get(key, False), bool):
            raise wrong(f"{key} must be true or false")
    if "prompt" in entry or any(key in entry for key in _JUDGED):
        _check_prompt(entry, model, wrong)
    else:
        _check_command(entry, wrong)
    timeout = entry.get("timeout", TIMEOUT)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < 1e6:
        raise wrong("timeout must be a positive number of seconds")
    if entry.get("fail", "open") not in ("open", "closed"):
        raise wrong('fail must be "open" or "closed"')
    if entry.get("mode", "enforce") not in Options.CHOICES["mode"]:
        raise wrong('mode must be "observe" or "enforce"')
    if not isinstance(entry.get("name", ""), str):
        raise wrong("name must be a string")
    if entry.get("speaks") not in (*HOSTS, *GUESTS, OWN_DIALECT):
        raise wrong(f"speaks must be one of {', '.join((*HOSTS, *GUESTS, OWN_DIALECT))}")
    for host in entry.get("hosts", []):
        if host not in HOSTS:
            raise wrong(f"unknown agent {host!r}; known agents: {', '.join(HOSTS)}")
    return entry


def _check_command(entry: dict[str, Any], wrong: Callable[[str], UsageError]) -> None:
    command, shell = entry.get("run"), entry.get("shell", False)
    if not isinstance(shell, (bool, str)) or shell == "":
        raise wrong('shell must be true, false or the name of a shell, for example: shell = "bash"')
    if shell:
        if not isinstance(command, str) or not command.strip():
            raise wrong('with shell, run must be a string, for example: run = "./check.sh | tee log"')
    elif isinstance(command, str):
        raise wrong('run must be a list, for example: run = ["./check.sh"]; for a shell command, add shell = true')
    elif not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command) or not command[0]:
        raise wrong("run must be a list of strings: the program and its arguments")


def _check_prompt(entry: dict[str, Any], model: Mapping[str, str] | None, wrong: Callable[[str], UsageError]) -> None:
    if not isinstance(entry.get("prompt"), str) or not entry["prompt"].strip():
        raise wrong("prompt must be a string: what the model checks")
    excluded = [key for key in ("run", "shell", "background", "wake") if key in entry]
    if excluded:
        raise wrong(f"{excluded[0]} cannot be combined with prompt")
    if not isinstance(entry.get("model", "-"), str) or not entry.get("model", "-"):
        raise wrong("model must be a string: the name of a model")
    if entry.get("speaks") not in (known := (*having("judge"), OWN_DIALECT)):
        raise wrong(f"with a prompt, speaks must be one of {', '.join(known)}")
    if model is None:
        raise wrong(_NO_MODEL)


def _called(entry: Mapping[str, Any]) -> str:
    return f" ({entry['name']})" if isinstance(entry.get("name"), str) else ""


class Wanted(Registration):
    """A registration that can also filter by command, path and source, and that also matches events that stand in for its own."""

    __slots__ = ()

    def wants(self, event: Event) -> bool:
        program = _program(self)
        if not program.is_active(event):
            return False
        moment = program.moment(event)
        return moment is not None and super().wants(moment) and program.applies(moment)

    def said(self, what: Response | str) -> list[dict[str, Any]]:
        return [{**super().said(what)[0], "kind": "program", "file": _program(self).file, "line": None}]

    def stand_ins(self, host: str) -> list[str]:
        """The unified events that stand in for this one on a host."""
        if self.hosts and host not in self.hosts:
            return []
        wire, sources = wire_of(host), _program(self).sources
        rows = wire.TRAITS.stand_ins.items()
        return [wire.EVENTS[name].event for name, row in rows if row.event == self.event and (not row.source or row.source in sources)]


class Program:
    """One [[hook]] for one event, as a handler. Called directly it runs by itself; a Manifest runs several concurrently."""

    __slots__ = (
        "__name__", "agent_types", "background", "commands", "dialect", "event", "fail", "file", "folder", "judge", "native_event", "once",
        "paths", "run", "shell", "skills", "sources", "timeout", "tools", "transcript", "wake",
    )  # fmt: skip

    def __init__(
        self,
        entry: Mapping[str, Any],
        event: str,
        native_event: str,
        file: str,
        fail: str,
        tools: tuple[str, ...] = (),
        model: Mapping[str, str] | None = None,
    ) -> None:
        self.judge: dict[str, Any] | None = None  # what a model is asked, if one judges instead of a program
        if "prompt" in entry:
            self.judge = _question(entry, event, model or {})
        self.run: str | list[str] = entry["prompt"] if self.judge else entry["run"]
        shell = entry.get("shell", False)
        self.shell: str = ("/bin/sh" if shell else "") if isinstance(shell, bool) else shell
        self.__name__: str = entry.get("name") or (self.run if isinstance(self.run, str) else " ".join(self.run))[:80]
        self.dialect: str = entry["speaks"]
        self.event = event  # the unified one
        self.native_event = native_event  # "" for the dialect's default
        self.timeout = float(entry.get("timeout", TIMEOUT))
        self.fail: str = entry.get("fail") or fail
        self.file = file  # the manifest
        self.folder = os.path.dirname(file)
        self.tools = tools
        self.wake = bool(entry.get("wake"))  # in the background, and then exit code 2 sends the agent back to work
        self.background = self.wake or bool(entry.get("background"))
        self.transcript: bool | None = entry.get("transcript")  # None: if the program mentions it
        if self.judge and self.transcript is None:
            self.transcript = event in STOPS or self.judge["agent"]
        self.commands: list[str] = entry.get("commands", [])
        self.paths: list[str] = entry.get("paths", [])
        self.sources: list[str] = entry.get("sources", [])
        self.agent_types: list[str] = entry.get("agent_types", [])
        self.skills: list[str] = entry.get("skills", [])
        self.once = bool(entry.get("once"))

    def is_active(self, event: Event) -> bool:
        """Whether the skill that this program belongs to is active. This is asked for every event, since one of them starts the skill."""
        if not self.skills and not self.once:
            return True
        from onehook.manifest import active

        return (not self.skills or active.is_active(event, self.skills)) and not (self.once and active.has_run(event, self.label))

    @property
    def label(self) -> str:
        """What distinguishes it from other programs of its manifest."""
        return "\0".join((self.event, self.__name__, self.folder))

    def moment(self, event: Event) -> Event | None:
        """What this program receives for an event: the event itself, the one that it stands in for on this host, or nothing."""
        row = wire_of(event.host).TRAITS.stand_ins.get(event.native_event) if event.host in HOSTS else None
        stands_in = row is not None and row.covers(event)
        if row is None or not stands_in or row.event != self.event:
            return event if event.event == self.event and not (row is not None and stands_in and row.inside) else None
        if row.source and not self.sources:
            return None  # a program for session starts in general does not want compactions
        from onehook.hostkit.reverse import stood_for

        return stood_for(event, row)

    def applies(self, event: Event) -> bool:
        if self.sources and (event.source or "startup") not in self.sources:  # not every host reports why a session starts
            return False
        if self.agent_types and event.agent_type not in self.agent_types:
            return False
        if self.commands and not self._commands_match(event.command):
            return False
        if not self.paths:
            return True
        folder = event.cwd or os.getcwd()  # the contract does not name the agent's folder, but a hook is started in it
        return any(path_matches(pattern, path, folder) for pattern in self.paths for path in event.paths)

    def told(self, event: Event) -> Event:
        """The event as the program's own agent would report it: with the command that the agent wanted to run and, for a program that
        handles edits, with what changes in a file if another agent sends whole files."""
        if self.dialect != event.host and event.command.startswith(". "):
            from onehook.manifest.variables import original

            event = original(event, event)
        if self.dialect in (OWN_DIALECT, event.host) or not event.changes or (self.tools and "Edit" not in self.tools):
            return event
        from onehook.hostkit.reverse import told

        return told(event)

    def means(self, part: Event) -> bool:
        """Whether one call of several, or one change in a patch, uses a tool that this program is for."""
        if not self.tools or not part.changes:
            return True
        from onehook.hostkit.reverse import said_tools

        return any(pattern in ("*", part.native_tool) or pattern in said_tools(part) for pattern in self.tools)

    def _commands_match(self, line: str) -> bool:
        from onehook.manifest.commands import matches  # the shell reader is slow to load

        return matches(self.commands, line)

    def __call__(self, event: Event) -> Response | None:
        return answers([self], event, self.timeout + _MARGIN)[0]

    def reads_transcript(self, event: Event, variables: Mapping[str, str]) -> bool:
        """Whether the transcript has to be written in the program's dialect."""
        if self.dialect in (OWN_DIALECT, event.host) or self.transcript is False:
            return False
        if self.transcript:
            return True
        from onehook.manifest.mentions import mentions

        return mentions(self.words(), event.cwd or self.folder, variables)

    def words(self) -> list[str]:
        """The command line. A program given as a path, and an argument like ./file that exists, are relative to the manifest's folder."""
        if self.judge:
            return [sys.executable, "-I", "-S", LAUNCHER, JUDGE]
        if isinstance(self.run, str):
            return [self.run]
        return [self._placed(word, number == 0) for number, word in enumerate(self.run)]

    def _placed(self, word: str, program: bool) -> str:
        if program:
            return os.path.join(self.folder, word) if "/" in word or os.sep in word else word
        placed = os.path.join(self.folder, word)
        return placed if word.startswith(("./", "../")) and os.path.isfile(placed) else word


def _question(entry: Mapping[str, Any], event: str, model: Mapping[str, str]) -> dict[str, Any]:
    """What the program that asks a model gets in addition to the payload."""
    chosen = {**model, "model": entry.get("model") or model.get("model")}
    flags = {key: bool(entry.get(key)) for key in ("agent", "continue_on_block")}
    timeout = float(entry.get("timeout", TIMEOUT))
    return {"prompt": entry["prompt"], **flags, "speaks": entry["speaks"], "event": event, "timeout": timeout, "model": chosen}


def path_matches(pattern: str, path: str, cwd: str) -> bool:
    """A pattern without a slash matches the file name; one with a slash matches the whole path, or the path relative to cwd."""
    if "/" not in pattern:
        return wildcard(pattern, path.replace("\\", "/").rpartition("/")[2])
    inside = path[len(cwd) + 1 :] if cwd and path.startswith(cwd + "/") else path
    return wildcard(pattern, path) or wildcard(pattern.removeprefix("./"), inside)


class Manifest(Hooks):
    """The policy of a manifest."""

    __slots__ = ("alone", "begun", "given")
    grows = False

    def __init__(self, options: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        super().__init__(**options)
        self.alone = True  # only this manifest is installed, so its programs' own events are too
        self.begun = time.monotonic()
        self.given = given

    def add(self, entry: Mapping[str, Any], file: str, fail: str, model: Mapping[str, str] | None = None) -> None:
        for name in entry["events"]:
            event, native, implied = _resolved(entry, name)
            tools = tuple(entry.get("tools", ())) or implied
            if implied and "tools" in entry:
                raise UsageError(f"{name} applies only to {implied[0]}: remove `tools`, or use the event PreToolUse or PostToolUse")
            program = Program(entry, event, native, file, fail, tools, model)
            self.registrations.append(Wanted(event, program, tools, tuple(entry.get("hosts", ())), entry.get("mode") == "observe"))

    def wanting(self, event: Event) -> Iterator[Registration]:
        return (registration for registration in super().wanting(event) if not self.alone or self._is_place(registration, event))

    def _is_place(self, registration: Registration, event: Event) -> bool:
        """Whether a program runs here, where the agent has several events for one call: each program runs at one of them."""
        if event.host not in HOSTS or event.event != registration.event:
            return True
        rows = wire_of(event.host).EVENTS
        general = not rows[event.native_event].tool
        own = own_event(registration.handler, event.host)
        others = [own_event(other.handler, event.host) for other in self.registrations if other.event == event.event]
        if own:  # at the general event if only that can have been installed: manually, or by an older version
            return event.native_event == own or (general and "" not in others)
        return general or event.native_event not in others

    def _told_later(self, event: Event) -> Response | None:
        """What programs in the background have answered since."""
        if not any(_program(registration).background for registration in self.registrations):
            return None
        from onehook.manifest.background import told

        return told(event, dialect_of)

    def use(self, other: Hooks) -> Hooks:
        raise UsageError(
            "a manifest can only contain programs; add the manifest to the policy instead: hooks.use(load_policy('onehook.toml'))"
        )

    def settle(self) -> None:
        """Options of the event as a whole: time for all its programs, and fail closed if one of them does."""
        by_event: dict[str, list[Program]] = {}
        for registration in self.registrations:
            by_event.setdefault(registration.event, []).append(_program(registration))
        if self.options["timeout"] is None:
            times = [max(program.timeout for program in some) * (1 + (len(some) - 1) // AT_ONCE) for some in by_event.values()]
            needed = max(times) + _MARGIN
            if needed > Options().timeout:  # otherwise it is not set: a policy that uses the manifest may give its handlers more
                self.options["timeout"] = needed
        if any(_program(one).fail == "closed" for one in self.registrations if not one.observed):
            self.options["fail"] = "closed"

    def check(self) -> None:
        """Check what would otherwise fail only when an event arrives: that each program's dialect has its events."""
        for registration in self.registrations:
            program = _program(registration)
            known: tuple[str, ...] = EVENTS + EXTENDED_EVENTS
            if program.dialect != OWN_DIALECT:
                known = tuple(row.event for row in wire_of(program.dialect).EVENTS.values())
            if registration.event not in known:
                raise UsageError(f"the hook {program.__name__!r} speaks {program.dialect}, which has no {registration.event}")

    def dispatch(self, event: Event) -> Response:
        wanting = list(self.wanting(event))
        total = self.given.get("timeout") or self.options["timeout"] or Options().timeout
        margin = min(1.0, total / 10)  # so that a late program is ended here, by its own `fail`, and not from outside
        merged = self._told_later(event) or Response()
        left = self.begun + total - margin - time.monotonic()
        for one, answer in zip(wanting, answers([_program(one) for one in wanting], event, left)):
            if answer is not None:
                answer.by = one.said(answer) if answer.to_dict() else []  # a program that only ran has not answered
                without_effect = one.observed or (event._pause is not None and self.paused(one, event._pause))
                merged = merge(merged, withheld(answer, one.name) if without_effect else answer)
            if merged.decision == "deny":
                break
        return self._with_variables(event, merged)

    def _with_variables(self, event: Event, answer: Response) -> Response:
        """What programs have set for the commands of this session, on an agent that has no file for it."""
        if event.event != "PreToolUse" or event.tool != "Bash" or not any(sets_variables(one, event.host) for one in self.registrations):
            return answer
        from onehook.manifest.variables import applied

        return applied(event, answer)


def sets_variables(registration: Registration, host: str) -> bool:
    """Whether this is a program that may set variables for the session's commands, and the agent does not read them itself."""
    program = _program(registration)
    at_start = registration.event in ("SessionStart", "Setup", "CwdChanged", "FileChanged")
    return at_start and program.dialect not in (OWN_DIALECT, host) and bool(dialect_of(program.dialect).ENV_FILE)


def own_event(program: Any, host: str) -> str:
    """The event that a program is written for, if this is its own agent and the agent has it in addition to a general one; else ""."""
    named = isinstance(program, Program) and program.dialect == host and program.native_event
    return program.native_event if named and wire_of(host).EVENTS[program.native_event].tool else ""


def _program(registration: Registration) -> Program:
    assert isinstance(registration.handler, Program)
    return registration.handler


def _resolved(entry: Mapping[str, Any], name: str) -> tuple[str, str, tuple[str, ...]]:
    """The unified event for a name, the dialect's own event if that was named, and the tools that it is about."""
    dialect = entry["speaks"]
    own = name.startswith(f"{dialect}:")  # copilot:PreToolUse is the dialect's own event, although a unified event has the same name
    if not own and (name in EVENTS or name in EXTENDED_EVENTS):
        return name, "", ()
    name = name[len(dialect) + 1 :] if own else name
    row = wire_of(dialect).EVENTS.get(name) if dialect != OWN_DIALECT else None
    if row is None:
        raise UsageError(f"unknown event {name!r}; use a unified event ({', '.join(EVENTS[:5])}, ...) or one of {dialect}'s own")
    return row.event, name, ("Edit", "Write") if row.tool == "Edit" else (row.tool,) if row.tool else ()
