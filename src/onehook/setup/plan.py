"""Plan what install and uninstall change, before anything is written."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.core import STOPS
from onehook.hostkit.config import DEFAULT_EVENTS, Commands, Found, Machine, Place, Wish
from onehook.hostkit.trust import root_of
from onehook.hosts import entry_hosts, having, load, optional, wire_of
from onehook.setup.command import (
    LAUNCHER,
    PORTABLE_FOLDER,
    PORTABLE_LAUNCHER,
    Program,
    client,
    commands,
    interpreter,
    names_policy,
    orphan_of,
    read,
    relative_to,
    with_interpreter,
)
from onehook.setup.entries import content_without, first_state, mentions_ours, ours_in, remove_entry
from onehook.setup.files import FileEdit
from onehook.setup.journal import Given, Journal
from onehook.setup.sharing import ignored, plan_exclude, shared, tracked
from onehook.setup.trust import plan_trust
from onehook.textedit.document import ConfigError, Document, content_of
from onehook.textedit.text import value_at

if TYPE_CHECKING:
    from onehook.hosts.interface import Config
    from onehook.setup.managed import Copy


@dataclass
class Plan:
    """The edits to write, and what `apply` needs to know about each file."""

    edits: list[FileEdit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first_states: dict[Path, bytes | None] = field(default_factory=dict)  # what uninstall restores, for files that keep our entries
    roots: dict[Path, Path] = field(default_factory=dict)  # file -> the folder that it must stay in
    leftovers: list[Path] = field(default_factory=list)  # files that an interrupted run was about to write
    own_folders: list[Path] = field(default_factory=list)  # folders to remove once they are empty
    holders: dict[Path, tuple[str, Place]] = field(default_factory=dict)  # file -> whose config it is
    copies: dict[str, Path] = field(default_factory=dict)  # pin -> the policy whose copy is to be kept
    modes: dict[Path, int] = field(default_factory=dict)  # file -> its permissions, where they matter
    given: dict[Path, tuple[Given, ...]] = field(default_factory=dict)  # file -> the trust in it that is onehook's, where that changes
    everywhere: list[tuple[str, Path]] = field(default_factory=list)  # the scopes and paths of all hosts' files, once they are needed

    def add(self, edit: FileEdit, root: Path) -> bool:
        """Plan an edit of a file that must stay in this folder. False if it changes nothing."""
        if edit.before == edit.after:
            return False
        self.edits.append(edit)
        self.roots[edit.path] = root
        return True

    def document(self, place: Place, escape_slashes: bool = False) -> Document:
        """A file as this plan leaves it; its `before` are the bytes on disk."""
        document = Document(place.path, place.format, escape_slashes)
        for edit in self.edits:
            if edit.path == place.path:
                document.text = (edit.after or b"").decode("utf-8")
        return document


@dataclass(frozen=True)
class Request:
    """What the user asked install for."""

    policy: Path
    scope: str = "project"
    # host -> the events to install, each with the unified event that it is for: itself, one that it stands in for, or, of an event by the
    # agent's own name, what that is. A host that is not named has the default ones.
    events: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wish: Wish = field(default_factory=Wish)
    portable: bool = False
    trust: bool = False  # a person wants the agents to trust the entries
    audience: str = ""  # who it is for in a repository: "me", "team", or "" if it was not given
    program: Program | None = None  # what runs the policy, if it is not this onehook
    pin: str = ""  # the hash of the policy and of everything that it loads, if that is to be checked at every event
    copy: Copy | None = None  # what is copied; `policy` is the copy
    client: tuple[str, ...] = ()  # what comes before each command in resident mode

    def events_on(self, host: str, known: Iterable[str]) -> tuple[list[str], list[str]]:
        """The events to install on a host, and those that it does not have. `known`: those that it has."""
        events = self.events[host] if host in self.events else {event: event for event in DEFAULT_EVENTS}
        stood_for = [meant for event, meant in events.items() if event != meant]
        return [event for event in events if event in known], [e for e in events if e not in known and e not in stood_for]


def configurable() -> list[str]:
    """The hosts that a policy can be installed on."""
    return having("config")


def config_of(host: str) -> Config:
    return load(host, "config")


def present(host: str, machine: Machine) -> str:
    """The folder or binary that shows that an agent is on this machine; "" if there is none."""
    config = config_of(host)
    folders = [base / name for base in (machine.project, machine.home) for name in config.FOLDERS]
    folders += [place.path.parent for place in config.places(machine) if place.scope == "user" and place.path.parent != machine.home]
    found = next((str(folder) for folder in folders if folder.is_dir()), "")
    return found or next((path for binary in config.BINARIES if (path := machine.which(binary))), "")


def places_of(host: str, scope: str, machine: Machine) -> list[Place]:
    return [place for place in config_of(host).places(machine) if place.scope == scope]


def place_of(host: str, scope: str, machine: Machine) -> Place | None:
    """The file of a scope that install writes to: one that has onehook's entries, else the first one that the host names."""
    places = places_of(host, scope, machine)
    return next((place for place in places if len(places) > 1 and _holds_ours(host, place)), places[0] if places else None)


