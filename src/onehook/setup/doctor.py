"""`onehook doctor`: check that a deny would take effect, from the config files to the written command in the agent's shell."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from onehook.hostkit.config import SCOPES, Diagnosis, Found, Machine
from onehook.hosts import optional, readers_of, wire_of
from onehook.setup.command import read, resembles_ours
from onehook.setup.installed import ConfigFile, config_files, editing, install_again, policy_of
from onehook.setup.plan import config_of, present

if TYPE_CHECKING:
    from onehook.lint.model import Policy

NOT_HERE = Diagnosis("note", "not found on this machine")


@dataclass(frozen=True)
class Report:
    host: str
    where: str
    diagnosis: Diagnosis


def examine(machine: Machine, hosts: list[str], *, fire: bool = True) -> Iterator[Report]:
    """Every diagnosis for every host, as it is made."""
    machine = replace(machine, ask_hosts=fire)
    files = config_files(machine, hosts)
    policies: dict[tuple[str, str], Policy] = {}  # those that were loaded
    for host in hosts:
        yield from _examine_host(host, [file for file in files if file.host == host], machine, fire, policies)
    yield from (Report("all agents", "", diagnosis) for diagnosis in _across(files, machine))
    yield from _since_install(files, hosts, machine)
    yield from (Report("telemetry", "", diagnosis) for diagnosis in _telemetry())
    yield from (Report("resident", "", diagnosis) for diagnosis in _resident())
    if not any(file.ours for file in files):
        yield Report("all agents", "", Diagnosis("fail", "no policy is installed on any agent", "onehook install POLICY"))


def _telemetry() -> Iterator[Diagnosis]:
    """Where the log is sent, and how much of it is still unsent."""
    from onehook.log.flusher import destinations

    for one in destinations():
        behind = one.behind()
        if one.problem or behind:
            waiting = f"{behind} line{'s' if behind != 1 else ''} of the log are waiting to be sent to {one.url}"
            level = "warn" if one.problem else "note"
            yield Diagnosis(level, f"{waiting}{f': {one.problem}' if one.problem else ''}", "onehook telemetry flush")
        else:
            yield Diagnosis("ok", f"the log is sent to {one.url}, {one.sent} lines so far")


def _resident() -> Iterator[Diagnosis]:
    """The processes that answer events, and whether another user could replace them."""
    from onehook.setup.resident import folder, servers

    place = folder()
    others = sys.platform != "win32" and place.is_dir() and (place.is_symlink() or place.stat().st_mode & 0o077)  # no such bits there
    if others:
        yield Diagnosis("fail", f"{place} can be read or changed by others, so resident mode is not used", f"chmod 700 {place}")
    for server in servers():
        yield Diagnosis("ok", server.told())
        if server.refused:
            fix = "import it inside the handler that needs it"
            yield Diagnosis("note", f"the packages of {server.policy} are loaded for each event: {server.refused}", fix)


def _since_install(files: list[ConfigFile], hosts: list[str], machine: Machine) -> Iterator[Report]:
    """Differences between the configs and what install wrote."""
    from onehook.setup.journal import Journal
    from onehook.setup.verify import changed_entries

    places = {str(file.place.path) for file in files}
    for one in changed_entries(machine, Journal()):
        if one.host in hosts and one.file in places:
            yield Report(config_of(one.host).TITLE, one.file, Diagnosis("warn", f"since the install: {one.what}", one.fix))


def _examine_host(
    host: str, files: list[ConfigFile], machine: Machine, fire: bool, policies: dict[tuple[str, str], Policy]
) -> Iterator[Report]:
    title = config_of(host).TITLE
    installed = any(file.ours for file in files)
    if not installed:
        where = present(host, machine)
        diagnosis = Diagnosis("warn", f"agent found ({where}), but no policy is installed", f"onehook install POLICY --hosts {host}")
        yield Report(title, "", diagnosis if where else NOT_HERE)
    for file in files:
        found = _look_at_ours(file, machine, fire) if file.ours else _look_at_foreign(file, machine, installed)
        yield from (Report(title, str(file.place.path), diagnosis) for diagnosis in found)
    if installed:
        yield from (Report(title, "", diagnosis) for diagnosis in _look_at_all(host, files, machine, fire, policies))


def _look_at_ours(file: ConfigFile, machine: Machine, fire: bool) -> Iterator[Diagnosis]:
    from onehook.setup.entry_checks import examine_file  # late: where nothing is installed, doctor needs a third of its modules
    from onehook.setup.probe import probe_entries

    yield from examine_file(file, machine)
    yield from _resembling(file)
    if fire:
        yield from probe_entries(file, machine, install_again(file, file.ours[0], machine))


def _look_at_all(
    host: str, files: list[ConfigFile], machine: Machine, fire: bool, policies: dict[tuple[str, str], Policy]
) -> Iterator[Diagnosis]:
    """What several files do in combination, and how well the agent is covered."""
    from onehook.setup.entry_checks import reached
    from onehook.setup.exposed import exposed
    from onehook.setup.versions import agent_here, version_findings

    yield from _duplicates(files, machine)
    here = agent_here(host, machine)
    if here:
        yield from version_findings(here, [file.place.path for file in files if file.ours])
    yield from exposed(files, machine)
    for tool, why in config_of(host).TRAITS.unguarded.items():
        yield Diagnosis("note", f"{tool} cannot be checked: {why}")
    if fire:
        yield from reached(host, files, machine, policies)


def _look_at_foreign(file: ConfigFile, machine: Machine, installed: bool) -> Iterator[Diagnosis]:
    """A file without onehook's entries can still disable those of another file."""
    edit = editing(file, machine)
    if file.hides_ours:  # the agent cannot read it either
        yield Diagnosis("fail", f"{file.problem}; {file.config.TITLE} runs no hooks from such a file, including onehook's", edit)
    elif file.problem:
        yield Diagnosis("warn", file.problem, edit)
    yield from _resembling(file)
    if not file.problem and file.exists and installed:
        yield from (diagnosis for diagnosis in file.config.diagnose(machine, file.place, file.data, []) if diagnosis.level == "fail")


