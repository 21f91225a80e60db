"""docs/reference.md: the API, the events, the tools and the verbs, from the code, the hosts' tables and the schemas in docs/schema.

Written by `python -m onehook.docgen.matrix`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

import onehook
from onehook.cli import EXIT_CODES, VERBS, main
from onehook.core import EVENTS, EXTENDED_EVENTS, STOPS, TOOLS, Change, Hooks, Mcp, Options, Response, Result
from onehook.docgen.host_pages import event_of
from onehook.hosts import HOSTS, wire_of
from onehook.state import State

# The common events; a test checks that none is missing. Extended events belong to single agents, and are not described.
ABOUT_EVENTS = {
    "SessionStart": "a session starts, is resumed or cleared (`source`)",
    "PreToolUse": "the agent is about to call a tool",
    "PostToolUse": "a tool has run",
    "UserPromptSubmit": "the user has sent a prompt",
    "Stop": "the agent is about to end its turn; a deny keeps it working",
    "SessionEnd": "a session has ended",
    "PostToolUseFailure": "a tool has failed",
    "PermissionRequest": "the agent is about to ask the user for permission",
    "SubagentStart": "a subagent starts",
    "SubagentStop": "a subagent is about to end; a deny keeps it working",
    "PreCompact": "the session is about to be compacted",
    "Notification": "the agent notifies the user",
    "AgentResponse": "the model has answered",
}
OPTION = re.compile(r"^(\w+) {2,}(.+)$", re.MULTILINE)  # a line of the table in the docstring of Hooks
STATE = (
    "`event.session` and `event.project` are mappings of JSON values that last from event to event. They have the methods of a dict, and "
    "`increment`; see [policies.md](policies.md#eventsession-and-eventproject)."
)
DENIED = (
    "On the other agents, a deny becomes feedback to the model, or is dropped with a warning; [matrix.md](matrix.md) lists what each event "
    "of each agent supports."
)
Rows = Iterable[tuple[str, ...]]
# The schemas describe JSON, for programs; a handler gets these types instead.
PYTHON_TYPES = {
    "changes": "`list[Change]`",
    "mcp": "`Mcp` or `None`",
    "modified_output": "`str`, a function or `None`",
    "paths": "`list[str]`",
    "result": "`Result`",
    "tool_response": "any",
}


def page(root: Path) -> str:
    """The whole page. root: the repository, for the schemas."""
    event, response = (
        json.loads((root / "docs" / "schema" / f"{name}.json").read_text(encoding="utf-8")) for name in ("event", "response")
    )
    parts = [
        "# Reference",
        "",
        "Generated from the code by `python -m onehook.docgen.matrix`. For a tutorial, see [writing-policies.md](writing-policies.md).",
        *_section("Hooks", _described(Hooks, Hooks.on, Hooks.use, Hooks.dispatch, onehook.define_hook, onehook.run)),
        *_section(
            "Options", "Set them in `Hooks(...)`, in `run(hooks, ...)`, in a manifest, or on the command line, which wins.", _options()
        ),
        *_section("Answers", _described(onehook.allow, onehook.deny, onehook.ask)),
        *_section("Response", _described(Response), _fields(response)),
        *_section("Event", _described(onehook.Event), _fields(event)),
        *_section("Result, Change and Mcp", _described(Result, Change, Mcp)),
        *_section("State", STATE, _described(State.increment)),
        *_section("Unified events", _events(EVENTS), DENIED),
        *_section("Extended events", "Events that only some agents have, under the names that those agents use.", _extended()),
        *_section("Unified tools", "A handler for a unified tool gets the calls of these tools.", _tools()),
        *_section(
            "Command line",
            "`onehook VERB --help` describes the options of a verb. `--hosts` chooses agents on every verb that takes some.",
            table(("verb", "what it does", "`--json`"), [(f"`{verb}`", text, _has_json(verb)) for verb, text in VERBS.items()]),
        ),
        *_section("Exit codes", *_exit_codes()),
    ]
    return "\n".join(parts) + "\n"


def _section(title: str, *parts: str) -> list[str]:
    return ["", f"## {title}", *(line for part in parts for line in ("", part))]


def table(heads: tuple[str, ...], rows: Rows) -> str:
    return "\n".join([_row(heads), "|" + "---|" * len(heads), *map(_row, rows)])


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _described(*things: Any) -> str:
    return "\n\n".join(f"```python\n{_signature(thing)}\n```\n\n{_summary(thing)}" for thing in things)


def _summary(thing: Any) -> str:
    """The docstring without its table of options, which is a separate section."""
    blocks = (inspect.getdoc(thing) or "").split("\n\n")
    return "\n\n".join(block for block in blocks if not OPTION.search(block))


def _signature(thing: Any) -> str:
    """The signature as in the source. (str() of a signature differs between versions of Python.)"""
    given = inspect.signature(thing)
    shown: list[str] = []
    for name, one in given.parameters.items():
        if one.kind is one.KEYWORD_ONLY and not any(part.startswith("*") for part in shown):
            shown.append("*")
        star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
        default = "" if one.default is one.empty else f" = {one.default!r}"
        shown += [] if name == "self" else [f"{star}{name}: {one.annotation}{default}"]
    returned = "" if isinstance(thing, type) else f" -> {given.return_annotation}"
    name = thing.__qualname__.replace("Hooks.", "hooks.").replace("State.", "event.session.")
    return f"{name}({', '.join(shown)}){returned}"


def _options() -> str:
    about = dict(OPTION.findall(re.sub(r"\n {4,}", " ", inspect.getdoc(Hooks) or "")))
    rows = [(f"`{name}`", f"`{Options.DEFAULTS[name]!r}`", text) for name, text in about.items()]
    return table(("option", "default", "meaning"), rows)


def _fields(schema: dict[str, Any]) -> str:
    rows = [(f"`{name}`", PYTHON_TYPES.get(name) or _type(field), _meaning(name, field)) for name, field in schema["properties"].items()]
    return table(("field", "type", "meaning"), rows)


def _meaning(name: str, field: dict[str, Any]) -> str:
    """A field's description for Python, where null is None, and a result is never missing."""
    text = field.get("description", "")
    return text.replace("null on", "empty on") if name == "result" else re.sub(r"\bnull\b", "None", text)