def target(host: str, request: Request, machine: Machine) -> Place | None:
    """The file that install writes to. For me: one that teams do not commit, or else the project's, if git can be told to ignore it."""
    if request.audience != "me":
        return place_of(host, request.scope, machine)
    place = place_of(host, "local", machine) or place_of(host, "project", machine)
    return None if place and root_of(machine.project) and tracked(place.path, machine.project) else place


def _holds_ours(host: str, place: Place) -> bool:
    try:
        return bool(ours_in(config_of(host), Document(place.path, place.format).data()))
    except ConfigError:
        return False


# ---- install


def plan_install(hosts: Sequence[str], request: Request, machine: Machine, journal: Journal) -> Plan:
    plan = Plan()
    if request.portable:
        from onehook.setup.runtime import TEXTS, plan_runtime

        plan_runtime(plan, machine.project / PORTABLE_FOLDER, machine.project, more=TEXTS)
    elif request.program:
        _plan_program(plan, request.program)
    if request.pin:
        from onehook.setup.pinning import plan_list

        policy, *moved = (request.copy.source, request.copy.moved) if request.copy else (request.policy,)
        plan_list(plan, policy, request.pin, _launcher(request, machine), *moved)
    if request.copy:
        from onehook.setup.managed import plan_copy

        plan_copy(plan, request.copy)
    targets = {host: target(host, request, machine) for host in hosts}
    for host, place in targets.items():
        if place is None:
            plan.notes.append(_no_place(host, request, machine))
            continue
        if request.audience:
            _plan_move(plan, host, place, request, machine, journal)
        if place.format == "own":
            _plan_own_file(plan, host, place, request, machine, journal)
        else:
            _plan_host(plan, host, place, request, machine, journal)
        # The machine's plugin needs no trust: its file only has to be named.
        plan_trust(plan, host, place, machine, journal, request.policy if request.trust or request.scope == "enterprise" else None)
    without = [config_of(host).TITLE for host in hosts if optional(host, "trust") is None]
    if request.trust and without:
        plan.notes.append(f"--trust writes nothing for {', '.join(without)}: hooks run there without being trusted")
    _plan_sharing(plan, [place for place in targets.values() if place], request, machine)
    return plan


def _launcher(request: Request, machine: Machine) -> Path:
    return machine.project / PORTABLE_LAUNCHER if request.portable else Path(request.program.launcher) if request.program else LAUNCHER


def _plan_program(plan: Plan, program: Program) -> None:
    """Plan the copy of the runtime that the program starts, and remember the interpreter: doctor starts no other."""
    from onehook.setup.interpreters import remembered
    from onehook.setup.runtime import plan_runtime

    folder = Path(program.launcher).parent
    plan_runtime(plan, folder, folder, more={"interpreters": remembered(program.interpreter, folder)})


def _no_place(host: str, request: Request, machine: Machine) -> str:
    title, place = config_of(host).TITLE, place_of(host, "project", machine)
    if request.audience != "me" or place is None:
        return f"{title} has no {request.scope} scope; skipped"
    user = f"onehook install {shlex.quote(str(request.policy))} --hosts {host} --scope user"
    what = f"{title} has no per-user file in a project, and git tracks {place.path}; skipped"
    return f"{what}. Install it for all your projects ({user}), or for everyone (--for team)"


