"""The case files under tests/hosts/<id>/: payload and answer in, the host's output out. One test runs each file.

A case has: name; payload, or base (a name in payloads.json) with `set` applied to it, or stdin (raw text); host (--host), event_name
(--event), options (of the policy), given (on the command line); response (what the handler returns); and the expected result: event (a
subset of the unified event), stdout (a JSON object, plain text, "" for nothing, or a list of objects, one per line), stderr (the exact
lines, or "contains" and what must occur), exit_code, drops (field, and optionally why).
"""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any

import pytest

from onehook.core import CONTRACT_FIELDS, EVENTS, EXTENDED_EVENTS, RESULTS, Drop, Event, Hooks, Output, Response
from onehook.hostkit.effects import EFFECTS as ALL_EFFECTS
from onehook.hostkit.effects import Caps
from onehook.hosts import HOSTS, wire_of
from onehook.runner import answer as answer_event
from tests.host_folders import facts, folder, payloads, with_folders
from tests.rows import check_each

NOT_CASES = ("payloads.json", "answers.json", "detect.json")
Case = dict[str, Any]


def cases_of(host: str) -> list[Case]:
    known = payloads(host)
    found = []
    for path in sorted(folder(host).glob("*.json")):
        if path.name in NOT_CASES:
            continue
        for case in json.loads(path.read_text(encoding="utf-8")):
            payload = case["payload"] if "payload" in case else known[case["base"]]
            found.append({**case, "payload": {**payload, **case.get("set", {})}, "id": f"{host}/{path.stem}: {case['name']}"})
    return found


EVERY = [case for host in with_folders("payloads.json") for case in cases_of(host)]
FILES = {name: list(cases) for name, cases in itertools.groupby(EVERY, lambda case: case["id"].partition(": ")[0])}


def walk(case: Case) -> tuple[Output, Event | None]:
    """The output of a case, and the event that the handler saw."""
    seen: list[Event] = []
    hooks = Hooks(**case.get("options", {}))

    def answer(event: Event) -> Any:
        seen.append(event)
        return case["response"]

    for name in EVENTS + EXTENDED_EVENTS:
        hooks.on(name)(answer)
    asked = {"hosts": [case["host"]] if case.get("host") else [], "event_name": case.get("event_name", ""), "given": case.get("given", {})}
    stdin = case["stdin"] if "stdin" in case else json.dumps(case["payload"])
    return answer_event(stdin.encode(), lambda: hooks, **asked), seen[0] if seen else None


@pytest.mark.parametrize("name", FILES)
def test_the_cases_of_a_file(name: str) -> None:
    check_each(check_case, {case["id"]: case for case in FILES[name]})


def check_case(case: Case) -> None:
    output, event = walk(case)
    assert said(output) == case["stdout"]
    assert output.exit_code == case["exit_code"]
    assert [[drop.field, outcome(drop)][: len(wanted)] for drop, wanted in zip(output.dropped, case["drops"], strict=True)] == case["drops"]
    check_stderr(case, output)
    if "event" in case:
        assert event is not None
        unified = event.to_dict()
        assert {name: unified[name] for name in case["event"]} == case["event"]


def outcome(drop: Drop) -> str:
    return f"downgraded to {drop.becomes}" if drop.kind == "downgraded" else drop.why


def said(output: Output) -> Any:
    """The JSON document on stdout; "" for none, a list where the host takes several, one per line; or the text, where it takes text."""
    if output.stdout and output.stdout[0] not in "{[":
        return output.stdout
    documents = [json.loads(line) for line in output.stdout.splitlines()]
    return documents if len(documents) > 1 else documents[0] if documents else ""


def check_stderr(case: Case, output: Output) -> None:
    wanted = case.get("stderr")
    if wanted is None:  # not given: one line for each drop, and otherwise only the reason of a denial
        warnings = [line for line in output.stderr.split("\n") if line.startswith("[onehook]")]
        assert len(warnings) == len(case["drops"])
    elif wanted[:1] == ["contains"]:
        assert all(part in output.stderr for part in wanted[1:])
    else:
        assert output.stderr == "\n".join(wanted)