def _type(field: dict[str, Any]) -> str:
    kinds = {"string": "str", "object": "dict", "array": "list", "boolean": "bool", "integer": "int", "null": "None"}
    given = field.get("type", [])
    named = [kinds[kind] for kind in ([given] if isinstance(given, str) else given)]
    if "enum" in field:
        named = ["str", *(["None"] if None in field["enum"] else [])]
    return " or ".join(f"`{kind}`" for kind in named) or "any"


def _hosts_with(event: str) -> list[str]:
    return [host for host in HOSTS if any(row.event == event for row in wire_of(host).EVENTS.values())]


def _events(names: Iterable[str]) -> str:
    rows = []
    for name in names:
        hosts = _hosts_with(name)
        lacking = [host for host in HOSTS if host not in hosts]
        where = "all" if not lacking else f"all except {', '.join(lacking)}" if len(lacking) < len(hosts) else ", ".join(hosts)
        denied = [host for host in hosts if _denies(host, name)]
        rows.append((f"`{name}`", ABOUT_EVENTS[name], where, "all of them" if denied == hosts else ", ".join(denied)))
    return table(("event", "when", "agents", "a deny takes effect on"), rows)


def _denies(host: str, name: str) -> bool:
    """Whether a deny of this event prevents it on an agent; for a stop, whether it keeps the agent working."""
    wire = wire_of(host)
    natives = [native for native, row in wire.EVENTS.items() if row.event == name]
    if name in STOPS:
        return any(wire.caps(event_of(host, native))["deny"].kind == "honoured" for native in natives)
    return any(wire.EVENTS[native].gates for native in natives)


def _has_json(verb: str) -> str:
    command = main.get_command(click.Context(main), verb)
    return "yes" if command and any("--json" in option.opts for option in command.params) else ""


def _extended() -> str:
    return table(("event", "agents"), [(f"`{name}`", ", ".join(_hosts_with(name))) for name in EXTENDED_EVENTS])


def _tools() -> str:
    rows = []
    for name in TOOLS:
        native = {host: [own for own, tool in wire_of(host).TOOLS.items() if name in tool.names] for host in HOSTS}
        shown = "; ".join(f"{host}: {', '.join(f'`{own}`' for own in owns)}" for host, owns in native.items() if owns)
        rows.append((f"`{name}`", shown or "tools of MCP servers: `mcp__server__tool`"))
    return table(("tool", "the agents' own names"), rows)


def _exit_codes() -> tuple[str, str]:
    rest = (
        "These apply to all verbs but two: `run` exits as its agent expects from a hook, and `record` passes on the exit code of the agent "
        "that it starts. `--json` prints JSON on stdout with the same exit codes; messages go to stderr."
    )
    return table(("code", "meaning"), [(str(code), meaning) for code, meaning in EXIT_CODES.items()]), rest