def _plan_move(plan: Plan, host: str, target: Place, request: Request, machine: Machine, journal: Journal) -> None:
    """Remove the policy from the other files of the project, if it is now installed for someone else."""
    for place in (*places_of(host, "project", machine), *places_of(host, "local", machine)):
        if place.path == target.path or not place.path.is_file() or not mentions_ours(content_of(place.path) or b""):
            continue
        ours = _removable(config_of(host), _look_at(host, place), request.policy, machine)
        if request.audience == "me" and any(entry.portable for found in ours if (entry := read(found.command))):
            plan.notes.append(f"{place.path} already has the policy for everyone, so {config_of(host).TITLE} runs it twice")
        elif ours:
            _plan_removal(plan, host, place, request.policy, machine, journal)
            plan_trust(plan, host, place, machine, journal)


def _look_at(host: str, place: Place) -> Any:
    return place.path.read_text(encoding="utf-8", errors="replace") if place.format == "own" else Document(place.path, place.format).data()


def _plan_sharing(plan: Plan, places: list[Place], request: Request, machine: Machine) -> None:
    """Hide from git what is only for this user, and report what works only here, and what a clone needs but does not get."""
    project = machine.project
    inside = [place for place in places if place.scope in ("project", "local")]
    if not inside or not root_of(project):
        return
    others_get = shared([place.path for place in inside], project)
    if request.portable:
        needed = [request.policy, project / PORTABLE_LAUNCHER, *(place.path for place in inside)]
        shown_again = [*(place.path for place in inside), *_without_ours(plan, machine)]
        still = ignored(needed, project) - plan_exclude(plan, (), shown_again, project)
        plan.notes += [f"git ignores {path}, so a clone does not have it: git add -f it" for path in needed if path in still]
        return
    mine = [place.path for place in inside if place.path in others_get and (request.audience == "me" or not place.committed)]
    plan_exclude(plan, mine, (), project)
    warned = [str(path) for path in others_get if path not in mine]
    if warned:
        what = f"git does not ignore {', '.join(warned)}, and the entries name files on this machine: in a clone, the hooks cannot run"
        plan.notes.append(f"{what}. Install with --for me (git is told to ignore them) or --for team (portable, to be committed)")
    if request.audience == "me":
        _plan_runtime_removal(plan, ("project", "local"), machine)


def _plan_host(plan: Plan, host: str, place: Place, request: Request, machine: Machine, journal: Journal) -> None:
    config = config_of(host)
    document = Document(place.path, place.format, config.TRAITS.escape_slashes)
    before_ours = first_state(document, config, place, journal)
    _add_skeleton(document, config)
    _refuse_invalid(document, config, place, "Fix that first; nothing was changed")
    wanted = _wanted(plan, host, request)
    if not wanted:  # none is left of the events that were installed, and perhaps nothing of the file
        _plan_removal(plan, host, place, request.policy, machine, journal)
        return
    longest = config.TRAITS.longest_timeout
    if 0 < longest < request.wish.host_timeout:
        short = "so a handler that takes longer is treated as a denial, and no call can be held for a person"
        advice = f"and then continues: choose a timeout of less than {longest - 10} s" if longest > 10 else short
        plan.notes.append(f"{config.TITLE} waits for {longest} s at most, {advice}")
    for event in wanted:
        _put_entry(document, host, event, request, place, machine)
    _drop_others(plan, document, config, wanted, request, machine)
    _refuse_invalid(document, config, place, "The edited file would not be accepted; nothing was changed")
    _add(plan, FileEdit(place.path, document.before, document.after), host, place, before_ours)


def _wanted(plan: Plan, host: str, request: Request) -> list[str]:
    config = config_of(host)
    own = [native for native, row in wire_of(host).EVENTS.items() if row.tool]
    wanted, absent = request.events_on(host, [*config.EVENTS, *own])
    plan.notes += [f"{config.TITLE} has no {event} event; skipped" for event in absent]
    return wanted


def _native(config: Config, event: str) -> str:
    """The agent's name for an event, which may be its own name already."""
    return config.EVENTS.get(event, event)


def _add_skeleton(document: Document, config: Config) -> None:
    """Add what a file needs besides hooks, unless it has hooks: the agent may be ignoring those, and would start to run them."""
    data = document.data()
    if isinstance(data, dict) and not any(config.found(data)):
        for key, value in config.TRAITS.skeleton.items():
            if key not in data:
                document.set_value((key,), value)


def _refuse_invalid(document: Document, config: Config, place: Place, then: str) -> None:
    data = document.data()
    wrong = [*config.text_problems(place, document.text, data), *config.problems(data)] if document.text.strip() else []
    if wrong:
        raise ConfigError(f"{place.path}: {wrong[0]}. {then}")


