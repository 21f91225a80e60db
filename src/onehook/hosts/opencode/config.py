"""OpenCode: where our plugin goes and what is filled into it (1.18.33). There are no command hooks to configure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Diagnosis, Found, Held, Machine, Place, Switches, Traits, no_slot, no_text_problems
from onehook.hostkit.plugin import FILE, LISTED, PROJECT, Plugin, Tables, foreign, found
from onehook.hosts.opencode import wire

__all__ = [
    "BINARIES", "EVENTS", "FOLDERS", "PROJECT", "TITLE", "TRAITS", "diagnose", "found", "places", "problems", "slot", "text_problems",
]  # fmt: skip

TITLE = "OpenCode"
BINARIES = ("opencode",)
FOLDERS = (".opencode", ".config/opencode")
slot = no_slot
text_problems = no_text_problems


def switches(names: Sequence[str], folders: Sequence[str], prefix: str) -> Switches:
    """names: the agent's config files, without extension; folders: those in projects and in the home folder."""
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
class Agent:
    """OpenCode, or an agent that is built on it: where our plugin goes, and what switches it off."""

    plugin: Plugin

    def places(self, machine: Machine) -> list[Place]:
        host = self.plugin.wire.ID
        user = machine.folder("XDG_CONFIG_HOME", ".config") / host
        return [
            Place("project", machine.project / f".{host}" / "plugins" / FILE, "own", machine.project, committed=True),
            Place("user", user / "plugins" / FILE, "own", user),
            Place("enterprise", managed(machine, host) / FILE, "own", managed(machine, host)),
        ]

    def diagnose(self, machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
        prefix = self.plugin.wire.ID.upper()
        off = [f"{prefix}_PURE"] + ([f"{prefix}_DISABLE_PROJECT_CONFIG"] if place.scope == "project" else [])
        on = [variable for variable in off if ours and machine.variables.get(variable, "") not in ("", "0", "false")]
        return [Diagnosis("fail", f"{variable} switches plugins and their hooks off", f"unset {variable}") for variable in on]


def held(host: str) -> Held:
    """The machine's config must name its plugin. Seen with 1.18.33: /etc/opencode/opencode.json is read, /etc/opencode/plugins is not."""

    def file(machine: Machine) -> Place:
        folder = managed(machine, host)
        return Place("enterprise", folder / f"{host}.json", "jsonc", folder)

    return Held(file, ("plugin",), level="fail", effect="it does not load the plugin, and no hook runs")


def plugin_of(tables: Tables) -> Plugin:
    """One unified event has two native ones: a session ends when it is deleted, or when the program ends."""
    return Plugin(tables, Path(__file__).with_name("plugin.js"), {"dispose": ("session.deleted",)}, wire.OTHERS)


PLUGIN = plugin_of(wire)
EVENTS = PLUGIN.events
_AGENT = Agent(PLUGIN)
places, diagnose = _AGENT.places, _AGENT.diagnose
TRAITS = Traits(
    captured=("1.18.33",),
    longest_timeout=86400,  # our plugin's own limit; seen with 1.18.33: it waits for a hook that takes eleven minutes, and obeys its denial
    programs=(".opencode/bin/opencode",),
    shell_variables=("OPENCODE", "OPENCODE_PID"),
    reloads=False,  # seen with 1.18.33: a running session keeps to the policy even if its hooks file is removed
    own_content=PLUGIN.content,
    guard="",  # the plugin denies if it cannot start the command
    held=held(wire.ID),
    listed=LISTED,
    also_listed=("MCP",),
    switches=switches(("opencode",), (".opencode",), "OPENCODE"),
)


def problems(data: Any) -> list[str]:
    return foreign(data, TITLE)
