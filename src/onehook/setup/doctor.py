"""`onehook doctor`: check that a deny would take effect, from the config files to the written command in the agent's shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from onehook.core import OnehookError
from onehook.hostkit.config import DEFAULT_EVENTS, SCOPES, Diagnosis, Found, Machine
from onehook.hosts import optional, readers_of, wire_of
from onehook.lint.loading import DoesNotLoad, describe
from onehook.policy import holds_rules, is_manifest, source_says_closed
from onehook.setup.command import LAUNCHER, PORTABLE_FOLDER, Written, read, resembles_ours
from onehook.setup.coverage import never_denies, unreached
from onehook.setup.elsewhere import committed, missing_imports
from onehook.setup.exposed import exposed
from onehook.setup.installed import ConfigFile, config_files, install_again, policy_of, readable, shown, standing
from onehook.setup.interpreters import packages_in
from onehook.setup.journal import Journal
from onehook.setup.managed import changeable
from onehook.setup.pinning import problem
from onehook.setup.plan import config_of, present, starts_copy
from onehook.setup.probe import may_run, probe_entries
from onehook.setup.runtime import LAUNCH, edited_files, installed_version
from onehook.setup.trust import untrusted
from onehook.setup.verify import changed_entries
from onehook.setup.versions import agent_here, version_findings
from onehook.textedit.document import content_of
from onehook.version import VERSION

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
    for host in hosts:
        yield from _examine_host(host, [file for file in files if file.host == host], machine, fire)
    yield from (Report("all agents", "", diagnosis) for diagnosis in _across(files, machine))
    yield from _since_install(files, hosts, machine)
    yield from (Report("telemetry", "", diagnosis) for diagnosis in _telemetry())
    yield from (Report("resident", "", diagnosis) for diagnosis in _resident())
    if not any(file.ours for file in files):
        yield Report("all agents", "", Diagnosis("fail", "no policy is installed on any agent", "onehook install POLICY"))


def _telemetry() -> Iterator[Diagnosis]:
    """Where the log is sent, and how much of it was not."""
    from onehook.log.flusher import destinations

    for one in destinations():
        behind = one.behind()
        if one.problem or behind:
            waiting = f"{behind} line{'s' if behind != 1 else ''} of the log wait to be sent to {one.url}"
            level = "warn" if one.problem else "note"
            yield Diagnosis(level, f"{waiting}{f': {one.problem}' if one.problem else ''}", "onehook telemetry flush")
        else:
            yield Diagnosis("ok", f"the log is sent to {one.url}, {one.sent} lines by now")


def _resident() -> Iterator[Diagnosis]:
    """The processes that answer events, and whether anybody else could put one in their place."""
    from onehook.setup.resident import folder, servers

    place = folder()
    if place.is_dir() and (place.is_symlink() or place.stat().st_mode & 0o077):
        yield Diagnosis("fail", f"{place} can be read or changed by others, so no event is answered from there", f"chmod 700 {place}")
    for server in servers():
        yield Diagnosis("ok", server.told())
        if server.refused:
            fix = "import it inside the handler that needs it"
            yield Diagnosis("note", f"the packages of {server.policy} are loaded for each event: {server.refused}", fix)


def _since_install(files: list[ConfigFile], hosts: list[str], machine: Machine) -> Iterator[Report]:
    """What stands in the configs otherwise than install wrote it."""
    places = {str(file.place.path) for file in files}
    for one in changed_entries(machine, Journal()):
        if one.host in hosts and one.file in places:
            yield Report(config_of(one.host).TITLE, one.file, Diagnosis("warn", f"since the install: {one.what}", one.fix))


def _examine_host(host: str, files: list[ConfigFile], machine: Machine, fire: bool) -> Iterator[Report]:
    title = config_of(host).TITLE
    installed = any(file.ours for file in files)
    if not installed:
        where = present(host, machine)
        diagnosis = Diagnosis("warn", f"agent found ({where}), but no policy is installed", f"onehook install POLICY --hosts {host}")
        yield Report(title, "", diagnosis if where else NOT_HERE)
    for file in files:
        found = _examine_file(file, machine, fire) if file.ours else _look_at_foreign(file, machine, installed)
        yield from (Report(title, str(file.place.path), diagnosis) for diagnosis in found)
    yield from (Report(title, "", diagnosis) for diagnosis in _duplicates(files, machine))
    if installed:
        here = agent_here(host, machine)
        ours = [file.place.path for file in files if file.ours]
        yield from (Report(title, "", diagnosis) for diagnosis in (version_findings(here, ours) if here else ()))
        yield from (Report(title, "", diagnosis) for diagnosis in exposed(files, machine))
        unguarded = config_of(host).TRAITS.unguarded
        yield from (Report(title, "", Diagnosis("note", f"{tool} cannot be checked: {why}")) for tool, why in unguarded.items())
    if fire:
        yield from (Report(title, "", diagnosis) for diagnosis in _reached(host, files, machine))


def _reached(host: str, files: list[ConfigFile], machine: Machine) -> Iterator[Diagnosis]:
    """Whether the handlers of the installed policies receive what they may deny. Loads the policies that doctor may run."""
    by_policy: dict[Path, list[tuple[ConfigFile, Found]]] = {}
    for file in files:
        for found in file.ours:
            path = policy_of(found.command, machine)
            if path is not None and path.is_file() and not may_run(file, found, machine):
                by_policy.setdefault(path, []).append((file, found))
    idle: list[Diagnosis] = []
    for path, entries in by_policy.items():
        again = install_again(*entries[0], machine)
        try:
            written = read(entries[0][1].command)
            there = written and not written.portable and os.access(written.interpreter, os.X_OK)
            policy, _ = describe(str(path), written.interpreter if written and there else "")
        except DoesNotLoad:  # the probe says so
            continue
        yield from missing_imports(path, entries[0][1], machine)
        why = never_denies(host, policy)
        idle += [Diagnosis("fail", why, f"onehook lint {shlex.quote(str(path))}")] if why else []
        yield from unreached(host, policy, [found for _, found in entries], again)
    # Beside a policy that denies, one that only adds context is fine.
    yield from idle if len(idle) == len(by_policy) else (replace(diagnosis, level="note") for diagnosis in idle)


def _look_at_foreign(file: ConfigFile, machine: Machine, installed: bool) -> Iterator[Diagnosis]:
    """A file without entries of ours can still turn off those of another file."""
    edit = f"{_editor(machine)} {shlex.quote(str(file.place.path))}"
    if file.hides_ours:  # the agent cannot read it either
        yield Diagnosis("fail", f"{file.problem}; {file.config.TITLE} runs no hooks from such a file, including onehook's", edit)
    elif file.problem:
        yield Diagnosis("warn", file.problem, edit)
    yield from _resembling(file)
    if not file.problem and file.exists and installed:
        yield from (diagnosis for diagnosis in file.config.diagnose(machine, file.place, file.data, []) if diagnosis.level == "fail")


def _examine_file(file: ConfigFile, machine: Machine, fire: bool) -> Iterator[Diagnosis]:
    edit = f"{_editor(machine)} {shlex.quote(str(file.place.path))}"
    wrong: list[str] = []
    if readable(file.place):
        text = (content_of(file.place.path) or b"").decode("utf-8")
        wrong = [*file.config.text_problems(file.place, text, file.data), *file.config.problems(file.data)]
    yield from (Diagnosis("fail", problem, edit) for problem in wrong)
    if not wrong:
        events = ", ".join(dict.fromkeys(map(shown, file.ours)))
        yield Diagnosis("ok", f"valid; installed for {events}")
    yield from _entries(file, machine)
    yield from file.config.diagnose(machine, file.place, file.data, file.ours)
    yield from untrusted(file.host, machine, file.place, file.ours, install_again(file, file.ours[0], machine))
    shared = sorted({found.event for found in file.foreign} & {found.event for found in file.ours})
    if shared:
        others = ", ".join(dict.fromkeys(found.command[:40] for found in file.foreign if found.event in shared))
        yield Diagnosis("note", f"other hooks also handle {', '.join(shared)}: {others}")
    yield from _resembling(file)
    if fire:
        yield from probe_entries(file, machine, install_again(file, file.ours[0], machine))


def _resembling(file: ConfigFile) -> Iterator[Diagnosis]:
    for found in file.foreign:
        if resembles_ours(found.command):
            text = f"the {found.event} entry starts onehook, but was not written by onehook install; it was not run: {found.command[:120]}"
            yield Diagnosis("warn", text, f"remove it from {file.place.path}, then run: onehook install POLICY --hosts {file.host}")


def _editor(machine: Machine) -> str:
    return machine.variables.get("EDITOR") or "vi"


# ---- the entries and what they run


def _entries(file: ConfigFile, machine: Machine) -> Iterator[Diagnosis]:
    wire = wire_of(file.host)
    covered = {wire.EVENTS[found.event].event for found in file.ours if found.event in wire.EVENTS}
    missing = [event for event in DEFAULT_EVENTS if event in file.config.EVENTS and event not in covered]
    if missing and not is_manifest(str(policy_of(file.ours[0].command, machine) or "")):  # which is installed for what it needs
        yield Diagnosis("note", f"not installed for {', '.join(missing)}", install_again(file, file.ours[0], machine))
    seen: set[tuple[str, str, str]] = set()
    for found in file.ours:
        written = read(found.command)
        if written is not None and (key := (written.interpreter, written.launcher, written.policy)) not in seen:
            seen.add(key)
            yield from _programs(file, found, written, machine)


def _programs(file: ConfigFile, found: Found, written: Written, machine: Machine) -> Iterator[Diagnosis]:
    policy, again = written.policy_path(machine.project), install_again(file, found, machine)
    if not policy.is_file():
        yield Diagnosis(
            "fail", f"the policy {policy} does not exist", f"onehook uninstall {shlex.quote(str(policy))} --scope {file.place.scope}"
        )
    else:
        yield from _observing(policy, written, again)
        yield from _holding(policy, file, machine, again)
        yield from _pin(policy, written, machine)
        yield from _trusted(policy, machine)
        yield from _ended(policy)
    yield from committed(file, written, machine)
    if written.portable:
        yield from _portable(written, machine, again)
        return
    launcher = written.launcher_path(machine.project)
    if file.place.scope == "enterprise":
        yield from _changeable(written, policy, machine, again)
    if written.client and not os.path.exists(written.client[-1]):
        yield Diagnosis("fail", f"the client {written.client[-1]} does not exist", again)
    if not os.access(written.interpreter, os.X_OK):
        gone = "the environment with the packages of the policy is gone: " if "envs" in Path(written.interpreter).parts else ""
        yield Diagnosis("fail", f"{gone}the interpreter {written.interpreter} does not exist", again)
    elif "/shims/" in written.interpreter.replace("\\", "/"):
        what = f"{written.interpreter} is a shim, which slows down every event"
        yield Diagnosis("warn", what, f"$(pyenv which python) -m {again}")
    if not launcher.is_file():
        yield Diagnosis("fail", f"the launcher {launcher} does not exist", again)
    elif starts_copy(written.program, file.place.scope, machine):
        packages = packages_in(written.interpreter)
        yield Diagnosis("ok", f"run by {written.interpreter}" + (f", with {', '.join(packages)}" if packages else ""))
        yield from _copied(launcher.parent, str(launcher.parent), again)
    elif launcher != LAUNCHER:
        yield Diagnosis("note", f"the entries run another installation of onehook: {launcher}", again)


def _trusted(policy: Path, machine: Machine) -> Iterator[Diagnosis]:
    """Whether an install for all projects takes all of this project's rules file."""
    from onehook.rules.load import every_layer
    from onehook.rules.trust import is_trusted, project_file

    if str(policy) not in [path for _, path in every_layer()]:
        return
    project = project_file(str(machine.project))
    if project and not is_trusted(project):
        yield Diagnosis(
            "note", f"{project} is not trusted: only what stops something applies", f"onehook trust --rules {shlex.quote(project)}"
        )