def _put_entry(document: Document, host: str, event: str, request: Request, place: Place, machine: Machine) -> None:
    """Write the entry of one event: in place of the old one, since agents trust an entry by its place, else at the end."""
    config = config_of(host)
    made = _commands(host, event, request, place, machine)
    path, item = config.slot(event, made, wish_for(host, event, request.wish), machine.windows)
    path = config.TRAITS.slot_in(place, path)
    mine = [found for found in _entries_of(config, document, request.policy, machine) if found.event == _native(config, event)]
    if not mine:
        document.append(path, item)
        return
    where = mine[0].path[: len(path) + 1]
    if where != mine[0].path and not _alone(value_at(document.data(), where)):
        # The user has added hooks to this group, so only our handler in it is replaced.
        document.replace(mine[0].path, item["hooks"][0])
    else:
        document.replace(where, item)


def _entries_of(config: Config, document: Document, policy: Path, machine: Machine) -> list[Found]:
    """Our entries that run this policy, or else those that run a missing policy of the same name."""
    project = machine.project
    ours = ours_in(config, document.data())
    return [f for f in ours if names_policy(f.command, policy, project)] or [f for f in ours if orphan_of(f.command, policy, project)]


def _alone(group: Any) -> bool:
    """Whether a group has no handler besides ours."""
    return isinstance(group, dict) and isinstance(group.get("hooks"), list) and len(group["hooks"]) == 1


def _drop_others(plan: Plan, document: Document, config: Config, wanted: list[str], request: Request, machine: Machine) -> None:
    """Remove entries of this policy beyond one for each wanted event, unless later hooks of others would change their index."""
    seen: set[str] = set()
    extra: list[Found] = []
    for found in _entries_of(config, document, request.policy, machine):
        if found.event in seen or found.event not in {_native(config, event) for event in wanted}:
            extra.append(found)
        seen.add(found.event)
    for found in reversed(extra):
        at = next(at for at, step in enumerate(found.path) if isinstance(step, int))
        siblings = value_at(document.data(), found.path[:at])
        if isinstance(siblings, list) and found.path[at] == len(siblings) - 1:
            remove_entry(document, found.path, None)
        else:
            text = "entry is kept, since removing it would move the hooks after it; uninstall removes it"
            plan.notes.append(f"{config.TITLE}: the {found.event} {text}")


def _commands(host: str, event: str, request: Request, place: Place, machine: Machine) -> Commands:
    config = config_of(host)
    return commands(
        request.policy,
        machine.project,
        _arguments(host, event, request, place.scope),
        project_folder=config.PROJECT,
        inside_project=place.scope in ("project", "local"),
        portable=request.portable,
        windows=machine.windows,
        guard=config.TRAITS.guard if request.wish.fail_closed and _stoppable(host, event) else "",
        program=request.program,
        client=request.client,
    )


_started_by = functools.cache(entry_hosts)  # a plan asks for each event of each entry


def _stoppable(host: str, event: str) -> bool:
    """Whether a deny stops this event on every agent that runs the entry, so that all of them are given the same command."""
    rows = [row for one in _started_by(host) for name, row in wire_of(one).EVENTS.items() if event in (row.event, name)]
    return event not in STOPS and all(row.gates for row in rows)


def wish_for(host: str, event: str, wish: Wish) -> Wish:
    """How one event is to be installed: where a person may be asked, the agents that run the entry wait as long as all of them can.

    onehook's plugin has one command for all events.
    """
    if not wish.holds or (config_of(host).TRAITS.own_content is None and not _stoppable(host, event)):
        return wish
    return replace(wish, hold=min(config_of(one).TRAITS.longest_timeout for one in _started_by(host)))


def _arguments(host: str, event: str, request: Request, scope: str) -> list[str]:
    arguments = [word for one in _started_by(host) for word in ("--host", one)]
    arguments += ["--event", event]
    if request.wish.observe:
        arguments += ["--mode", "observe"]
    if request.wish.fail_closed:
        arguments += ["--fail", "closed"]
    seconds = f"{request.wish.deadline:.3f}".rstrip("0").rstrip(".")  # never 1e+06, which is not read back as a plain word
    arguments += ["--timeout", seconds]
    if request.wish.log:
        arguments += ["--log", request.wish.log]
    if request.wish.ask_via:
        arguments += ["--ask-via", request.wish.ask_via]
    if hold := wish_for(host, event, request.wish).hold:
        arguments += ["--host-timeout", str(hold)]
    if scope == "enterprise":
        arguments += ["--layer", "managed"]
    return [*arguments, "--pin", request.pin] if request.pin else arguments


