"""The entries that are pinned, and how `onehook trust` pins them again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from onehook.hostkit.config import Machine
from onehook.setup.command import Written, read
from onehook.setup.entries import first_state
from onehook.setup.files import FileEdit
from onehook.setup.installed import ConfigFile
from onehook.setup.journal import Journal
from onehook.setup.pinning import pin_of, plan_list, problem
from onehook.setup.plan import Plan
from onehook.setup.trust import plan_trust
from onehook.textedit.document import Document, content_of


@dataclass(frozen=True)
class Pinned:
    """A pinned policy, and the files that have entries for it."""

    policy: Path
    pin: str
    launcher: Path
    files: tuple[ConfigFile, ...]

    @property
    def problem(self) -> str:
        """Why its events are denied; "" if it has not changed since it was pinned."""
        return problem(self.policy, self.pin, self.launcher)


def pinned_in(files: list[ConfigFile], machine: Machine) -> list[Pinned]:
    found: dict[tuple[Path, str, Path], list[ConfigFile]] = {}
    for file in files:
        for written in _written(file):
            if pin := written.option("pin"):
                key = (written.policy_path(machine.project), pin, written.launcher_path(machine.project))
                if file not in found.setdefault(key, []):
                    found[key].append(file)
    return [Pinned(*key, tuple(holders)) for key, holders in found.items()]


def _written(file: ConfigFile) -> Iterator[Written]:
    return (written for found in file.ours if (written := read(found.command)))


def plan_repin(plan: Plan, one: Pinned, machine: Machine, journal: Journal) -> None:
    """Plan to pin a policy as it is now, in every file that has it pinned. Only the hash in the commands changes."""
    new = pin_of(one.policy)
    plan_list(plan, one.policy, new, one.launcher)
    for file in one.files:
        place, config = file.place, file.config
        before = content_of(place.path) or b""
        memory = journal.recall(place.path)
        first = memory.before if memory else None
        if memory is None and place.format != "own":
            first = first_state(Document(place.path, place.format, config.TRAITS.escape_slashes), config, place, journal)
        after = before.replace(one.pin.encode(), new.encode())
        if plan.add(FileEdit(place.path, before, after), place.root):
            plan.first_states[place.path] = first
            plan.holders[place.path] = file.host, place
        if place.format != "own":
            plan_trust(plan, file.host, place, machine, journal)
