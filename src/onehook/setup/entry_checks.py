"""What doctor checks where a policy is installed: the config file, the programs that its entries start, and what the policy is asked."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from onehook.core import OnehookError
from onehook.hostkit.config import DEFAULT_EVENTS, Diagnosis, Found, Machine
from onehook.hosts import wire_of
from onehook.lint.loading import DoesNotLoad, describe
from onehook.lint.model import Policy
from onehook.policy import holds_rules, is_manifest, source_says_closed
from onehook.setup.command import LAUNCHER, PORTABLE_FOLDER, Written, read
from onehook.setup.coverage import never_denies, unreached
from onehook.setup.installed import ConfigFile, editing, install_again, policy_of, readable, shown, standing
from onehook.setup.interpreters import packages_in
from onehook.setup.managed import changeable
from onehook.setup.missing import committed, missing_imports
from onehook.setup.pinning import problem
from onehook.setup.plan import starts_copy
from onehook.setup.probe import may_run
from onehook.setup.runtime import LAUNCH, edited_files, installed_version
from onehook.setup.trust import untrusted
from onehook.textedit.document import content_of
from onehook.version import VERSION


def examine_file(file: ConfigFile, machine: Machine) -> Iterator[Diagnosis]:
    edit = editing(file, machine)
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
        yield Diagnosis("note", f"{project} is not trusted: only its restrictions apply", f"onehook trust --rules {shlex.quote(project)}")


def _ended(policy: Path) -> Iterator[Diagnosis]:
    """The exceptions of a rules file, and of the user's and the machine's own, that have ended."""
    from onehook.rules.explain import expired_exceptions
    from onehook.rules.load import layers_beside

    if not is_manifest(str(policy)) or not holds_rules(policy.read_bytes()):
        return
    try:
        ended = expired_exceptions([*layers_beside(str(policy)), ("project", str(policy))])
    except OnehookError:  # the probe reports it
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
        text = f"{policy} fails closed, but was installed before it did so: if Python cannot start, nothing is blocked"
        yield Diagnosis("warn", text, again)


def _holding(policy: Path, file: ConfigFile, machine: Machine, again: str) -> Iterator[Diagnosis]:
    """Whether an agent waits long enough for a person to answer an ask that is held."""
    plain = b"".join(policy.read_bytes().split()).replace(b"'", b'"')
    written = [one for found in file.ours if (one := read(found.command)) and one.policy_path(machine.project) == policy]
    if b'ask_via="desk' in plain and not any(one.option("host-timeout") for one in written):
        text = (
            f"{policy} holds calls for a person's approval, but was installed before it did so: the agent waits for less than half a minute"
        )
        yield Diagnosis("warn", text, again)


def _pin(policy: Path, written: Written, machine: Machine) -> Iterator[Diagnosis]:
    """Whether a pinned policy has not changed since it was pinned; if it has, everything is denied."""
    pin = written.option("pin")
    if not pin:
        return
    if wrong := problem(policy, pin, written.launcher_path(machine.project)):
        yield Diagnosis("fail", f"{wrong}: every action is denied", f"onehook trust {shlex.quote(str(policy))}")
    else:
        yield Diagnosis("ok", "pinned: the policy and the files that it loads are unchanged")


def _changeable(written: Written, policy: Path, machine: Machine, again: str) -> Iterator[Diagnosis]:
    """An install for the whole machine is only useful if its users cannot change what it runs."""
    for path in (written.interpreter, written.launcher, str(policy)):
        if who := changeable(path, machine):
            text = f"{path} can be changed by users other than root (because of {who}), who can disable the policy"
            yield Diagnosis("warn", text, f"sudo {again}")


def _copied(folder: Path, shown: str, again: str) -> Iterator[Diagnosis]:
    """Whether a copy of the runtime is this onehook's."""
    if not (folder / LAUNCH).is_file():
        yield Diagnosis("fail", f"the runtime in {shown} is missing", again)
    elif not (edited := edited_files(folder)):
        return
    elif (version := installed_version(folder)) != VERSION:
        what = f"the runtime in {shown} is {version or 'of unknown version'}, the installed onehook is {VERSION}"
        yield Diagnosis("warn", what, again)
    else:
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


def reached(host: str, files: list[ConfigFile], machine: Machine, known: dict[tuple[str, str], Policy]) -> Iterator[Diagnosis]:
    """Whether the handlers of the installed policies receive what they may deny. Loads the policies that doctor may run.

    known: those that were loaded for other hosts, by their path and by what loads them.
    """
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
            key = str(path), written.interpreter if written and there else ""
            policy = known[key] = known.get(key) or describe(*key).policy
        except DoesNotLoad:  # the probe reports it
            continue
        yield from missing_imports(path, entries[0][1], machine)
        why = never_denies(host, policy)
        idle += [Diagnosis("fail", why, f"onehook lint {shlex.quote(str(path))}")] if why else []
        yield from unreached(host, policy, [found for _, found in entries], again)
    # In addition to a policy that denies, one that only adds context is fine.
    yield from idle if len(idle) == len(by_policy) else (replace(diagnosis, level="note") for diagnosis in idle)
