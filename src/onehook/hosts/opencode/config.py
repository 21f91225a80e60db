"""OpenCode: where our plugin goes and what is filled into it (1.18.33). There are no command hooks to configure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onehook.hostkit.config import (
    TOOL_EVENTS,
    Commands,
    Diagnosis,
    Found,
    Held,
    Machine,
    Place,
    Switches,
    Traits,
    Wish,
    no_slot,
    no_text_problems,
)
from onehook.hosts.opencode import wire

TITLE = "OpenCode"
BINARIES = ("opencode",)
FOLDERS = (".opencode", ".config/opencode")
EVENTS = {row.event: native for native, row in wire.EVENTS.items() if native != "session.deleted"}
HOST_IDS = ("opencode",)
PROJECT = '"${CLAUDE_PROJECT_DIR:-.}"'  # for who reads the entries; the plugin has no shell, and knows where it lies
slot = no_slot
text_problems = no_text_problems

TEMPLATE = Path(__file__).with_name("plugin.js")
FILE = "onehook.js"
LISTED = ".+"  # a matcher is a list of names for our plugin, and MCP is every tool that it does not know
_OPTIONS = "const OPTIONS = "
_PROJECT = "{project}"
# One unified event, two native ones: a session ends when it is deleted, or when the program does.
_ALSO = {"dispose": ("session.deleted",)}


def switches(names: Sequence[str], folders: Sequence[str], prefix: str) -> Switches:
    """names: of the agent's config files, without an ending; folders: in projects and in the home folder."""
    files = [f"{name}.{ending}" for name in names for ending in ("json", "jsonc")]
    inside = ["plugins", "plugin", *files]

    def paths(machine: Machine) -> list[Path]:
        user = machine.folder("XDG_CONFIG_HOME", ".config") / names[0]
        bases = [user, machine.folder(f"{prefix}_CONFIG_DIR", f".config/{names[0]}")]
        bases += [base / folder for base in (machine.project, machine.home) for folder in folders]
        own = [*(base / name for base in bases for name in inside), *(machine.project / name for name in files)]
        return [*own, managed(machine, names[0])]

    variables = ("PURE", "DISABLE_PROJECT_CONFIG", "CONFIG", "CONFIG_CONTENT", "CONFIG_DIR")
    return Switches(paths, ("plugin", "plug", "--pure"), tuple(f"{prefix}_{name}" for name in variables))


def managed(machine: Machine, host: str) -> Path:
    """The folder of the machine's config, whose files are read last."""
    return machine.system(f"/etc/{host}", f"/Library/Application Support/{host}", f"C:\\ProgramData\\{host}")