def is_rewritten(host: str, place: Place, found: Found, machine: Machine) -> bool:
    """Whether this onehook would write exactly the command of an entry."""
    written, row = read(found.command), wire_of(host).EVENTS.get(found.event)
    if written is None or row is None:
        return False
    config = config_of(host)
    wish = Wish(
        fail_closed=written.option("fail") == "closed",
        timeout=float(written.option("timeout") or 0) or None,
        observe=written.option("mode") == "observe",
        log=written.option("log"),
        ask_via=written.option("ask-via"),
        holds=bool(written.option("host-timeout")),
    )
    event = row.event if config.EVENTS.get(row.event) == found.event else found.event
    program = written.program if starts_copy(written.program, place.scope, machine) else None
    events = {host: {event: row.event}}
    policy, pin = written.policy_path(machine.project), written.option("pin")
    request = Request(
        policy, place.scope, events, wish, written.portable, program=program, pin=pin, client=client() if written.client else ()
    )
    made = _commands(host, event, request, place, machine)
    if config.TRAITS.own_content is not None:
        data: Any = config.TRAITS.own_content(place, {event: made}, wish_for(host, event, wish), machine).decode()
    else:
        (*keys, native), item = config.slot(event, made, wish_for(host, event, wish), machine.windows)
        data = {native: [item]}
        for key in reversed(keys):
            data = {key: data}
    return with_interpreter(found.command, interpreter()) in {entry.command for entry in config.found(data)}


def starts_copy(program: Program, scope: str, machine: Machine) -> bool:
    """Whether install has written this: an interpreter that it was given, with the user's copy of the runtime or with the machine's."""
    from onehook.setup.interpreters import launcher_in, own_folder, was_given
    from onehook.setup.managed import is_safe

    if scope == "enterprise":
        return is_safe(program, machine)
    own = launcher_in(own_folder())
    return program.launcher == str(own) and was_given(program.interpreter, own.parent)


def _plan_own_file(plan: Plan, host: str, place: Place, request: Request, machine: Machine, journal: Journal) -> None:
    """Plan a file that belongs to onehook as a whole; the host renders it from the command of each event."""
    config = config_of(host)
    before = content_of(place.path)
    _refuse_foreign(host, before, place, request, machine)
    lines = {event: _commands(host, event, request, place, machine) for event in _wanted(plan, host, request)}
    assert config.TRAITS.own_content is not None, f"{host} has a separate file, but no own_content to write into it"
    content = config.TRAITS.own_content(place, lines, wish_for(host, "", request.wish), machine)
    memory = journal.recall(place.path)
    _add(plan, FileEdit(place.path, before, content), host, place, memory.before if memory else None)


def _refuse_foreign(host: str, before: bytes | None, place: Place, request: Request, machine: Machine) -> None:
    """Refuse to overwrite a file that runs another policy, or that onehook did not write."""
    if before is None:
        return
    config = config_of(host)
    ours = ours_in(config, before.decode("utf-8", "replace"))
    if not ours:
        raise ConfigError(f"{place.path} exists and was not written by onehook; move it first. Nothing was changed")
    if not any(names_policy(found.command, request.policy, machine.project) for found in ours):
        fix = f"join them with hooks.use(other), or run onehook uninstall --hosts {host} --scope {place.scope} first"
        raise ConfigError(f"{config.TITLE} can run only one policy, and another one is installed: {fix}. Nothing was changed")


def _add(plan: Plan, edit: FileEdit, host: str, place: Place, first_state: bytes | None) -> None:
    plan.holders[edit.path] = host, place
    if plan.add(edit, place.root):
        plan.first_states[edit.path] = first_state


# ---- uninstall


