"""`onehook import`: turn the hooks configured for one agent into a manifest for all, and remove the originals on request."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from onehook.core import EVENTS, EXTENDED_EVENTS, STOPS, UsageError
from onehook.hostkit.config import Machine, Place
from onehook.hostkit.imports import Borrowed, shortened
from onehook.hostkit.permissions import Listed
from onehook.hostkit.reverse import sample
from onehook.hosts import GUESTS, HOSTS, guest, having, load, wire_of
from onehook.manifest.mentions import mentions
from onehook.manifest.needs import tells_type
from onehook.places import state_folder
from onehook.setup import plugins
from onehook.setup.command import is_ours
from onehook.setup.entries import first_state, ours_in, remove_entry
from onehook.setup.files import FileEdit
from onehook.setup.journal import Journal
from onehook.setup.plan import Plan, config_of, configurable, places_of
from onehook.textedit.document import ConfigError, Document
from onehook.textedit.front_matter import Page
from onehook.textedit.text import show_path

HEAD = """\
# Written by `onehook import`: the hooks and permissions of {sources}, for every agent.
# See docs/bring-your-own.md and docs/rules.md for what can be written here. Then: onehook install {name}
"""
NO_MODEL = "a model decides; name one that onehook can use: --model anthropic:NAME or --model openai:NAME (docs/bring-your-own.md)"


@dataclass
class Taken:
    """One hook, and where it was found."""

    host: str
    place: Place
    hook: Borrowed

    @property
    def origin(self) -> str:
        path = self.place.path
        inside = self.place.scope != "user" and path.is_relative_to(self.place.root)
        shown = str(path.relative_to(self.place.root) if inside else path)
        return f"{shown} {show_path(self.hook.path)}" if self.hook.path else shown

    @property
    def event(self) -> str:
        return wire_of(self.host).EVENTS[self.hook.event].event

    @property
    def event_name(self) -> str:
        """The unified name; if the host has several events for it and this is not the first, the host's own name."""
        events = wire_of(self.host).EVENTS
        first = next(name for name in events if events[name].event == self.event)
        if first == self.hook.event and not events[first].tool:
            return self.event
        return f"{self.host}:{self.hook.event}" if self.hook.event in (*EVENTS, *EXTENDED_EVENTS) else self.hook.event


@dataclass
class Permitted:
    """One entry of an agent's permission list."""

    host: str
    listed: Listed

    @property
    def refused(self) -> bool:
        return bool(self.listed.refused)

    def __str__(self) -> str:
        return f"{self.host} {self.listed.level} {self.listed.shown}"


@dataclass
class Import:
    permissions: list[Permitted] = field(default_factory=list)
    carried: list[Taken] = field(default_factory=list)
    refused: list[Taken] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    documents: dict[Path, Document] = field(default_factory=dict)
    pages: list[Path] = field(default_factory=list)  # whose front matter is carried over whole
    model: dict[str, str] = field(default_factory=dict)  # [model], for hooks that a model judges

    def take(self, host: str, place: Place, hook: Borrowed) -> None:
        self.refuse_unjudged(hook)
        (self.refused if hook.refused else self.carried).append(Taken(host, place, hook))

    def refuse_unjudged(self, hook: Borrowed) -> None:
        """A hook that a model decides is refused if no model is named."""
        if hook.prompt and not self.model:
            hook.refused = hook.refused or NO_MODEL

    @property
    def hosts(self) -> list[str]:
        """The hosts that something is imported from."""
        kept = [one.host for one in self.permissions if not one.refused]
        return list(dict.fromkeys([*(taken.host for taken in self.carried), *kept]))


def importable() -> list[str]:
    return [*(host for host in HOSTS if host in {*having("imports"), *having("permissions")}), *GUESTS]


def title_of(name: str) -> str:
    return guest(name).TITLE if name in GUESTS else config_of(name).TITLE


