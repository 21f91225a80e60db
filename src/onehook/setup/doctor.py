"""Would a deny take effect? Every check looks at the real thing: the file, the interpreter, the command fired through the host's shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from onehook.hostkit.config import DEFAULT_EVENTS, SCOPES, Finding, Found, Machine
from onehook.hosts import optional, wire_of
from onehook.setup.command import LAUNCHER, PORTABLE_FOLDER, Written, read
from onehook.setup.firing import fired
from onehook.setup.plan import config_of, present
from onehook.setup.portable import installed_version
from onehook.setup.survey import Spot, policy_of, readable, survey
from onehook.version import VERSION

NOT_HERE = "not here"


@dataclass(frozen=True)
class Report:
    host: str
    where: str
    finding: Finding


def examine(machine: Machine, hosts: list[str], *, fire: bool = True) -> Iterator[Report]:
    """Every finding of every host, as it is found."""
    machine = replace(machine, ask_hosts=fire)
    spots = survey(machine, hosts)
    for host in hosts:
        yield from _examine_host(host, [spot for spot in spots if spot.host == host], machine, fire)
    yield from (Report("all hosts", "", finding) for finding in _across(spots, machine))
    if not any(spot.ours for spot in spots):
        yield Report("all hosts", "", Finding("fail", "no policy is installed: nothing is stopped", "onehook install POLICY"))


def _examine_host(host: str, spots: list[Spot], machine: Machine, fire: bool) -> Iterator[Report]:
    title = config_of(host).TITLE
    installed = any(spot.ours for spot in spots)
    if not installed:
        where = present(host, machine)
        finding = Finding("warn", f"no policy is installed, and it is here ({where})", f"onehook install POLICY --hosts {host}")
        yield Report(title, "", finding if where else Finding("note", NOT_HERE))
    for spot in spots:
        found = _examine_spot(spot, machine, fire) if spot.ours else _look_at_foreign(spot, machine, installed)
        yield from (Report(title, str(spot.place.path), finding) for finding in found)
    yield from (Report(title, "", finding) for finding in _duplicates(spots, machine))


def _look_at_foreign(spot: Spot, machine: Machine, installed: bool) -> Iterator[Finding]:
    """A file without entries of ours can still switch those of another file off."""
    edit = f"{_editor(machine)} {shlex.quote(str(spot.place.path))}"
    if spot.hides_ours:  # what cannot be read here, the host does not read either
        yield Finding("fail", f"{spot.problem}; {spot.config.TITLE} runs no hooks of such a file, onehook's among them", edit)
    elif spot.problem:
        yield Finding("warn", spot.problem, edit)
    elif spot.exists and installed:
        yield from (finding for finding in spot.config.checks(machine, spot.place, spot.data, []) if finding.level == "fail")


def _examine_spot(spot: Spot, machine: Machine, fire: bool) -> Iterator[Finding]:
    edit = f"{_editor(machine)} {shlex.quote(str(spot.place.path))}"
    wrong: list[str] = []
    if readable(spot.place):
        text = spot.place.path.read_text(encoding="utf-8")
        wrong = [*spot.config.text_problems(spot.place, text, spot.data), *spot.config.problems(spot.data)]
    yield from (Finding("fail", problem, edit) for problem in wrong)
    if not wrong:
        events = ", ".join(dict.fromkeys(found.event for found in spot.ours))
        yield Finding("ok", f"valid by the host's own rules; installed for {events}")
    yield from _entries(spot, machine)
    yield from spot.config.checks(machine, spot.place, spot.data, spot.ours)
    shared = sorted({found.event for found in spot.foreign} & {found.event for found in spot.ours})
    if shared:
        others = ", ".join(dict.fromkeys(found.command[:40] for found in spot.foreign if found.event in shared))
        yield Finding("note", f"other hooks answer {', '.join(shared)} too: {others}")
    if fire:
        yield from fired(spot, machine)


def _editor(machine: Machine) -> str:
    return machine.variables.get("EDITOR") or "vi"


# ---- the entries and what they start


def _entries(spot: Spot, machine: Machine) -> Iterator[Finding]:
    wire = wire_of(spot.host)
    covered = {wire.EVENTS[found.event].event for found in spot.ours if found.event in wire.EVENTS}
    missing = [event for event in DEFAULT_EVENTS if event in spot.config.EVENTS and event not in covered]
    if missing:
        yield Finding("note", f"not installed for {', '.join(missing)}", _install(spot, spot.ours[0], machine))
    seen: set[tuple[str, str, str]] = set()
    for found in spot.ours:
        written = read(found.command)
        if written is None:
            yield Finding(
                "fail", f"the {found.event} entry cannot be read: {found.command[:80]}", "onehook uninstall && onehook install POLICY"
            )
        elif (key := (written.interpreter, written.launcher, written.policy)) not in seen:
            seen.add(key)
            yield from _programs(spot, found, written, machine)


def _install(spot: Spot, found: Found, machine: Machine) -> str:
    """The command that writes this place's entries anew."""
    policy = policy_of(found.command, machine)
    portable = " --portable" if PORTABLE_FOLDER in found.command else ""
    return f"onehook install {shlex.quote(str(policy or 'POLICY'))} --hosts {spot.host} --scope {spot.place.scope}{portable}"


