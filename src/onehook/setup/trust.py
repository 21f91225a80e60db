"""`install --trust`: write what answering an agent's own prompt would write, renew it with the entries, and remove exactly that."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onehook.hostkit.config import Diagnosis, Found, Held, Machine, Place
from onehook.hostkit.trust import Grant
from onehook.hosts import load, optional
from onehook.setup.command import read
from onehook.setup.entries import first_state, original_of, ours_in, rest_of, stands, take_back
from onehook.setup.files import FileEdit
from onehook.setup.journal import Given, Journal
from onehook.textedit.document import ConfigError, Document
from onehook.textedit.text import value_at

if TYPE_CHECKING:
    from onehook.hosts.interface import Config, Trust
    from onehook.setup.plan import Plan


class Holding:
    """What a file of the whole machine has to hold (config.Held), in the form of a trust module: it is written and removed in the same
    way."""

    ASKS = ""

    def __init__(self, held: Held) -> None:
        self.held = held
        self.LEVEL, self.EFFECT = held.level, held.effect

    def store(self, machine: Machine) -> Place:
        return self.held.file(machine)

    def needed(self, machine: Machine, place: Place, ours: list[Found], stored: Any) -> list[Grant]:
        held, there = self.held, value_at(stored, self.held.path)
        value, listed = (str(place.path), True) if held.value is None else (held.value, False)
        if not ours or (value in (there or ()) if listed else there == value):
            return []
        return [Grant(held.path, value, f"{'.'.join(held.path)} = {value!r}", listed)]


def keeper(host: str, place: Place) -> Trust | None:
    """What an agent needs besides the entries of a file: a person's trust, or, for the machine's file, the values that it requires."""
    if place.scope != "enterprise":
        return optional(host, "trust")
    held = load(host, "config").TRAITS.held
    return Holding(held) if held else None


def untrusted(host: str, machine: Machine, place: Place, ours: list[Found], again: str) -> Iterator[Diagnosis]:
    """Whether the agent skips these entries for lack of trust. again: the command that installs them."""
    trust = keeper(host, place)
    if trust is None or not ours:
        return
    store = trust.store(machine)
    try:
        stored = Document(store.path, store.format).data()
    except ConfigError:
        stored = {}
    lacking = dict.fromkeys(grant.what for grant in trust.needed(machine, place, ours, stored))
    if lacking and not trust.ASKS:
        yield Diagnosis(trust.LEVEL, f"{store.path} lacks {', '.join(lacking)}: {trust.EFFECT}", f"{again} --scope enterprise")
    elif lacking:
        text = f"{load(host, 'config').TITLE} does not trust {', '.join(lacking)}: {trust.EFFECT}"
        yield Diagnosis(trust.LEVEL, text, f"{again} --trust (or {trust.ASKS})")


def plan_trust(plan: Plan, host: str, place: Place, machine: Machine, journal: Journal, policy: Path | None = None) -> None:
    """Plan what the agent is to trust for one config file, as the plan leaves it: the policies that a person has trusted, and `policy`."""
    trust = keeper(host, place)
    if trust is None:
        return
    store = trust.store(machine)
    origin = journal.origin(store.path)
    given = plan.given.get(store.path, origin.given if origin else ())
    mine = [one for one in given if one.file == str(place.path)]
    if not mine and policy is None:
        return
    document = plan.document(store)
    text, data = document.text, document.data()
    withdrawn = {one.policy for one in mine if not stands(data, one)}
    policies = [one.policy for one in mine if one.policy not in withdrawn] + ([str(policy)] if policy else [])
    others = [one for one in given if one not in mine]
    wanted = list(_wanted(trust, machine, place, _entries(plan, host, place, machine, policies), data, given))
    _write(document, original_of(document, origin), mine, others, wanted)
    if wanted != mine or document.text != text:
        plan.given[store.path] = (*others, *wanted)
        _add(plan, document, store, load(host, "config"), journal)


def _entries(plan: Plan, host: str, place: Place, machine: Machine, policies: Iterable[str]) -> dict[str, list[Found]]:
    """The entries of each of these policies in a config file."""
    try:
        document = plan.document(place)
        ours = ours_in(load(host, "config"), document.data())
    except ConfigError:
        ours = []
    named = [(str(written.policy_path(machine.project)), found) for found in ours if (written := read(found.command))]
    return {policy: [found for name, found in named if name == policy] for policy in dict.fromkeys(policies)}


def _wanted(
    trust: Trust, machine: Machine, place: Place, entries: dict[str, list[Found]], data: Any, given: Sequence[Given]
) -> Iterator[Given]:
    """What the file must contain for these entries. What was written earlier is kept as long as it is enough."""
    own = _without(data, given)
    for policy, found in entries.items():
        lacking = trust.needed(machine, place, found, data) if found else []
        for grant in trust.needed(machine, place, found, own) if found else ():
            missing = any(grant.is_for(one.path, one.value) for one in lacking)
            kept = None if missing else next((one for one in given if grant.is_for(one.path, one.value)), None)
            was = () if grant.listed or (value := value_at(own, grant.path)) is None else (value,)
            value = kept.value if kept else grant.value
            yield Given(str(place.path), policy, grant.path, value, grant.listed, was)


def _write(document: Document, original: Any, mine: Sequence[Given], others: Sequence[Given], wanted: Sequence[Given]) -> None:
    stay = {one.slot for one in (*others, *wanted)}
    for one in mine:
        if one.slot not in stay:
            take_back(document, one, original)
    for one in wanted:
        if stands(document.data(), one):
            continue
        if one.listed:
            document.append(one.path, one.value)
        else:
            document.set_value(one.path, one.value)


def _add(plan: Plan, document: Document, store: Place, config: Config, journal: Journal) -> None:
    """Add the edit of a trust file, which may also be a config file with onehook's entries; without either, its bytes are restored."""
    path = store.path
    planned = next((edit for edit in plan.edits if edit.path == path), None)
    plan.edits = [edit for edit in plan.edits if edit.path != path]
    after: bytes | None = document.after
    if plan.given[path] or ours_in(config, document.data()):
        plan.first_states.setdefault(path, first_state(Document(path, store.format), config, store, journal))
    else:
        memory = journal.recall(path)
        after = memory.before if memory else rest_of(document, config, journal.origin(path))
        plan.first_states.pop(path, None)
        plan.leftovers.append(path)
    if document.before != after:
        kind = "config" if store.scope == "enterprise" else "trust"  # which everyone may read
        plan.edits.append(FileEdit(path, document.before, after, planned.kind if planned else kind))
        plan.roots[path] = store.root


def _without(data: Any, given: Iterable[Given]) -> Any:
    """The data of a file as it would be without what was written."""
    data = copy.deepcopy(data)
    for one in (one for one in given if stands(data, one)):
        path = one.path
        holder = value_at(data, path[:-1])
        if one.listed:
            holder[path[-1]].remove(one.value)
        elif one.was:
            holder[path[-1]] = one.was[0]
        else:
            del holder[path[-1]]
        while holder == {} and (path := path[:-1]):
            holder = value_at(data, path[:-1])
            del holder[path[-1]]
    return data
