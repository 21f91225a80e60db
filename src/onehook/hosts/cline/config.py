"""Cline: where our plugin goes, and what keeps it from being loaded (CLI 3.0.65).

Cline's hooks are files as well, but if one denies, the run ends without a reason (see wire.py). They are only read, for import.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit.config import Diagnosis, Found, Machine, Place, Switches, Traits, no_slot
from onehook.hostkit.plugin import FILE, LISTED, PROJECT, Plugin, foreign, found
from onehook.hosts.cline import wire
from onehook.jsonc import read_jsonc

__all__ = [
    "BINARIES", "EVENTS", "FOLDERS", "PROJECT", "TITLE", "TRAITS", "diagnose", "found", "places", "problems", "slot", "text_problems",
]  # fmt: skip

TITLE = "Cline"
BINARIES = ("cline",)
FOLDERS = (".cline", ".clinerules")
slot = no_slot
PLUGIN = Plugin(wire, Path(__file__).with_name("plugin.js"), {"TaskStart": ("TaskResume",)}, wire.OTHERS)
EVENTS = {event: native for event, native in PLUGIN.events.items() if native not in wire.FILES_ONLY}
_RUNTIME = "CLINE_JS_RUNTIME_PATH"
LOADING = "CLINE_PLUGIN_IMPORT_TIMEOUT_MS"
_ENOUGH = 20_000  # milliseconds


def _folder(machine: Machine) -> Path:
    return machine.folder("CLINE_DIR", ".cline")


def _settings(machine: Machine) -> Path:
    named = machine.variables.get("CLINE_GLOBAL_SETTINGS_PATH")
    data = machine.variables.get("CLINE_DATA_DIR")
    return Path(named) if named else (Path(data) if data else _folder(machine) / "data") / "settings" / "global-settings.json"


def places(machine: Machine) -> list[Place]:
    """The CLI looks for .cline in the folder that it works in. There is no machine-wide file."""
    user = _folder(machine)
    return [
        Place("project", machine.project / ".cline" / "plugins" / FILE, "own", machine.project, committed=True),
        Place("user", user / "plugins" / FILE, "own", machine.scope_of(user)),
    ]


def hook_files(machine: Machine, scope: str) -> list[Place]:
    """Cline's own hooks, which are files named after an event."""
    folders = {
        "project": [machine.project / ".clinerules" / "hooks", machine.project / ".cline" / "hooks"],
        "user": [machine.home / "Documents" / "Cline" / "Hooks", _folder(machine) / "hooks"],
    }.get(scope, [])
    root = machine.project if scope == "project" else machine.home
    files = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir()) if path.is_file()]
    return [Place(scope, path, "own", root) for path in files]


def problems(data: Any) -> list[str]:
    return []


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    return foreign(data, TITLE) if place.path.name == FILE and text else []


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    return [*_disabled(machine, place), *_without_node(machine), *_in_a_hurry(machine), *_ending_runs(machine, place.scope)] if ours else []


def _disabled(machine: Machine, place: Place) -> Iterator[Diagnosis]:
    path = _settings(machine)
    listed = read_jsonc(path).get("disabledPlugins")
    if isinstance(listed, list) and str(place.path) in listed:
        yield Diagnosis("fail", f"{path} disables onehook's plugin: no hook runs", f"remove {place.path} from disabledPlugins in {path}")


def _without_node(machine: Machine) -> Iterator[Diagnosis]:
    """Seen with 3.0.65: without node on PATH it drops every plugin, reports that only in its log, and continues."""
    if not machine.variables.get(_RUNTIME) and not machine.which("node"):
        why = "Cline runs plugins with node, which is not on PATH here: it continues without them, and no hook runs"
        yield Diagnosis("fail", why, f"install Node.js, or name it in {_RUNTIME}")


def _in_a_hurry(machine: Machine) -> Iterator[Diagnosis]:
    """Seen with 3.0.65 on a busy machine: "plugin loading failed; continuing without plugins (call timed out after 4000ms)"."""
    said = machine.variables.get(LOADING, "")
    if not said.isdigit() or int(said) < _ENOUGH:
        why = "Cline continues without plugins, and so without hooks, if loading them takes more than 4 s, as on a busy machine"
        yield Diagnosis("warn", why, f"give it more time: export {LOADING}=60000")


def _ending_runs(machine: Machine, scope: str) -> Iterator[Diagnosis]:
    """Hook files of other origin, which run as well."""
    for place in hook_files(machine, scope):
        if place.path.stem.lower() == "pretooluse":
            yield Diagnosis(
                "note", f"{place.path} runs too, and ends the whole run if it cancels", "import it: onehook import --from cline"
            )


def _switches(machine: Machine) -> list[Path]:
    bases = (machine.project / ".cline", _folder(machine), machine.home / ".cline")
    return [*(base / "plugins" for base in bases), machine.home / "Documents" / "Cline" / "Plugins", _settings(machine)]


TRAITS = Traits(
    captured=("3.0.65",),
    longest_timeout=3,  # seen with 3.0.65, not configurable; our plugin denies what takes longer than 2.5 s, else the run would fail
    shell_variables=("CLINE_CONNECTOR_CLI_LAUNCH",),
    reloads=False,
    own_content=PLUGIN.content,
    guard="",  # the plugin denies if it cannot start the command
    listed=LISTED,
    also_listed=("MCP",),
    read_from=hook_files,
    switches=Switches(
        _switches,
        ("plugin", "config", "--config", "--data-dir"),
        ("CLINE_DIR", "CLINE_DATA_DIR", "CLINE_GLOBAL_SETTINGS_PATH", _RUNTIME, LOADING),
    ),
)