def _programs(spot: Spot, found: Found, written: Written, machine: Machine) -> Iterator[Finding]:
    policy, again = written.policy_path(machine.project), _install(spot, found, machine)
    if not policy.is_file():
        yield Finding("fail", f"the policy {policy} is not there", f"onehook uninstall {shlex.quote(str(policy))}")
    if written.portable:
        yield from _portable(written, machine, again)
        return
    launcher = written.launcher_path(machine.project)
    if not os.access(written.interpreter, os.X_OK):
        yield Finding("fail", f"the interpreter {written.interpreter} is gone", again)
    elif "/shims/" in written.interpreter.replace("\\", "/"):
        yield Finding("warn", f"{written.interpreter} is a shim: every event pays for it", f"$(pyenv which python) -m onehook {again[8:]}")
    if not launcher.is_file():
        yield Finding("fail", f"the launcher {launcher} is gone", again)
    elif launcher != LAUNCHER:
        yield Finding("note", f"the entries start another onehook than this one: {launcher}", again)


def _portable(written: Written, machine: Machine, again: str) -> Iterator[Finding]:
    version = installed_version(machine.project)
    if not written.launcher_path(machine.project).is_file():
        yield Finding("fail", f"the runtime in {PORTABLE_FOLDER}/ is gone", again)
    elif version != VERSION:
        yield Finding("warn", f"the runtime in {PORTABLE_FOLDER}/ is {version or 'of no version'}, this is {VERSION}", again)
    python = machine.which(written.interpreter)
    if python is None:
        yield Finding("fail", f"there is no {written.interpreter} on PATH", "install Python 3.9 or newer")
    elif "/shims/" in python:
        yield Finding("warn", f"{written.interpreter} is {python}, a shim: every event pays for it", "put a real python3 first on PATH")


# ---- what several places do together


def _duplicates(spots: list[Spot], machine: Machine) -> Iterator[Finding]:
    """One policy in two entries of one host for the same event: it would answer twice."""
    seen: dict[tuple[str, Path | None], tuple[Spot, Found]] = {}
    for spot in spots:
        for found in spot.ours:
            other, first = seen.setdefault((found.event, policy_of(found.command, machine)), (spot, found))
            runs_once = spot.config.TRAITS.same_command_runs_once and first.command == found.command
            if first is found or runs_once:
                continue
            if other is spot:
                yield Finding("warn", f"twice in {spot.place.path}: events are handled twice", _install(spot, found, machine))
            else:
                fix = f"onehook uninstall --hosts {spot.host} --scope {spot.place.scope}"
                yield Finding("warn", f"installed in {other.place.path} and in {spot.place.path}: events are handled twice", fix)
            return


def _across(spots: list[Spot], machine: Machine) -> Iterator[Finding]:
    """A host may run what stands in another's files as well, unless its own have exactly the same command for the event."""
    for lender in dict.fromkeys(spot.host for spot in spots):
        for borrower, _ in wire_of(lender).BORROWED_BY:
            twice = _twice(spots, lender, borrower, machine)
            if twice:
                one, other = config_of(borrower).TITLE, config_of(lender).TITLE
                text = f"{one} also runs the entries of {other}, and they differ for {', '.join(twice)}: handled twice"
                policy = next((policy_of(f.command, machine) for spot in spots if spot.host == lender for f in spot.ours), None)
                yield Finding("warn", text, f"onehook install {shlex.quote(str(policy))} --hosts {lender},{borrower}")


def _twice(spots: list[Spot], lender: str, borrower: str, machine: Machine) -> list[str]:
    """The events for which both hosts' entries would answer."""
    own = _by_event([spot for spot in spots if spot.host == borrower])
    lent = _by_event([spot for spot in spots if spot.host == lender and spot.place.scope in _borrowed_scopes(borrower)])
    silent = {command for event, commands in lent.items() for command in commands if _silent(borrower, event, command, machine)}
    return [event for event, commands in lent.items() if event in own and commands - own[event] - silent]


def _by_event(spots: list[Spot]) -> dict[str, set[str]]:
    events: dict[str, set[str]] = {}
    for spot in spots:
        rows = wire_of(spot.host).EVENTS
        for found in (found for found in spot.ours if found.event in rows):
            events.setdefault(rows[found.event].event, set()).add(found.command)
    return events


def _borrowed_scopes(borrower: str) -> Iterable[str]:
    own = optional(borrower, "own_entries")
    return own.BORROWS if own else SCOPES


def _silent(borrower: str, event: str, command: str, machine: Machine) -> bool:
    """Whether this entry of another host's says nothing when the borrower runs it: the same question as the entry itself asks."""
    own, written = optional(borrower, "own_entries"), read(command)
    if not own or not written:
        return False
    closed = written.option("fail") == "closed"
    return own.answers(event, str(written.policy_path(machine.project)), closed, {own.PROJECT: str(machine.project)})