def collect(hosts: Sequence[str], scope: str, machine: Machine, model: dict[str, str] | None = None) -> Import:
    """Every configured hook of these hosts except onehook's own entries, and those of the plugins that they have installed."""
    found = Import(model=model or {})
    for name in (name for name in hosts if name in GUESTS):
        taken = [Taken(name, place, hook) for place, hook in guest(name).found(machine, scope)]
        found.carried += [one for one in taken if not one.hook.refused]
        found.refused += [one for one in taken if one.hook.refused]
        found.notes += [] if taken else [f"{title_of(name)} has no hooks in its {scope} scope"]
    for host in (host for host in hosts if host in HOSTS):
        config, before = config_of(host), len(found.carried) + len(found.refused) + len(found.permissions)
        found.permissions += _permissions(host, scope, machine)
        places = read_by(host, scope, machine) if host in having("imports") else []
        for place in (place for place in places if place.path.is_file()):
            document = Document(place.path, place.format, config.TRAITS.escape_slashes)
            found.documents[place.path] = document
            found.notes += [f"{place.path}: {problem}" for problem in config.problems(document.data())]
            ours = [entry.path for entry in ours_in(config, document.data())]
            for hook in load(host, "imports").handlers(document.data(), place):
                if not hook.path:  # the file is the hook: it stays where it is, and its own agent still runs it
                    hook.hosts = plugins.others_than(host)
                if hook.path not in ours and not is_ours(hook.shown):
                    found.take(host, place, hook)
        for root in plugins.installed(host, scope, machine):
            _take_plugin(found, host, root, machine, runs_already=True)
        found.notes += _of_the_user(host, scope, machine)
        _take_pages(found, host, scope, machine)
        if before == len(found.carried) + len(found.refused) + len(found.permissions):
            found.notes.append(f"{config.TITLE} has no hooks and no permission lists in its {scope} scope")
        found.notes += _borrowed_files(host, hosts, scope, machine)
    found.notes += _absences(found.carried)
    return found


def _of_the_user(host: str, scope: str, machine: Machine) -> list[str]:
    """A note about plugins of the user, which also run in this project."""
    roots = plugins.installed(host, "user", machine) if scope == "project" else []
    names = [plugins.name_of(host, root) for root in roots if any(plugins.hooks_of(host, root, machine, runs_already=True))]
    where = f"{config_of(host).TITLE} also runs the hooks of plugins that you have installed"
    return [f"{where} ({', '.join(names)}); import them with --scope user"] if names else []


def _take_pages(found: Import, host: str, scope: str, machine: Machine) -> None:
    """Hooks in front matter. If a page cannot be imported completely, nothing is removed from it, so that its agent still runs it."""
    for place, hooks in plugins.hooks_of_pages(host, scope, machine):
        for hook in hooks:
            found.refuse_unjudged(hook)
        stays = any(hook.refused for hook in hooks)
        found.pages += [] if stays else [place.path]
        for hook in hooks:
            hook.hosts = plugins.others_than(host) if stays else []
            found.take(host, place, hook)


def _permissions(host: str, scope: str, machine: Machine) -> list[Permitted]:
    from onehook.rules.permissions import parse_permission

    if host not in having("permissions"):
        return []
    permissions = [Permitted(host, listed) for listed in load(host, "permissions").listed(machine, scope)]
    for one in permissions:
        try:
            if not one.refused:
                parse_permission(one.listed.entry)
        except UsageError as error:
            one.listed.refused = str(error)
    return permissions


def collect_plugins(roots: Sequence[Path], machine: Machine, model: dict[str, str] | None = None) -> Import:
    """The hooks of these plugins."""
    found = Import(model=model or {})
    for root in roots:
        _take_plugin(found, plugins.agent_of(root), root, machine, runs_already=False)
    found.notes += _absences(found.carried)
    return found


def _take_plugin(found: Import, host: str, root: Path, machine: Machine, runs_already: bool) -> None:
    for place, hook in plugins.hooks_of(host, root, machine, runs_already):
        found.take(host, place, hook)


def read_by(host: str, scope: str, machine: Machine) -> list[Place]:
    """The files of a scope that a host reads hooks from, which may be more than install writes to."""
    read_from = config_of(host).TRAITS.read_from
    return read_from(machine, scope) if read_from else places_of(host, scope, machine)


def _borrowed_files(host: str, hosts: Sequence[str], scope: str, machine: Machine) -> list[str]:
    """Notes about hooks that a host runs from another host's file: they are imported from that host."""
    notes: list[str] = []
    for place, owner in config_of(host).TRAITS.borrowed_from(machine, scope):
        held = place.path.is_file() and any(load(owner, "imports").handlers(Document(place.path, place.format).data()))
        if held and owner not in hosts:
            notes.append(f"{config_of(host).TITLE} also runs the hooks in {place.path}; import them with --from {owner}")
    return notes


