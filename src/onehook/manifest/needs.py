"""What has to be installed for the programs of a manifest: which events on which agent, and for which tools. Not on the hot path."""

from __future__ import annotations

import os

from onehook.core import Hooks, Registration
from onehook.hostkit.config import DEFAULT_EVENTS, TOOL_EVENTS
from onehook.hostkit.reverse import sample
from onehook.hosts import HOSTS, load, wire_of
from onehook.manifest.dialects import dialect_of, project_of
from onehook.manifest.load import Manifest, Program, Wanted, own_event, sets_variables
from onehook.manifest.mentions import mentions


def stand_ins_of(hooks: Hooks, host: str) -> dict[str, str]:
    """The additional unified events to install on a host, each with the event that it stands in for there."""
    programs = [registration for registration in hooks.registrations if isinstance(registration, Wanted)]
    return {event: registration.event for registration in programs for event in registration.stand_ins(host)}


def events_of(hooks: Hooks, host: str) -> dict[str, str]:
    """The events to install on a host, each with the unified event that it is for or stands in for.

    A file of rules or programs needs only the events of its rules, policies and programs, and on the programs' own agent the event that
    they are written for. Handlers in Python may be added later, and the user's or the machine's own file also serves the files of projects:
    these get the five core events as well.
    """
    chosen = [registration for registration in hooks.registrations if not registration.hosts or host in registration.hosts]
    if not hooks.grows:
        wanted = {_native(registration, host) or registration.event: registration.event for registration in chosen}
    else:
        wanted = {event: event for event in (*DEFAULT_EVENTS, *(registration.event for registration in chosen))}
    for_commands = {"PreToolUse": "PreToolUse"} if any(_sets(registration, host) for registration in hooks.registrations) else {}
    more = (for_commands, _for_background(hooks, host), _for_skills(hooks, host), _for_pauses(hooks, host), stand_ins_of(hooks, host))
    return {event: meant for events in (wanted, *more) for event, meant in events.items()}


def _sets(registration: Registration, host: str) -> bool:
    """Whether a program sets variables for commands on an agent that needs help with it: then it sees the agent's commands."""
    if not isinstance(registration, Wanted) or not sets_variables(registration, host):
        return False
    program = registration.handler
    assert isinstance(program, Program)
    dialect = dialect_of(program.dialect)
    event = sample("SessionStart", cwd=program.folder)
    variables = {**os.environ, **dialect.variables(event, project_of(event, program.folder))}
    return mentions(program.words(), program.folder, variables, dialect.ENV_FILE.encode())


def _for_pauses(hooks: Hooks, host: str) -> dict[str, str]:
    """A session that starts during a pause of the rules reports it, if the agent can show it."""
    if hooks.grows or isinstance(hooks, Manifest) or hooks.options.get("pausable") is False:
        return {}
    wire = wire_of(host)
    for name in (name for name, row in wire.EVENTS.items() if row.event == "SessionStart"):
        caps = wire.caps(wire.parse(load(host, "reverse").payload(sample("SessionStart"), name), name))
        if "honoured" in (caps["user_message"].kind, caps["additional_context"].kind):
            return {"SessionStart": "SessionStart"}
    return {}


def _for_background(hooks: Hooks, host: str) -> dict[str, str]:
    """The answer of a background program is delivered with the next prompt; with `wake`, it does not let the agent stop."""
    background = [program for program in _programs(hooks, host) if program.background]
    events = ["UserPromptSubmit"] if background else []
    return {event: event for event in [*events, *(["Stop"] if any(program.wake for program in background) else [])]}


def _for_skills(hooks: Hooks, host: str) -> dict[str, str]:
    """The events that start a skill. A new session ends it, and lets a program with `once` run again."""
    chosen = [program for program in _programs(hooks, host) if program.skills]
    rows = wire_of(host).EVENTS
    starts = [rows[name].event if name in rows else "PostToolUse" for name in wire_of(host).TRAITS.skills] if chosen else []
    again = ["SessionStart"] if starts or any(program.once for program in _programs(hooks, host)) else []
    return {event: event for event in [*again, *starts]}


def never_run(hooks: Hooks, host: str) -> dict[str, str]:
    """The programs that this agent never starts, each with the reason: no event there reports whether what they are for is active."""
    found: dict[str, str] = {}
    for program in _programs(hooks, host):
        if program.skills and not wire_of(host).TRAITS.skills:
            found[program.__name__] = "no event there reports that a skill starts"
        elif program.agent_types and not tells_type(host, program.event):
            found[program.__name__] = f"{program.event} does not report the kind of agent there"
    return found


def tells_type(host: str, event: str) -> bool:
    """Whether an event reports the kind of agent, or would if the host had the event."""
    config = load(host, "config")
    return event in config.TRAITS.agent_types or event not in config.EVENTS


def _programs(hooks: Hooks, host: str) -> list[Program]:
    found = [one.handler for one in hooks.registrations if isinstance(one, Wanted) and (not one.hosts or host in one.hosts)]
    return [program for program in found if isinstance(program, Program)]


def _native(registration: Registration, host: str) -> str:
    return own_event(registration.handler, host) if isinstance(registration, Wanted) else ""


def tools_of(hooks: Hooks) -> dict[str, str]:
    """The matchers of a manifest: event -> unified tools. An event that a program wants for every tool, or by a pattern, has none."""
    found: dict[str, list[str]] = {}
    for registration in hooks.registrations if isinstance(hooks, Manifest) else ():
        if any(_sets(registration, host) for host in HOSTS):
            found.setdefault("PreToolUse", []).append("Bash")
        program = registration.handler
        if isinstance(program, Program) and program.skills:
            natives = [name for host in HOSTS for name in wire_of(host).TRAITS.skills if name not in wire_of(host).EVENTS]
            found.setdefault("PostToolUse", []).extend(natives)
        if registration.event in TOOL_EVENTS:
            found.setdefault(registration.event, []).extend(registration.tools or ["*"])
        for host in HOSTS:  # an event that stands in for a program's event must pass the matcher too
            for native, row in wire_of(host).TRAITS.stand_ins.items():
                if row.event == registration.event:
                    found.setdefault(wire_of(host).EVENTS[native].event, []).append(row.tool or "*")
    named = {event: ["MCP" if name.startswith("mcp__") else name for name in names] for event, names in found.items()}
    plain = {event: names for event, names in named.items() if all(name.replace("_", "").replace(".", "").isalnum() for name in names)}
    return {event: "|".join(dict.fromkeys(names)) for event, names in plain.items() if event in TOOL_EVENTS}