def plan_uninstall(hosts: Sequence[str], scopes: Iterable[str], policy: Path | None, machine: Machine, journal: Journal) -> Plan:
    plan = Plan()
    wanted = list(scopes)
    for host in hosts:
        places = config_of(host).places(machine)
        for place in (place for scope in wanted for place in places if place.scope == scope):
            # A file without onehook's entries is not touched, even if it cannot be parsed.
            if place.path.is_file() and mentions_ours(content_of(place.path) or b""):
                _plan_removal(plan, host, place, policy, machine, journal)
            elif (origin := journal.origin(place.path)) and not origin.given:
                plan.leftovers.append(place.path)
            plan_trust(plan, host, place, machine, journal)
    _plan_runtime_removal(plan, wanted, machine)
    plan_exclude(plan, (), _without_ours(plan, machine), machine.project)
    return plan


def _without_ours(plan: Plan, machine: Machine) -> list[Path]:
    """The files of a project that no longer have onehook's entries, which git need not ignore."""
    contents = _contents(plan, ("project", "local"), machine)
    return [path for path, content in contents.items() if not content or not mentions_ours(content)]


def _plan_removal(plan: Plan, host: str, place: Place, policy: Path | None, machine: Machine, journal: Journal) -> None:
    config = config_of(host)
    memory = journal.recall(place.path)
    if place.format == "own":
        content = content_of(place.path) or b""
        if _removable(config, content.decode("utf-8", "replace"), policy, machine):
            plan.add(FileEdit(place.path, content, memory.before if memory else None), place.root)
        return
    document = Document(place.path, place.format, config.TRAITS.escape_slashes)
    ours = ours_in(config, document.data())
    mine = _removable(config, document.data(), policy, machine)
    if not mine:
        return
    origin = journal.origin(place.path)
    if len(mine) == len(ours) and not (origin and origin.given):
        # If nobody has changed the file since, restore exactly the bytes that install found.
        after = memory.before if memory else content_without(document, mine, config, origin)
        plan.add(FileEdit(place.path, document.before, after), place.root)
        return
    before_ours = first_state(document, config, place, journal)
    after = content_without(document, mine, config, origin)
    _add(plan, FileEdit(place.path, document.before, after), host, place, before_ours)


def _removable(config: Config, data: Any, policy: Path | None, machine: Machine) -> list[Found]:
    return [found for found in ours_in(config, data) if policy is None or names_policy(found.command, policy, machine.project)]


def _plan_runtime_removal(plan: Plan, scopes: Iterable[str], machine: Machine) -> None:
    """Remove the runtime of the project if no entry that stays uses it, and that of the machine, if these are the scopes."""
    from onehook.setup.interpreters import launcher_in
    from onehook.setup.managed import folder_of, plan_copy_removal
    from onehook.setup.runtime import plan_runtime_removal

    if set(scopes) & {"project", "local"} and not _is_used(PORTABLE_LAUNCHER, ("project", "local"), plan, machine):
        plan_runtime_removal(plan, machine.project / PORTABLE_FOLDER, machine.project)
    if "enterprise" not in scopes:
        return
    system = folder_of(machine)
    launcher = launcher_in(system)
    plan_copy_removal(plan, machine, lambda folder: _is_used(folder, ("enterprise",), plan, machine))
    if not _is_used(str(launcher), ("enterprise",), plan, machine):
        plan_runtime_removal(plan, launcher.parent, system)
        plan.own_folders += [system, system / "runtime"]


def _is_used(path: str, scopes: Iterable[str], plan: Plan, machine: Machine) -> bool:
    """Whether a config names a path, which JSON may write with a backslash before each slash or backslash."""
    contents = _contents(plan, scopes, machine).values()
    return any(content and path.encode() in content.replace(b"\\/", b"/").replace(b"\\\\", b"\\") for content in contents)


def _contents(plan: Plan, scopes: Iterable[str], machine: Machine) -> dict[Path, bytes | None]:
    """The config files of all hosts, as the plan leaves them."""
    after = {edit.path: edit.after for edit in plan.edits}
    wanted = set(scopes)
    if not plan.everywhere:
        plan.everywhere += [(place.scope, place.path) for host in configurable() for place in config_of(host).places(machine)]
    paths = [path for scope, path in plan.everywhere if scope in wanted]
    return {path: after[path] if path in after else content_of(path) if path.is_file() else None for path in paths}


def policy_in_scope(policy: Path, scope: str, machine: Machine) -> bool:
    return scope not in ("project", "local") or relative_to(policy, machine.project) is not None


def absolute_policy(text: str) -> Path:
    return Path(os.path.abspath(text))