def _absences(carried: list[Taken]) -> list[str]:
    """Notes about events that some agents lack: another event takes their place there, or the hook does not fire."""
    notes: list[str] = []
    for event, source in dict.fromkeys((taken.event, source) for taken in carried for source in taken.hook.sources or [""]):
        without: dict[str, list[str]] = {}
        for host in configurable():
            config, stand_in = config_of(host), _stand_in(host, event, source)
            if stand_in or event not in config.EVENTS:
                without.setdefault(stand_in, []).append(config.TITLE)
        name = f"{event} ({source})" if source else event
        for stand_in, titles in without.items():
            where = ", ".join(titles)
            fires = f"fires with {stand_in} on {where}: there is no such event there, and a decision has no effect"
            notes.append(f"{name} {fires}" if stand_in else f"{name} does not fire on {where}: there is no such event there")
    return [*notes, *_unknowable(carried), *_without_transcripts(carried)]


def _unknowable(carried: list[Taken]) -> list[str]:
    """Notes about agents that do not report what a hook needs: when a skill starts, or which kind of agent does something."""
    notes: list[str] = []
    for event, kind in dict.fromkeys((taken.event, name) for taken in carried for name in taken.hook.agent_types):
        silent = [config_of(host).TITLE for host in configurable() if not tells_type(host, event)]
        notes.append(f"{event} for {kind!r} does not fire on {', '.join(silent)}: {event} does not report the kind of agent there")
    for skill in dict.fromkeys(name for taken in carried for name in taken.hook.skills):
        silent = [config_of(host).TITLE for host in configurable() if not wire_of(host).TRAITS.skills]
        notes.append(f"the hooks of {skill!r} do not fire on {', '.join(silent)}: no event there reports that a skill starts")
    return notes


def _without_transcripts(carried: list[Taken]) -> list[str]:
    """A note about agents whose transcripts cannot be read, if hooks are carried over that read one."""
    reading = sum(_reads_transcript(taken) for taken in carried)
    where = ", ".join(config_of(host).TITLE for host in configurable() if host not in having("transcripts"))
    said = f"{reading} of these hooks {'reads' if reading == 1 else 'read'} the transcript"
    return [f"{said}; on {where} it contains only what is in the event itself"] if reading and where else []


def _reads_transcript(taken: Taken) -> bool:
    if taken.hook.prompt or taken.host not in having("transcripts"):
        return False
    project, run = str(taken.place.root), taken.hook.run
    variables = load(taken.host, "reverse").variables(sample("Stop", cwd=project), project)
    return mentions([run] if isinstance(run, str) else run, project, {**variables, "ONEHOOK_PROJECT_DIR": project})


def _stand_in(host: str, event: str, source: str) -> str:
    """The event that replaces this one on a host; "" if there is none."""
    wire = wire_of(host)
    for name, row in wire.TRAITS.stand_ins.items():
        if row.event == event and row.source == source:
            return f"{wire.EVENTS[name].event}{f' of {row.tool}' if row.tool else ' of a subagent' if row.inside else ''}"
    return ""


# ---- the manifest ----


def manifest_string(found: Import, name: str) -> str:
    limits = [taken.hook.stop_limit or load(taken.host, "imports").STOP_LIMIT for taken in found.carried if taken.event in STOPS]
    blocks = [HEAD.format(sources=", ".join(map(title_of, found.hosts)), name=name)]
    blocks += [f"stop_limit = {max(limits)}\n"] if limits else []
    blocks += [*_permission_block(found), *_model_block(found), *(_block(several) for several in _alike(found.carried))]
    lines = [f"#   {taken.origin}: {shortened(taken.hook.shown)}: {taken.hook.refused}" for taken in found.refused]
    lines += [f"#   {one}: {one.listed.refused}" for one in found.permissions if one.refused]
    if lines:
        blocks.append("\n".join(["# Not carried over:", *(line.replace("\n", " ") for line in lines), ""]))
    return "\n".join(blocks)


def _model_block(found: Import) -> list[str]:
    if not any(taken.hook.prompt for taken in found.carried):
        return []
    return ["\n".join(["[model]", *(f"{key} = {_string(value)}" for key, value in found.model.items()), ""])]


def _permission_block(found: Import) -> list[str]:
    kept = [one for one in found.permissions if not one.refused]
    lines = ["[permissions]"] if kept else []
    for level in ("deny", "ask", "allow"):
        entries: dict[str, list[str]] = {}
        for one in kept:
            if one.listed.level == level:
                loss = f"; {one.listed.loss}" if one.listed.loss else ""
                entries.setdefault(one.listed.entry, []).append(f"{one.host}: {one.listed.shown}{loss}".replace("\n", " "))
        if entries:
            lines += [f"{level} = [", *(f"  {_string(entry)},  # {'; '.join(by)}" for entry, by in entries.items()), "]"]
    return ["\n".join([*lines, ""])] if lines else []


