"""What a scenario should show on a host, taken only from the host's capability table."""

from __future__ import annotations

from onehook.core import Drop, Event, Options
from onehook.hostkit.effects import compile_response
from onehook.hostkit.reverse import sample
from onehook.hosts import having, load, optional, wire_of
from onehook.prove.scenarios import Scenario

WORKS, NOT_HONOURED, NO_EVENT = "works", "not honoured", "no such event"


def expectation(host: str, scenario: Scenario, mode: str = "", version: str = "") -> tuple[str, str]:
    """(what to expect, why) for a scenario on a host, in one of its modes, on a release of the agent ("" for the pinned one)."""
    wire = wire_of(host)
    if not any(row.event == scenario.event for row in wire.EVENTS.values()):
        return NO_EVENT, f"{host} has no {scenario.event}"
    if scenario.borrowed and not wire.TRAITS.reads_config_of:
        return NO_EVENT, f"{host} does not run the entries of another agent"
    if "trust" in scenario.needs and optional(host, "trust") is None:
        return NO_EVENT, f"{host} does not ask for trust"
    if "transcripts" in scenario.needs and host not in having("transcripts"):
        return NOT_HONOURED, f"{host} has no transcript that onehook can read"
    traits = load(host, "live").TRAITS
    release = version or (traits.package.version if traits.package else "")
    known = next((fact.what for fact in traits.facts if scenario.id in fact.rows and fact.holds(release)), "")
    if known:
        return NOT_HONOURED, known
    lacks = traits.lacks.get(mode, {})
    lacking = next((need for need in scenario.needs if need in lacks), "")
    if lacking:
        return NOT_HONOURED, lacks[lacking]
    if scenario.response is None or not scenario.effect:
        return WORKS, ""
    event = _event(host, scenario)
    if scenario.effect == "approve":
        return (
            (WORKS, "")
            if wire.caps(event)["approve"].kind == "honoured"
            else (NOT_HONOURED, "an allow only means 'continue'; the agent's own rules decide")
        )
    answer, drops = compile_response(wire, event, scenario.response, Options({"fail": "closed"} if scenario.effect == "withhold" else {}))
    if scenario.effect == "withhold":
        # The result is replaced, or the turn ends before the model sees it.
        return (WORKS, "") if answer.modified_output is not None or answer.halt else (NOT_HONOURED, _why(drops))
    if scenario.effect == "ask":
        # An ask with no user present, or one turned into a deny: nothing runs. If it became an allow, the command would run.
        return (WORKS, "") if answer.decision in ("ask", "deny") else (NOT_HONOURED, _why(drops))
    field = "decision" if scenario.effect in ("allow", "deny") else scenario.effect
    lost = [drop for drop in drops if any(name.partition(".")[0] == field for name in drop.fields)]
    return (NOT_HONOURED, _why(lost)) if lost else (WORKS, "")


def _event(host: str, scenario: Scenario) -> Event:
    """What the agent would send for the scenario's call."""
    tool = scenario.tool.partition("|")[0] if not scenario.tool.startswith("mcp__") else "MCP"
    fields = {"server": "proof", "tool": "note"} if tool == "MCP" else _FACTS.get(tool, {})
    event = wire_of(host).parse(load(host, "reverse").payload(sample(scenario.event, tool, **fields)), "")
    event.host_version = load(host, "live").TRAITS.reported_version or event.host_version
    return event


def losses(host: str, scenario: Scenario) -> frozenset[str]:
    """The fields of the scenario's answer that are lost on a host, according to its tables."""
    wire = wire_of(host)
    if scenario.response is None or not any(row.event == scenario.event for row in wire.EVENTS.values()):
        return frozenset()
    _, drops = compile_response(wire, _event(host, scenario), scenario.response, Options({}))
    return frozenset(name.partition(".")[0] for drop in drops for name in drop.fields)


def events_of(host: str) -> frozenset[str]:
    """The unified events that a host has, or has a stand-in for."""
    wire = wire_of(host)
    return frozenset((*(row.event for row in wire.EVENTS.values()), *(row.event for row in wire.TRAITS.stand_ins.values())))


_FACTS: dict[str, dict[str, str]] = {
    "Bash": {"command": "echo ran > ran.txt"},
    "Write": {"file_path": "guarded.env", "content": "x"},
    "Read": {"file_path": "secret.txt"},
}


def _why(drops: list[Drop]) -> str:
    return "; ".join(drop.why for drop in drops)
