"""What is installed where: every place of every host, and onehook's entries in it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onehook.hosts.configuring import Config, Found, Machine, Place
from onehook.setup.command import PORTABLE_FOLDER
from onehook.setup.documents import ConfigError, Document
from onehook.setup.plan import config_of, configurable, ours_in, present
from onehook.setup.portable import installed_version
from onehook.version import VERSION


@dataclass
class Spot:
    """One place of one host, looked at."""

    host: str
    place: Place
    exists: bool
    data: Any = None
    problem: str = ""
    ours: list[Found] = field(default_factory=list)
    foreign: list[Found] = field(default_factory=list)

    @property
    def config(self) -> Config:
        return config_of(self.host)


def survey(machine: Machine, hosts: list[str] | None = None) -> list[Spot]:
    return [_look(host, place) for host in hosts or configurable() for place in config_of(host).places(machine)]


def _look(host: str, place: Place) -> Spot:
    spot = Spot(host, place, place.path.exists())
    if not spot.exists:
        return spot
    config = config_of(host)
    try:
        spot.data = Document(place.path, place.format).data() if readable(place) else place.path.read_text(encoding="utf-8")
    except (ConfigError, OSError, ValueError) as error:
        spot.problem = str(error)
        return spot
    spot.ours = ours_in(config, spot.data)
    spot.foreign = [found for found in config.found(spot.data) if found not in spot.ours]
    return spot


def readable(place: Place) -> bool:
    """Whether the file is data (and not, say, a plugin in another language)."""
    return place.path.suffix in (".json", ".toml", ".jsonc")


def words_of(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def policy_of(command: str, machine: Machine) -> Path | None:
    """The policy that a written command runs."""
    words = words_of(command)
    for index, word in enumerate(words[:-1]):
        if word.replace("\\", "/").endswith("onehook/launch.py"):
            return Path(_expanded(words[index + 1], machine))
    return None


def _expanded(word: str, machine: Machine) -> str:
    for variable in ('"${CLAUDE_PROJECT_DIR:-.}"', "${CLAUDE_PROJECT_DIR:-.}", "$d", "$CLAUDE_PROJECT_DIR"):
        if word.startswith(variable):
            return str(machine.project) + word[len(variable) :]
    return str(machine.project / word)  # a relative one: some hosts start their hooks in the project


@dataclass(frozen=True)
class Row:
    """One line of `onehook status`."""

    host: str
    scope: str
    file: str
    policy: str
    events: tuple[str, ...]
    fail: str
    portable: bool
    note: str = ""


def rows(machine: Machine) -> list[Row]:
    found: list[Row] = []
    for spot in survey(machine):
        if spot.problem:
            found.append(Row(spot.host, spot.place.scope, str(spot.place.path), "", (), "", False, spot.problem))
            continue
        by_policy: dict[str, list[Found]] = {}
        for entry in spot.ours:
            by_policy.setdefault(str(policy_of(entry.command, machine) or "?"), []).append(entry)
        for policy, entries in by_policy.items():
            closed = any("--fail closed" in entry.command for entry in entries)
            portable = any(PORTABLE_FOLDER in entry.command for entry in entries)
            note = "" if Path(policy).is_file() else "the policy is gone"
            if portable and installed_version(machine.project) != VERSION:
                note = (
                    f"the runtime in {PORTABLE_FOLDER}/ is {installed_version(machine.project) or 'gone'}, this is {VERSION}: install again"
                )
            events = tuple(dict.fromkeys(entry.event for entry in entries))
            found.append(
                Row(spot.host, spot.place.scope, str(spot.place.path), policy, events, "closed" if closed else "open", portable, note)
            )
    return found


def absent_hosts(machine: Machine, found: list[Row]) -> list[str]:
    """Hosts that are here and have nothing of onehook installed."""
    installed = {row.host for row in found}
    return [host for host in configurable() if host not in installed and present(host, machine)]
