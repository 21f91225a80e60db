"""What install and uninstall would change, worked out before anything is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onehook.hosts import HOSTS, load
from onehook.hosts.configuring import DEFAULT_EVENTS, Commands, Config, Found, Machine, Place, Wish
from onehook.setup.command import commands, is_ours, names_policy, relative_to
from onehook.setup.documents import ConfigError, Document, value_at
from onehook.setup.files import Change
from onehook.setup.journal import Journal


@dataclass
class Plan:
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first_states: dict[Path, bytes | None] = field(default_factory=dict)
    roots: dict[Path, Path] = field(default_factory=dict)  # file -> the folder that it must stay in


@dataclass(frozen=True)
class Request:
    """What a person asked install for."""

    policy: Path
    scope: str = "project"
    events: tuple[str, ...] = DEFAULT_EVENTS
    wish: Wish = field(default_factory=Wish)
    portable: bool = False
    run_options: tuple[str, ...] = ()  # what --timeout and the like add to the written command


def configurable() -> list[str]:
    """The hosts that have something to install into."""
    import importlib.util

    return [host for host in HOSTS if importlib.util.find_spec(f"onehook.hosts.{host}.config")]


def config_of(host: str) -> Config:
    config: Config = load(host, "config")
    return config


def present(host: str, machine: Machine) -> str:
    """Why a host counts as being there: its folder or its binary; "" if neither."""
    config = config_of(host)
    for name in config.FOLDERS:
        for base in (machine.project, machine.home):
            if (base / name).is_dir():
                return str(base / name)
    return next((path for binary in config.BINARIES if (path := machine.which(binary))), "")


def place_of(host: str, scope: str, machine: Machine) -> Place | None:
    return next((place for place in config_of(host).places(machine) if place.scope == scope), None)


def ours_in(config: Config, data: Any) -> list[Found]:
    return [entry for entry in config.found(data) if is_ours(entry.command)]


def plan_install(hosts: Sequence[str], request: Request, machine: Machine, journal: Journal) -> Plan:
    plan = Plan()
    if request.portable:
        from onehook.setup.portable import plan_runtime

        plan_runtime(plan, machine.project)
    for host in hosts:
        place = place_of(host, request.scope, machine)
        if place is None:
            plan.notes.append(f"{config_of(host).TITLE} has no {request.scope} scope; skipped")
            continue
        _plan_host(plan, host, place, request, machine, journal)
    return plan


def _plan_host(plan: Plan, host: str, place: Place, request: Request, machine: Machine, journal: Journal) -> None:
    config = config_of(host)
    if place.format == "own":
        before = place.path.read_bytes() if place.path.exists() else None
        _refuse_foreign(config, before, place, request, machine)
        content = _own_content(host, place, request, machine, plan)
        _add(plan, Change(place.path, before, content), place, journal)
        return
    document = Document(place.path, place.format, config.ESCAPE_SLASHES)
    wrong = config.problems(document.data()) if document.text.strip() else []
    if wrong:
        raise ConfigError(f"{place.path}: {wrong[0]}. Mend that first; nothing was changed")
    for key, value in config.SKELETON.items():
        if key not in document.data():
            document.set_value((key,), value)
    for event in request.events:
        if event not in config.EVENTS:
            plan.notes.append(f"{config.TITLE} has no event {event}; skipped there")
            continue
        _put_entry(document, config, event, request, place, machine)
    wrong = config.problems(document.data())
    if wrong:
        raise ConfigError(f"{place.path}: this would not be accepted: {wrong[0]}; nothing was changed")
    _add(plan, Change(place.path, document.before, document.after), place, journal)


def _put_entry(document: Document, config: Config, event: str, request: Request, place: Place, machine: Machine) -> None:
    """One entry per event: ours is replaced where it stands (trust goes by place), else appended last."""
    path, item = _slot(config, event, request, place, machine)
    mine = [
        found
        for found in ours_in(config, document.data())
        if found.event == config.EVENTS[event] and names_policy(found.command, request.policy, machine.project)
    ]
    if not mine:
        document.append(path, item)
        return
    where = _entry_of(mine[0], path)
    if value_at(document.data(), where) != item and _alone(document, where, item):
        document.replace(where, item)


def _entry_of(found: Found, container: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The element of the container that holds a found handler: the group, or the entry itself."""
    return found.path[: len(container) + 1]


def _alone(document: Document, where: tuple[str | int, ...], item: Any) -> bool:
    """Whether the group holds nothing but our handler; one that a user added to stays as the user left it."""
    group = value_at(document.data(), where)
    return not (isinstance(group, dict) and isinstance(group.get("hooks"), list) and len(group["hooks"]) != 1)


def _slot(config: Config, event: str, request: Request, place: Place, machine: Machine) -> tuple[tuple[str, ...], Any]:
    return config.slot(event, _commands(config, event, request, place, machine), request.wish, machine.windows)


def _commands(config: Config, event: str, request: Request, place: Place, machine: Machine) -> Commands:
    return commands(
        request.policy,
        machine.project,
        _arguments(config, event, request),
        project_folder=config.PROJECT,
        inside_project=place.scope in ("project", "local"),
        portable=request.portable,
    )