def test_case_names_are_unique() -> None:
    names = [case["id"] for case in EVERY]
    assert sorted(names) == sorted(set(names))


def test_every_host_has_case_files() -> None:
    assert set(HOSTS) <= set(with_folders("payloads.json"))


@functools.cache
def cases_with_events(host: str) -> list[tuple[Case, Event]]:
    """The cases that reach a handler as an event of this host, each with that event."""
    walked = [(case, walk(case)[1]) for case in cases_of(host)]
    return [(case, event) for case, event in walked if event is not None and event.host == host]


@pytest.mark.parametrize("host", HOSTS)
def test_every_native_event_of_a_host_has_a_case(host: str) -> None:
    rows = wire_of(host).EVENTS
    met = {event.native_event: event for _, event in cases_with_events(host)}
    assert set(rows) - set(met) == set()
    assert {name: row.event for name, row in rows.items()} == {name: met[name].event for name in rows}


# --- every effect of every capability table is exercised: where it is honoured, and where it is dropped ---------------------------

EFFECTS = ("allow", "deny", "ask", "reason", "allow_reason", "note", "user_message", "modified_input", "additional_context")
Table = tuple[str, str, str]


def table_of(event: Event) -> tuple[Table, Caps]:
    """The capability table that applies to an event, with an identifying key."""
    wire = wire_of(event.host)
    caps = wire.caps(event)
    told = ",".join(f"{name}={caps[name]}" for name in ALL_EFFECTS)
    return (event.host, wire.EVENTS[event.native_event].shape, f"{told},{caps.silent},{caps.ask_passes}"), caps


def effects_of(response: Response) -> set[str]:
    used = {
        name
        for name in ("user_message", "modified_input", "modified_output", "additional_context", *CONTRACT_FIELDS)
        if name in response.given()
    }
    if response.decision:
        used.add(response.decision)
    if response.reason is not None:
        used.add({"allow": "allow_reason", None: "note"}.get(response.decision, "reason"))
    return used


def was_dropped(effect: str, fields: set[str]) -> bool:
    if effect in ("allow", "deny", "ask"):
        return "decision" in fields or effect in fields
    return {"allow_reason": "reason", "note": "reason"}.get(effect, effect) in fields


def reason_channel(effect: str, caps: Caps) -> str:
    """A reason whose decision is dropped is a note."""
    decision = {"reason": "deny", "allow_reason": "allow"}.get(effect)
    return "note" if decision and caps[decision].kind == "dropped" else effect


def cells(host: str) -> dict[tuple[Table, str], str]:
    """Every (table, effect) in a host's tables, and whether it is honoured or dropped there ("" where it depends)."""
    found: dict[tuple[Table, str], str] = {}
    for _, sent in cases_with_events(host):
        event = sent.copy()
        for version in facts(host).VERSIONS:
            event.host_version = version or event.host_version
            table, caps = table_of(event)
            for effect in (*EFFECTS, *CONTRACT_FIELDS, *(["modified_output"] if event.event in RESULTS else [])):
                cap = caps[reason_channel(effect, caps)]
                found[table, effect] = cap.kind if cap.kind in ("honoured", "dropped") else ""
    return found


def exercised(host: str) -> set[tuple[Table, str, str]]:
    met = set()
    for case, event in cases_with_events(host):
        if case["response"] is None or case.get("options") or "no" in case["response"].values() or "decison" in case["response"]:
            continue
        table, _ = table_of(event)
        fields = {part for field, *_ in case["drops"] for part in field.split(", ")}
        for effect in effects_of(Response(**case["response"])):
            met.add((table, effect, "dropped" if was_dropped(effect, fields) else "honoured"))
    return met


@pytest.mark.parametrize("host", HOSTS)
def test_every_effect_of_every_table_has_a_case(host: str) -> None:
    met = exercised(host)
    missing = []
    for (table, effect), outcome in cells(host).items():
        wanted = {(table, effect, outcome)} if outcome else {(table, effect, "honoured"), (table, effect, "dropped")}
        if not wanted & met:
            missing.append((table[1], effect, outcome))
    assert missing == []
