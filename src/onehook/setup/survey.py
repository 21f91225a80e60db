"""What is installed where: every place of every host, and onehook's entries in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.hostkit.config import Found, Machine, Place
from onehook.setup.command import PORTABLE_FOLDER, is_ours, read
from onehook.setup.entries import ours_in
from onehook.setup.plan import config_of, configurable, present
from onehook.setup.portable import installed_version
from onehook.textedit.document import ConfigError, Document
from onehook.version import VERSION

if TYPE_CHECKING:
    from onehook.hosts.interface import Config


@dataclass
class Spot:
    """One place of one host, looked at."""

    host: str
    place: Place
    exists: bool
    data: Any = None
    problem: str = ""  # why the file cannot be read
    hides_ours: bool = False  # it cannot be read, and entries of ours stand in it
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
        spot.hides_ours = _mentions_ours(place.path)
        return spot
    spot.ours = ours_in(config, spot.data)
    spot.foreign = [found for found in config.found(spot.data) if found not in spot.ours]
    return spot


def _mentions_ours(path: Path) -> bool:
    try:
        return is_ours(path.read_bytes().decode("utf-8", "replace").replace("\\/", "/"))
    except OSError:
        return False


def readable(place: Place) -> bool:
    """Whether the file is data (and not, say, a plugin in another language)."""
    return place.path.suffix in (".json", ".toml", ".jsonc")


def policy_of(command: str, machine: Machine) -> Path | None:
    """The policy that a written command runs."""
    written = read(command)
    return written.policy_path(machine.project) if written else None


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
    return [row for spot in survey(machine) for row in _rows_of(spot, machine)]


def _rows_of(spot: Spot, machine: Machine) -> Iterator[Row]:
    if spot.problem:
        yield Row(spot.host, spot.place.scope, str(spot.place.path), "", (), "", False, spot.problem)
    by_policy: dict[str, list[Found]] = {}
    for entry in spot.ours:
        by_policy.setdefault(str(policy_of(entry.command, machine) or "?"), []).append(entry)
    for policy, entries in by_policy.items():
        written = [line for entry in entries if (line := read(entry.command))]
        closed = any(line.option("fail") == "closed" for line in written)
        portable = any(line.portable for line in written)
        note = "" if Path(policy).is_file() else "the policy is gone"
        if portable and installed_version(machine.project) != VERSION:
            version = installed_version(machine.project) or "gone"
            note = f"the runtime in {PORTABLE_FOLDER}/ is {version}, this is {VERSION}: install again with --portable"
        events = tuple(dict.fromkeys(entry.event for entry in entries))
        fail = "closed" if closed else "open"
        yield Row(spot.host, spot.place.scope, str(spot.place.path), policy, events, fail, portable, note)


def absent_hosts(machine: Machine, found: list[Row]) -> list[str]:
    """Hosts that are here and have nothing of onehook installed."""
    installed = {row.host for row in found}
    return [host for host in configurable() if host not in installed and present(host, machine)]
