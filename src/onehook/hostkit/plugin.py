"""onehook's plugin in an agent without command hooks: a file that only onehook writes, made of plugin.js, which all such agents share, of
connection.js in resident mode, and of the host's own plugin.js. One line of it is JSON, and holds what install chose."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from onehook.hostkit.config import TOOL_EVENTS, Commands, Found, Machine, Place, Wish
from onehook.hostkit.effects import Row
from onehook.hostkit.tools import Tool

SHARED = Path(__file__).with_name("plugin.js")
CONNECTION = Path(__file__).with_name("connection.js")
FILE = "onehook.js"
LISTED = ".+"  # our plugin treats a matcher as a list of names, and MCP as every tool that it does not know
PROJECT = '"${CLAUDE_PROJECT_DIR:-.}"'  # for readers of the entries; the plugin uses no shell, and knows where it is
_OPTIONS = "const OPTIONS = "
_PROJECT = "{project}"


class Tables(Protocol):
    """What the plugin needs to know about a host's wire."""

    @property
    def ID(self) -> str: ...
    @property
    def EVENTS(self) -> Mapping[str, Row]: ...
    @property
    def TOOLS(self) -> Mapping[str, Tool]: ...


@dataclass(frozen=True)
class Plugin:
    """`own`: the host's part of the file. `also`: native event -> others that are the same unified event and are installed with it.
    `others`: the agent's tools that are not in TOOLS; a tool in neither list belongs to an MCP server."""

    wire: Tables
    own: Path
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    @property
    def events(self) -> dict[str, str]:
        """Unified event -> the native one that is installed for it."""
        beside = {native for others in self.also.values() for native in others}
        return {row.event: native for native, row in self.wire.EVENTS.items() if native not in beside}

    def template(self, resident: bool = False) -> str:
        parts = [SHARED, *([CONNECTION] if resident else []), self.own]
        return "\n".join(part.read_text(encoding="utf-8") for part in parts)

    def content(self, place: Place, lines: Mapping[str, Commands], wish: Wish, machine: Machine) -> bytes:
        """The file, for Traits.own_content."""
        events = self.events
        command = next(iter(lines.values()), Commands("", "", ""))
        options = {
            "host": self.wire.ID,
            "command": _command(command.words, place, machine),
            "events": [name for event in lines if event in events for name in (events[event], *self.also.get(events[event], ()))],
            "gates": [native for native, row in self.wire.EVENTS.items() if row.gates],
            "tools": self._matchers(lines, wish),
            "known": [*self.wire.TOOLS, *self.others],
            "timeout": wish.host_timeout,
            "fail": "closed" if wish.fail_closed else "open",
            "stopLimit": wish.stop_limit,
            **({"client": command.client} if command.client else {}),
        }
        template = self.template(bool(command.client)).splitlines()
        written = (_OPTIONS + json.dumps(options) if line.startswith(_OPTIONS) else line for line in template)
        return ("\n".join(written) + "\n").encode()

    def _matchers(self, lines: Mapping[str, Commands], wish: Wish) -> dict[str, list[str]]:
        events = self.events
        return {events[event]: self._tools(wish.matcher(event)) for event in lines if event in TOOL_EVENTS and wish.matcher(event)}

    def _tools(self, matcher: str) -> list[str]:
        names = [part.strip() for part in matcher.split("|")]
        native = [[name for name, tool in self.wire.TOOLS.items() if wanted in tool.names] or [wanted] for wanted in names]
        return list(dict.fromkeys(name for group in native for name in group))


def _command(words: tuple[str, ...], place: Place, machine: Machine) -> list[str]:
    """The command without --event, since the payload names the event. Paths in the project are relative, so that a clone works."""
    at = words.index("--event") if "--event" in words else len(words)
    plain = [*words[:at], *words[at + 2 :]]
    if place.scope != "project":
        return plain
    folder = str(machine.project)
    return [_PROJECT + word[len(folder) :] if word.startswith((folder + "/", folder + "\\")) else word for word in plain]


def options_in(text: Any) -> dict[str, Any]:
    """The options in a plugin file that install wrote; {} for any other file."""
    for line in text.splitlines() if isinstance(text, str) else ():
        if line.startswith(_OPTIONS):
            try:
                options = json.loads(line[len(_OPTIONS) :])
            except ValueError:
                return {}
            return options if isinstance(options, dict) else {}
    return {}


def found(data: Any) -> Iterator[Found]:
    """An entry for each event that the plugin forwards, with the command as a shell would take it."""
    options = options_in(data)
    words = [word for word in options.get("command", ()) if isinstance(word, str)]
    quoted = [f"{PROJECT}/{shlex.quote(word[len(_PROJECT) + 1 :])}" if word.startswith(_PROJECT) else shlex.quote(word) for word in words]
    tools = options.get("tools")
    for index, event in enumerate(options.get("events", ()) if words else ()):
        named = tools.get(event) if isinstance(tools, dict) else None
        yield Found(event, ("events", index), " ".join(quoted), event, "|".join(map(str, named)) if isinstance(named, list) else "")


def foreign(data: Any, title: str) -> list[str]:
    """`problems` of a host whose hooks are in onehook's plugin."""
    return [] if options_in(data) else [f"this is not the plugin that onehook writes, but {title} still loads it"]