def _arguments(config: Config, event: str, request: Request) -> list[str]:
    arguments = [word for host in config.HOST_IDS for word in ("--host", host)]
    arguments += ["--event", event]
    if request.wish.fail_closed:
        arguments += ["--fail", "closed"]
    return [*arguments, *request.run_options]


def _refuse_foreign(config: Config, before: bytes | None, place: Place, request: Request, machine: Machine) -> None:
    """A file of onehook's own serves one policy: another one's is not overwritten, nor is a file that somebody else wrote."""
    if before is None:
        return
    ours = ours_in(config, before.decode("utf-8", "replace"))
    if not ours:
        raise ConfigError(f"{place.path} is there and is not onehook's; move it away first. Nothing was changed")
    if not any(names_policy(found.command, request.policy, machine.project) for found in ours):
        fix = f"join both (hooks.use(other)), or onehook uninstall --hosts {config.HOST_IDS[0]} first"
        raise ConfigError(f"{config.TITLE} runs another policy already, and can run one: {fix}. Nothing was changed")


def _own_content(host: str, place: Place, request: Request, machine: Machine, plan: Plan) -> bytes:
    """The whole file of a host that has one for onehook alone: made by the host of the command of each event."""
    config = config_of(host)
    lines = {event: _commands(config, event, request, place, machine) for event in request.events if event in config.EVENTS}
    plan.notes += [f"{config.TITLE} has no event {event}; skipped there" for event in request.events if event not in config.EVENTS]
    content: bytes = load(host, "config").own_content(place, lines, request.wish, machine)
    return content


def _add(plan: Plan, change: Change, place: Place, journal: Journal) -> None:
    if change.before == change.after:
        return
    plan.changes.append(change)
    plan.first_states[change.path] = journal.first_state(change.path, change.before)
    plan.roots[change.path] = place.root


def plan_uninstall(hosts: Sequence[str], scopes: Iterable[str], policy: Path | None, machine: Machine, journal: Journal) -> Plan:
    plan = Plan()
    for host in hosts:
        for scope in scopes:
            place = place_of(host, scope, machine)
            if place is not None and place.path.exists():
                _plan_removal(plan, host, place, policy, machine, journal)
    _plan_runtime_removal(plan, policy, machine, journal)
    return plan


def _plan_removal(plan: Plan, host: str, place: Place, policy: Path | None, machine: Machine, journal: Journal) -> None:
    config = config_of(host)
    memory = journal.recall(place.path)
    if place.format == "own":
        if _removable(config, place.path.read_text(encoding="utf-8", errors="replace"), policy, machine):
            _add_removal(plan, Change(place.path, place.path.read_bytes(), memory.before if memory else None), place)
        return
    document = Document(place.path, place.format, config.ESCAPE_SLASHES)
    mine = _removable(config, document.data(), policy, machine)
    if not mine:
        return
    left = [found for found in ours_in(config, document.data()) if found not in mine]
    if memory and not left:
        # Nobody has written since: exactly the bytes that install found.
        _add_removal(plan, Change(place.path, document.before, memory.before), place)
        return
    for found in reversed(mine):
        _take_out(document, found)
    empty = not document.data() or document.data() == dict(config.SKELETON)
    after = None if empty and journal.folders_made(place.path) else document.after
    _add_removal(plan, Change(place.path, document.before, after), place)


def _removable(config: Config, data: Any, policy: Path | None, machine: Machine) -> list[Found]:
    return [found for found in ours_in(config, data) if policy is None or names_policy(found.command, policy, machine.project)]


def _take_out(document: Document, found: Found) -> None:
    """Remove a handler, and then every container above it that it leaves empty."""
    path: tuple[str | int, ...] = found.path
    document.remove(path)
    while len(path) > 1:
        path = path[:-1]
        value = value_at(document.data(), path)
        bare_group = isinstance(value, dict) and value.get("hooks") == [] and set(value) <= {"hooks", "matcher"}
        if value not in ({}, []) and not bare_group:
            return
        document.remove(path)


def _add_removal(plan: Plan, change: Change, place: Place) -> None:
    if change.before != change.after:
        plan.changes.append(change)
        plan.roots[change.path] = place.root


def _plan_runtime_removal(plan: Plan, policy: Path | None, machine: Machine, journal: Journal) -> None:
    """The portable runtime goes when nothing that stays in this project starts it."""
    from onehook.setup.portable import plan_runtime_removal

    removed = {change.path: change.after for change in plan.changes}
    for host in configurable():
        for place in config_of(host).places(machine):
            content = removed[place.path] if place.path in removed else (place.path.read_bytes() if place.path.is_file() else None)
            if content and place.scope in ("project", "local") and b".onehook/runtime" in content.replace(b"\\/", b"/"):
                return
    plan_runtime_removal(plan, machine.project)


def policy_in_scope(policy: Path, scope: str, machine: Machine) -> bool:
    return scope not in ("project", "local") or relative_to(policy, machine.project) is not None


def absolute_policy(text: str) -> Path:
    return Path(os.path.abspath(text))
