"""`onehook verify`: whether the configs differ from what install wrote, and whether what the entries start still exists."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Found, Machine, Place
from onehook.setup.command import LAUNCHER, Written, read
from onehook.setup.entries import stands
from onehook.setup.installed import ConfigFile, config_files, install_again
from onehook.setup.journal import Entry, Journal, Memory
from onehook.setup.pinning import problem
from onehook.setup.plan import config_of, is_rewritten
from onehook.setup.runtime import LAUNCH, edited_files, installed_version
from onehook.setup.trust import keeper
from onehook.textedit.document import ConfigError, Document
from onehook.version import VERSION


@dataclass(frozen=True)
class Difference:
    """Something that was changed or removed since the install, and the command that repairs it."""

    host: str
    file: str
    what: str
    fix: str


@dataclass
class Verified:
    checked: int  # entries
    differences: list[Difference]


def verified(machine: Machine, journal: Journal, *, everywhere: bool = True) -> Verified:
    """Compare what this user has installed, in all projects or only here, and what is installed here by somebody else."""
    result = Verified(0, [])
    here = {file.place.path: file for file in config_files(machine)}
    for path, memory in journal.installed():
        if (path not in here and not everywhere) or not Path(memory.entries[0].root).is_dir():  # a project that was deleted
            continue
        result.checked += len(memory.entries)
        place = here[path].place if path in here else _place(path, memory)
        result.differences += _against_memory(place, memory, machine, journal)
        here.pop(path, None)
    for file in here.values():
        result.checked += len(file.ours)
        result.differences += _unrecorded(file, machine)
    return result


def changed_entries(machine: Machine, journal: Journal) -> Iterator[Difference]:
    """For doctor, which checks the rest itself: recorded entries of this project, of the user and of the machine that differ."""
    here = {file.place.path: file.place for file in config_files(machine)}
    for path, memory in journal.installed():
        if path in here:
            yield from _entries(here[path], memory, machine, journal)


def _place(path: Path, memory: Memory) -> Place:
    entry = memory.entries[0]
    named = [place for place in config_of(entry.host).places(_machine(entry, Machine.here())) if place.path == path]
    return named[0] if named else Place(entry.scope, path, path.suffix.lstrip(".") or "own", Path(entry.root))


def _machine(entry: Entry, machine: Machine) -> Machine:
    return replace(machine, project=Path(entry.root)) if entry.scope in ("project", "local") else machine


def _against_memory(place: Place, memory: Memory, machine: Machine, journal: Journal) -> Iterator[Difference]:
    machine = _machine(memory.entries[0], machine)
    yield from _entries(place, memory, machine, journal)
    file = next(_looked_at(memory.entries[0].host, place, machine), None)
    if file and file.exists and not file.problem:
        yield from _around(file, machine)


def _entries(place: Place, memory: Memory, machine: Machine, journal: Journal) -> Iterator[Difference]:
    """The recorded entries, and the trust that was given with them, that are no longer there."""
    first = memory.entries[0]
    file = next(file for file in [*_looked_at(first.host, place, machine), ConfigFile(first.host, place, place.path.exists())])

    def difference(what: str, entry: Entry = first) -> Difference:
        found = Found(entry.event, (), entry.command, entry.item, entry.matcher)
        return Difference(entry.host, str(place.path), what, install_again(file, found, machine))

    if not file.exists:
        yield difference(f"the file was deleted, with {_count(memory.entries)}")
        return
    if file.problem:
        yield difference(file.problem)
        return
    for entry in memory.entries:
        same = [found for found in (*file.ours, *file.foreign) if found.event == entry.event and found.command == entry.command]
        if not same:
            yield difference(f"the {entry.event} entry was deleted, or its command was changed", entry)
        elif not any(found.item == entry.item and found.matcher == entry.matcher for found in same):
            yield difference(f"the {entry.event} entry was changed: {_changed(entry, same[0])}", entry)
    for what in _withdrawn(place, first.host, machine, journal):
        again = difference(what)
        yield again if place.scope == "enterprise" else replace(again, fix=f"{again.fix} --trust")


def _looked_at(host: str, place: Place, machine: Machine) -> Iterator[ConfigFile]:
    return (file for file in config_files(machine, [host]) if file.place.path == place.path)


def _count(entries: tuple[Entry, ...]) -> str:
    return f"{len(entries)} entries" if len(entries) > 1 else "its entry"


def _changed(entry: Entry, found: Found) -> str:
    before = {**(entry.item if isinstance(entry.item, dict) else {}), "matcher": entry.matcher}
    after = {**(found.item if isinstance(found.item, dict) else {}), "matcher": found.matcher}
    keys = [key for key in dict.fromkeys([*before, *after]) if before.get(key) != after.get(key)]
    return ", ".join(f"{key} was {before.get(key)!r} and is {after.get(key)!r}" for key in keys) or "it is different"


def _withdrawn(place: Place, host: str, machine: Machine, journal: Journal) -> Iterator[str]:
    """What the agent trusted for a config file because of --trust, or the machine's hooks need in another file, and is now missing."""
    trust = keeper(host, place)
    store = trust.store(machine) if trust else None
    memory = journal.origin(store.path) if store else None
    if not store or not memory:
        return
    try:
        data: Any = Document(store.path, store.format).data()
    except ConfigError:
        data = {}
    gone = [one for one in memory.given if one.file == str(place.path) and not stands(data, one)]
    yield from (f"what install wrote to {store.path} is missing: {'.'.join(map(str, one.path))}" for one in gone)