def _alike(carried: list[Taken]) -> list[list[Taken]]:
    """Group the hooks that differ only in their event."""
    groups: dict[str, list[Taken]] = {}
    for taken in carried:
        groups.setdefault(taken.host + "".join(_settings(taken)), []).append(taken)
    return list(groups.values())


def _settings(taken: Taken) -> list[str]:
    hook = taken.hook
    lines = [f"name = {_string(hook.name)}"] if hook.name else []
    lines += [
        f"{key} = {_list(value)}"
        for key in ("tools", "commands", "paths", "sources", "agent_types", "skills")
        if (value := getattr(hook, key))
    ]
    lines += [f"hosts = {_list(hook.hosts)}"] if hook.hosts else []
    lines += [f"{key} = true" for key in ("background", "wake", "once") if getattr(hook, key)]
    if hook.prompt:
        lines += [f"prompt = {_string(hook.prompt)}", *(f"{key} = true" for key in ("agent", "continue_on_block") if getattr(hook, key))]
    elif isinstance(hook.run, str):
        lines += [f"run = {_string(hook.run)}", f"shell = {_shell(taken.host)}"]
    else:
        lines.append(f"run = {_list(hook.run)}")
    return [*lines, f'speaks = "{taken.host}"', f"timeout = {hook.timeout:g}", f'fail = "{"closed" if hook.closed else "open"}"']


def _shell(host: str) -> str:
    """The shell that the hook's own agent uses: what a command may contain, and how an error reads, depends on it."""
    program = (config_of(host).TRAITS.shell if host in HOSTS else guest(host).SHELL)[0]
    return "true" if program == "/bin/sh" else _string(program)


def _block(several: list[Taken]) -> str:
    comments = [f"# {taken.origin}" for taken in several]
    comments += list(dict.fromkeys(f"#   {loss}" for taken in several for loss in taken.hook.losses))
    events = list(dict.fromkeys(taken.event_name for taken in several))
    return "\n".join([*comments, "[[hook]]", f"events = {_list(events)}", *_settings(several[0]), ""])


def _list(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_string, values))}]"


_CONTROLS = frozenset(map(chr, (*range(32), 127)))


def _string(value: str) -> str:
    """A TOML string: a literal one where that is easier to read."""
    needs_escapes = '"' in value or "\\" in value
    if _CONTROLS.isdisjoint(value) and (not needs_escapes or "'" not in value):
        return f"'{value}'" if needs_escapes else f'"{value}"'
    out = []
    for char in value:
        if char in ('"', "\\"):
            out.append("\\" + char)
        elif char < " " or char == "\x7f":
            out.append({"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return f'"{"".join(out)}"'


# ---- what is written ----


def plan_import(found: Import, output: Path, journal: Journal, take_over: bool) -> Plan:
    """Plan the manifest, and with take_over the config files without the hooks that are now in it."""
    from onehook.manifest.load import load_manifest

    if output.exists():
        raise ConfigError(f"{output} already exists; nothing was changed. Name another file with --output, or move that one")
    content = manifest_string(found, output.name).encode("utf-8")
    if found.carried:
        hooks = "\n".join([*_model_block(found), *(_block(several) for several in _alike(found.carried))])
        load_manifest(str(output), hooks.encode("utf-8")).check()  # raises if the manifest could not be run
    plan = Plan(edits=[FileEdit(output, None, content)], roots={output: output.parent})
    for path, document in found.documents.items() if take_over else ():
        mine = [taken for taken in found.carried if taken.place.path == path and taken.hook.path]
        if not mine:
            continue
        plan.first_states[path] = first_state(document, config_of(mine[0].host), mine[0].place, journal)
        for taken in reversed(mine):
            remove_entry(document, taken.hook.path, None)
        plan.add(FileEdit(path, document.before, document.after), mine[0].place.root)
    for path in found.pages if take_over else ():
        before = path.read_bytes()
        root = next(taken.place.root for taken in found.carried if taken.place.path == path)
        plan.add(FileEdit(path, before, Page(before.decode("utf-8")).without("hooks").encode("utf-8")), root)
    return plan


def keep_originals(plan: Plan) -> list[tuple[Path, Path]]:
    """Copy the config files as they were, so that the user can restore them: (config, copy) pairs."""
    folder = Path(state_folder()) / "taken-over" / time.strftime("%Y%m%d-%H%M%S")
    kept: list[tuple[Path, Path]] = []
    for number, edit in enumerate(edit for edit in plan.edits if edit.before is not None):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy = folder / f"{number}-{edit.path.name}"
        handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(edit.before or b"")
        kept.append((edit.path, copy))
    return kept