def _ended(policy: Path) -> Iterator[Diagnosis]:
    """The exceptions of a rules file, and of the user's and the machine's own, that hold no longer."""
    from onehook.rules.explain import expired_exceptions
    from onehook.rules.load import layers_beside

    if not is_manifest(str(policy)) or not holds_rules(policy.read_bytes()):
        return
    try:
        ended = expired_exceptions([*layers_beside(str(policy)), ("project", str(policy))])
    except OnehookError:  # the probe says so
        return
    for exception in ended:
        where = f"{exception['file']}:{exception['line']}"
        text = f"{where}: the exception to {exception['rule']} ended on {exception['until']}"
        yield Diagnosis("warn", text, f"remove it from {exception['file']}, or give it a new `until`")


def _observing(policy: Path, written: Written, again: str) -> Iterator[Diagnosis]:
    mode, _, _ = standing(str(policy))
    if written.option("mode") == "observe":
        yield Diagnosis("warn", "installed with --observe: nothing is blocked", again)
    elif mode == "observe":
        yield Diagnosis("warn", f'{policy} is in mode "observe": nothing is blocked', f'set mode = "enforce" in {policy}, then {again}')
    elif mode == "mixed":
        yield Diagnosis("note", f'a part of {policy} is in mode "observe", and does not block anything')
    elif source_says_closed(str(policy)) and written.option("fail") != "closed":
        text = f"{policy} fails closed, but was installed before it did: if Python cannot start, nothing is blocked"
        yield Diagnosis("warn", text, again)