def _unrecorded(file: ConfigFile, machine: Machine) -> Iterator[Difference]:
    """Entries that this user has no record of, as in a clone: they must be what this version of onehook writes."""
    for found in file.ours:
        if not is_rewritten(file.host, file.place, found, machine):
            what = f"the {found.event} entry is not what this version of onehook writes"
            yield Difference(file.host, str(file.place.path), what, install_again(file, found, machine))
    if file.ours:
        yield from _around(file, machine)


# ---- what an intact entry needs


def _around(file: ConfigFile, machine: Machine) -> Iterator[Difference]:
    """Settings of the same file that switch hooks off, and what the entries start."""
    where = str(file.place.path)
    for diagnosis in file.config.diagnose(machine, file.place, file.data, file.ours):
        if diagnosis.level == "fail":
            yield Difference(file.host, where, diagnosis.what, diagnosis.fix)
    seen: set[tuple[str, ...]] = set()
    for found in file.ours:
        written = read(found.command)
        if written is None or (key := (written.interpreter, written.launcher, written.policy, written.option("pin"))) in seen:
            continue
        seen.add(key)
        again = install_again(file, found, machine)
        yield from (Difference(file.host, where, what, fix or again) for what, fix in _missing(written, machine))


def _missing(written: Written, machine: Machine) -> Iterator[tuple[str, str]]:
    policy, launcher = written.policy_path(machine.project), written.launcher_path(machine.project)
    if not policy.is_file():
        yield f"the policy {policy} is gone", f"restore {shlex.quote(str(policy))}"
        return
    if not launcher.is_file():
        yield f"the launcher {launcher} is gone", ""
    elif launcher != LAUNCHER and launcher.name == LAUNCH and installed_version(launcher.parent) == VERSION:
        changed = edited_files(launcher.parent)
        if changed:
            yield f"the runtime in {launcher.parent} was changed: {', '.join(changed)}", ""
    if written.client and not Path(written.client[-1]).exists():
        yield f"the client {written.client[-1]} is gone", ""
    if not written.portable and not Path(written.interpreter).exists():
        yield f"the interpreter {written.interpreter} is gone", ""
    if (pin := written.option("pin")) and (wrong := problem(policy, pin, launcher)):
        yield wrong, f"onehook trust {shlex.quote(str(policy))}"