def _resembling(file: ConfigFile) -> Iterator[Diagnosis]:
    for found in file.foreign:
        if resembles_ours(found.command):
            text = f"the {found.event} entry starts onehook, but was not written by onehook install; it was not run: {found.command[:120]}"
            yield Diagnosis("warn", text, f"remove it from {file.place.path}, then run: onehook install POLICY --hosts {file.host}")


# ---- what several files do together


def _duplicates(files: list[ConfigFile], machine: Machine) -> Iterator[Diagnosis]:
    """Whether one policy has two entries on one host for the same event."""
    seen: dict[tuple[str, Path | None], tuple[ConfigFile, Found]] = {}
    for file in files:
        for found in file.ours:
            other, first = seen.setdefault((found.event, policy_of(found.command, machine)), (file, found))
            runs_once = file.config.TRAITS.same_command_runs_once and first.command == found.command
            if first is found or runs_once:
                continue
            if other is file:
                yield Diagnosis(
                    "warn", f"installed twice in {file.place.path}: events are handled twice", install_again(file, found, machine)
                )
            else:
                fix = f"onehook uninstall --hosts {file.host} --scope {file.place.scope}"
                yield Diagnosis("warn", f"installed in {other.place.path} and in {file.place.path}: events are handled twice", fix)
            return


def _across(files: list[ConfigFile], machine: Machine) -> Iterator[Diagnosis]:
    """A host may also run entries from another host's files, unless its own files have exactly the same command for the event."""
    for lender in dict.fromkeys(file.host for file in files):
        for borrower in readers_of(lender):
            twice = _twice(files, lender, borrower, machine)
            if twice:
                one, other = config_of(borrower).TITLE, config_of(lender).TITLE
                text = f"{one} also runs the entries of {other}, and they differ for {', '.join(twice)}: these events are handled twice"
                policy = next((policy_of(f.command, machine) for file in files if file.host == lender for f in file.ours), None)
                yield Diagnosis("warn", text, f"onehook install {shlex.quote(str(policy))} --hosts {lender},{borrower}")


def _twice(files: list[ConfigFile], lender: str, borrower: str, machine: Machine) -> list[str]:
    """The events that the entries of both hosts would answer."""
    own = _by_event([file for file in files if file.host == borrower])
    lent = [file for file in files if file.host == lender and file.place.scope in _borrowed_scopes(borrower)]
    twice = (
        event
        for file in lent
        for event, commands in _by_event([file]).items()
        for command in commands - own.get(event, commands)
        if not _silent(borrower, event, command, file.place.scope, machine)
    )
    return list(dict.fromkeys(twice))


def _by_event(files: list[ConfigFile]) -> dict[str, set[str]]:
    events: dict[str, set[str]] = {}
    for file in files:
        rows = wire_of(file.host).EVENTS
        for found in (found for found in file.ours if found.event in rows):
            events.setdefault(rows[found.event].event, set()).add(found.command)
    return events


def _borrowed_scopes(borrower: str) -> Iterable[str]:
    own = optional(borrower, "own_entries")
    return own.BORROWS if own else SCOPES


def _silent(borrower: str, event: str, command: str, scope: str, machine: Machine) -> bool:
    """Whether an entry of another host stays silent when the borrower runs it, as the entry itself would decide."""
    own, written = optional(borrower, "own_entries"), read(command)
    if not own or not written:
        return False
    closed = written.option("fail") == "closed"
    project = machine.project
    program = (written.interpreter, str(written.launcher_path(project)))
    return own.answers(event, str(written.policy_path(project)), closed, own.started_with(machine, scope), *program)