@dataclass(frozen=True)
class Plugin:
    """Our plugin in OpenCode, or in an agent that is built on it: where it goes, and what switches it off."""

    host: str

    def places(self, machine: Machine) -> list[Place]:
        user = machine.folder("XDG_CONFIG_HOME", ".config") / self.host
        return [
            Place("project", machine.project / f".{self.host}" / "plugins" / FILE, "own", machine.project, committed=True),
            Place("user", user / "plugins" / FILE, "own", user),
            Place("enterprise", managed(machine, self.host) / FILE, "own", managed(machine, self.host)),
        ]

    def content(self, place: Place, lines: Mapping[str, Commands], wish: Wish, machine: Machine) -> bytes:
        """The plugin with its options: one line of it is JSON, and that line is replaced."""
        native = [name for event in lines for name in (EVENTS[event], *_ALSO.get(EVENTS[event], ()))]
        matchers = {EVENTS[event]: _tools(wish.matcher(event)) for event in lines if event in TOOL_EVENTS and wish.matcher(event)}
        options = {
            "host": self.host,
            "command": _command(next(iter(lines.values())).words if lines else (), place, machine),
            "events": native,
            "tools": matchers,
            "known": [*wire.TOOLS, *wire.OTHERS],
            "timeout": wish.host_timeout,
            "fail": "closed" if wish.fail_closed else "open",
            "stopLimit": wish.stop_limit,
        }
        text = TEMPLATE.read_text(encoding="utf-8").splitlines()
        text = [_OPTIONS + json.dumps(options) if line.startswith(_OPTIONS) else line for line in text]
        return ("\n".join(text) + "\n").encode()

    def diagnose(self, machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
        prefix = self.host.upper()
        off = [f"{prefix}_PURE"] + ([f"{prefix}_DISABLE_PROJECT_CONFIG"] if place.scope == "project" else [])
        on = [variable for variable in off if ours and machine.variables.get(variable, "") not in ("", "0", "false")]
        return [Diagnosis("fail", f"{variable} switches plugins and their hooks off", f"unset {variable}") for variable in on]


def held(host: str) -> Held:
    """The machine's plugin has to be named. Seen with 1.18.33: /etc/opencode/opencode.json is read, and /etc/opencode/plugins is not."""

    def file(machine: Machine) -> Place:
        folder = managed(machine, host)
        return Place("enterprise", folder / f"{host}.json", "jsonc", folder)

    return Held(file, ("plugin",), level="fail", effect="it does not load the plugin, and no hook runs")


_PLUGIN = Plugin(wire.ID)
places, diagnose = _PLUGIN.places, _PLUGIN.diagnose
TRAITS = Traits(
    captured=("1.18.33",),
    longest_timeout=86400,  # of our plugin's own; seen with 1.18.33: a hook of eleven minutes is waited for, and its denial obeyed
    programs=(".opencode/bin/opencode",),
    shell_variables=("OPENCODE", "OPENCODE_PID"),
    reloads=False,  # seen with 1.18.33: without its hooks file, a session that runs is held to the policy
    own_content=_PLUGIN.content,
    guard="",  # the plugin denies if it cannot start the command
    held=held(wire.ID),
    listed=LISTED,
    also_listed=("MCP",),
    switches=switches(("opencode",), (".opencode",), "OPENCODE"),
)


def _command(words: tuple[str, ...], place: Place, machine: Machine) -> list[str]:
    """Without --event, which the payload says. What lies in the project is named from there, so that a clone works elsewhere."""
    at = words.index("--event") if "--event" in words else len(words)
    plain = [*words[:at], *words[at + 2 :]]
    if place.scope != "project":
        return plain
    folder = str(machine.project)
    return [_PROJECT + word[len(folder) :] if word.startswith((folder + "/", folder + "\\")) else word for word in plain]


def _tools(matcher: str) -> list[str]:
    names = [part.strip() for part in matcher.split("|")]
    native = [[name for name, tool in wire.TOOLS.items() if wanted in tool.names] or [wanted] for wanted in names]
    return list(dict.fromkeys(name for group in native for name in group))


def options_in(text: Any) -> dict[str, Any]:
    """The options of a plugin file that install wrote; {} of any other."""
    for line in text.splitlines() if isinstance(text, str) else ():
        if line.startswith(_OPTIONS):
            try:
                options = json.loads(line[len(_OPTIONS) :])
            except ValueError:
                return {}
            return options if isinstance(options, dict) else {}
    return {}


def found(data: Any) -> Iterator[Found]:
    """An entry for each event that the plugin forwards, with the command as a shell would have it."""
    options = options_in(data)
    words = [word for word in options.get("command", ()) if isinstance(word, str)]
    quoted = [f"{PROJECT}/{shlex.quote(word[len(_PROJECT) + 1 :])}" if word.startswith(_PROJECT) else shlex.quote(word) for word in words]
    tools = options.get("tools")
    for index, event in enumerate(options.get("events", ()) if words else ()):
        named = tools.get(event) if isinstance(tools, dict) else None
        yield Found(event, ("events", index), " ".join(quoted), event, "|".join(map(str, named)) if isinstance(named, list) else "")


def problems(data: Any) -> list[str]:
    return [] if options_in(data) else ["this is not the plugin that onehook writes; OpenCode loads it anyway"]
