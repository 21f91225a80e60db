"""Which parts of a handler's answers are lost, and on which agents: each kind of answer, run through the hosts' tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from onehook import policies
from onehook.core import Drop, Event
from onehook.hostkit.effects import compile_response
from onehook.hosts import HOSTS, wire_of
from onehook.lint.model import Finding, Handler, Policy
from onehook.lint.reach import listed, meant_hosts
from onehook.lint.samples import texts_for, wanted

# What the ready-made policies ask for and an agent lacks is known, described in docs/policies.md, and nothing that their user can change.
_READY_MADE = os.path.join(os.path.dirname(os.path.abspath(policies.__file__)), "")


def findings(policy: Policy, hosts: Sequence[str]) -> Iterator[Finding]:
    for handler in policy.handlers:
        events = [(shot.host, shot.event) for shot in wanted(handler, meant_hosts(handler, hosts), texts_for([])[:1])]
        for (code, why, mild), by_host in _losses(policy, handler, events).items():
            if handler.file.startswith(_READY_MADE) and code != "OH201":
                continue
            groups: dict[tuple[str, ...], list[str]] = {}
            for host, lost in by_host.items():
                groups.setdefault(tuple(lost), []).append(host)
            for what, names in groups.items():
                text = f"{handler}: {listed(what)} {_fate(code, what)} ({why})"
                level = "note" if mild or (code == "OH202" and _has_chosen(policy, names)) else ""
                yield handler.finding(code, text, names, level=level)


def _fate(code: str, what: Sequence[str]) -> str:
    if code == "OH203":
        return "is lost" if len(what) == 1 else "are lost"
    return "does not prevent anything" if code == "OH201" else "instead of ask"


# (code, why, whether it is minor) -> host -> what is lost there, in order
Losses = dict[tuple[str, str, bool], dict[str, dict[str, None]]]


def _losses(policy: Policy, handler: Handler, events: Sequence[tuple[str, Event]]) -> Losses:
    found: Losses = {}
    for shape in sorted(handler.shapes, key=str):
        for host, event in events:
            response = shape.response(next(iter(event.tool_input), "command"))
            _, drops = compile_response(wire_of(host), event, response, policy.settled)
            undecided = any("decision" in drop.fields for drop in drops)
            for drop in drops:
                if drop.fields == ("reason",) and undecided:  # it is lost together with its decision
                    continue
                code, what = _said(handler, shape.decision, drop)
                # Two texts and one place to show them: only a wording is lost.
                key = (code, drop.why, drop.kind == "superseded")
                found.setdefault(key, {}).setdefault(host, {})[what] = None
    return found


def _said(handler: Handler, decision: str | None, drop: Drop) -> tuple[str, str]:
    if drop.kind == "downgraded":
        return "OH202", drop.becomes
    if decision == "deny" and "decision" in drop.fields and _stops_somewhere(handler.event):
        return "OH201", "deny"
    return "OH203", ", ".join(str(decision) if field == "decision" else field for field in drop.fields)


def _stops_somewhere(event: str) -> bool:
    """Whether a deny of this event prevents something on any host, so that the author will expect it to."""
    return any(row.gates and row.event == event for host in HOSTS for row in wire_of(host).EVENTS.values())


def _has_chosen(policy: Policy, hosts: Sequence[str]) -> bool:
    """Whether the author has chosen what ask becomes on these hosts."""
    if policy.options.get("ask_fallback") is not None or policy.settled.ask_via != "agent":
        return True
    return all(host in policy.settled.ask_fallback_by_host for host in hosts)