def _holding(policy: Path, file: ConfigFile, machine: Machine, again: str) -> Iterator[Diagnosis]:
    """Whether an agent waits long enough for a person to answer an ask that is held."""
    plain = b"".join(policy.read_bytes().split()).replace(b"'", b'"')
    written = [one for found in file.ours if (one := read(found.command)) and one.policy_path(machine.project) == policy]
    if b'ask_via="desk' in plain and not any(one.option("host-timeout") for one in written):
        text = f"{policy} holds asks for a person, but was installed before it did: the agent waits for less than half a minute"
        yield Diagnosis("warn", text, again)


def _pin(policy: Path, written: Written, machine: Machine) -> Iterator[Diagnosis]:
    """Whether a pinned policy is as it was pinned; if not, all is denied."""
    pin = written.option("pin")
    if not pin:
        return
    if wrong := problem(policy, pin, written.launcher_path(machine.project)):
        yield Diagnosis("fail", f"{wrong}: every action is denied", f"onehook trust {shlex.quote(str(policy))}")
    else:
        yield Diagnosis("ok", "pinned: the policy and what it loads are as they were")


def _changeable(written: Written, policy: Path, machine: Machine, again: str) -> Iterator[Diagnosis]:
    """An install for the whole machine is of use only if the people who use it cannot change what it runs."""
    for path in (written.interpreter, written.launcher, str(policy)):
        if who := changeable(path, machine):
            text = f"{path} can be changed by others than root (because of {who}), who can switch the policy off"
            yield Diagnosis("warn", text, f"sudo {again}")


def _copied(folder: Path, shown: str, again: str) -> Iterator[Diagnosis]:
    """Whether a copy of the runtime is this onehook's."""
    version = installed_version(folder)
    if not (folder / LAUNCH).is_file():
        yield Diagnosis("fail", f"the runtime in {shown} is missing", again)
    elif version != VERSION:
        what = f"the runtime in {shown} is {version or 'of unknown version'}, the installed onehook is {VERSION}"
        yield Diagnosis("warn", what, again)
    elif edited := edited_files(folder):
        more = f" and {len(edited) - 1} more" if len(edited) > 1 else ""
        yield Diagnosis("fail", f"the runtime in {shown} was changed after it was installed: {edited[0]}{more}", again)


def _portable(written: Written, machine: Machine, again: str) -> Iterator[Diagnosis]:
    yield from _copied(machine.project / PORTABLE_FOLDER, f"{PORTABLE_FOLDER}/", again)
    python = machine.which(written.interpreter)
    if python is None:
        yield Diagnosis("fail", f"{written.interpreter} is not on PATH", "install Python 3.9 or newer")
    elif "/shims/" in python:
        yield Diagnosis(
            "warn", f"{written.interpreter} is a shim ({python}), which slows down every event", "put a real python3 first on PATH"
        )


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
