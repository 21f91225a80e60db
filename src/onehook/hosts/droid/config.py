"""Factory Droid: where hooks are configured, what an entry looks like, and trust (0.225.2).

Seen with `droid exec -m custom:... PROMPT`, where each of these faults silently switches hooks off and the tool runs. hooks.json has the
events at its top level; with a "hooks" around them, as settings.json needs, nothing is loaded. hooks.json hides the hooks in
settings.json for the same event, and everything in the older hooks/hooks.json.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.droid import wire
from onehook.jsonc import read_jsonc

TITLE = "Factory Droid"
BINARIES = ("droid",)
FOLDERS = (".factory",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
PROJECT = ""  # hooks start where Droid was started, and its variables name that folder, which may be below the project's

WRAPPED = "settings.json"
_DROPPED = "Droid ignores all hooks of the file"


def places(machine: Machine) -> list[Place]:
    user = machine.folder("FACTORY_HOME_OVERRIDE", "") / ".factory"
    system = machine.system(
        "/etc/factory/settings.json", "/Library/Application Support/Factory/settings.json", "C:\\Program Files\\Factory\\settings.json"
    )
    return [
        *_in_use("project", machine.project / ".factory", machine.project),
        *_in_use("user", user, machine.scope_of(user)),
        Place("enterprise", system, "jsonc", system.parent),
    ]


def _in_use(scope: str, folder: Path, root: Path) -> list[Place]:
    """The file whose hooks Droid reads comes first: a new hooks.json would hide the hooks in the others."""
    names = ("hooks.json", "hooks/hooks.json", WRAPPED)
    new, old, settings = (Place(scope, folder / name, "jsonc", root, committed=scope == "project") for name in names)
    if new.path.exists():
        return [new, settings]
    if old.path.exists():
        return [old, settings]
    return [settings, new] if _events(read_jsonc(settings.path).get("hooks")) else [new, settings]


def _events(hooks: Any) -> dict[str, Any]:
    """The events in a map that have hooks."""
    return {name: groups for name, groups in hooks.items() if name in wire.EVENTS and groups} if isinstance(hooks, dict) else {}


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    command = commands.cmd if windows and commands.cmd else commands.posix
    handler = {"type": "command", "command": command, "timeout": wish.host_timeout}
    tools = kit.anchored(kit.native_tools(wish.matcher(event), wire.TOOLS, f".+{wire.MCP_JOINT}.+"))
    return kit.grouped_slot(event, EVENTS[event], handler, tools)


def _slot_in(place: Place, path: tuple[str, ...]) -> tuple[str, ...]:
    """In hooks.json the events have nothing around them."""
    return path if place.path.name == WRAPPED else path[1:]


TRAITS = Traits(
    shell=("sh", "-c"),
    captured=("0.225.2",),
    longest_timeout=86400,  # seen with 0.225.2: it then waits for a hook that takes eleven minutes, and obeys its denial
    reloads=True,  # seen with 0.225.2: without hooks.json, the next command of the same session runs without hooks
    slot_in=_slot_in,
    switches=Switches(
        files=lambda machine: [
            *(
                folder / name
                for folder in (machine.project / ".factory", machine.folder("FACTORY_HOME_OVERRIDE", "") / ".factory")
                for name in ("hooks/hooks.json", "settings.local.json", "plugins")
            ),
            machine.system("/etc/factory", "/Library/Application Support/Factory", "C:\\Program Files\\Factory"),
        ],
        words=("plugin", "--settings"),
    ),
)


def found(data: Any) -> Iterator[Found]:
    """The entries of either kind of file."""
    yield from kit.grouped(data)
    for entry in kit.grouped({"hooks": _events(data)}):
        yield Found(entry.event, entry.path[1:], entry.command, entry.item, entry.matcher)


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    """Comments do no harm; a byte order mark and a trailing comma do."""
    wrong = [*kit.byte_order_mark(TITLE, text), *kit.trailing_commas(text, _DROPPED)]
    if place.path.name == WRAPPED or not isinstance(data, dict):
        return wrong
    if "hooks" in data and not _events(data):
        wrong.append(
            'the events are below "hooks", as in settings.json; in this file Droid reads them at the top level only: remove "hooks"'
        )
    settings = _beside(place) / WRAPPED
    hidden = [name for name in _events(read_jsonc(settings).get("hooks")) if name in _events(data)]
    if hidden:
        wrong.append(f"Droid runs the {', '.join(hidden)} hooks of this file instead of those in {settings}: move those here")
    return wrong


def _beside(place: Place) -> Path:
    """The .factory folder of a hooks file."""
    folder = place.path.parent
    return folder.parent if folder.name == "hooks" else folder


def problems(data: Any) -> list[str]:
    """What makes Droid drop all hooks of a file."""
    if not isinstance(data, dict):
        return [f"the file is not a JSON object; {_DROPPED}"]
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        return [f'"hooks" is not an object; {_DROPPED}']
    maps = [hooks, data]
    faults = [fault for table in maps for name in wire.EVENTS if name in table for fault in _faults(name, table[name])]
    switches = [name for table in maps for name in ("hooksDisabled", "showHookOutput") if not isinstance(table.get(name, True), bool)]
    return [*faults, *(f'"{name}" must be true or false; {_DROPPED}' for name in switches)]


def _faults(event: str, groups: Any) -> list[str]:
    dropped = kit.entry_faults(event, groups, lambda group: kit.group_fault(group, _handler_fault, ("command",)), _DROPPED)
    return dropped or kit.entry_faults(event, groups, _pattern_fault, "Droid never runs its hooks")


def _pattern_fault(group: dict[str, Any]) -> str:
    return "" if group.get("matcher") == "*" else kit.matcher_fault(group)


def _handler_fault(handler: dict[str, Any]) -> str:
    if not isinstance(handler.get("command"), str):
        return 'a hook needs a string "command"'
    timeout = handler.get("timeout", 1)
    return "" if isinstance(timeout, (int, float)) and not isinstance(timeout, bool) else '"timeout" must be a number of seconds'


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    diagnoses = [*_switched_off(machine, place, data), *_hidden(place, ours)]
    if place.scope == "enterprise" and kit.table_at(data).get("allowManagedHooksOnly") is True and not ours:
        text = f"allowManagedHooksOnly is on in {place.path}: only its hooks run"
        diagnoses.append(Diagnosis("fail", text, "onehook install POLICY --scope enterprise"))
    if any(entry.event == "UserPromptSubmit" for entry in ours):
        text = "`droid exec PROMPT` runs no hook for its prompt: a policy for UserPromptSubmit applies to sessions only"
        diagnoses.append(Diagnosis("note", text))
    return diagnoses


def _switched_off(machine: Machine, place: Place, data: Any) -> list[Diagnosis]:
    """hooksDisabled switches off the hooks of every file; the project's setting overrides the user's."""
    if _switch(place, data) is not True:
        return []
    nearer = [other for other in places(machine) if place.scope == "user" and other.scope == "project"]
    if any(_switch(other, read_jsonc(other.path)) is False for other in nearer):
        return []
    return [Diagnosis("fail", f"hooksDisabled is on in {place.path}: no hooks run", f"set hooksDisabled to false in {place.path}")]


def _switch(place: Place, data: Any) -> object:
    return (kit.table_at(data, "hooks") if place.path.name == WRAPPED else kit.table_at(data)).get("hooksDisabled")


def _hidden(place: Place, ours: list[Found]) -> list[Diagnosis]:
    """onehook's entries in settings.json that a hooks.json next to it overrides."""
    if place.path.name != WRAPPED or place.scope == "enterprise":
        return []
    files = [place.path.parent / name for name in ("hooks.json", "hooks/hooks.json")]
    read = next((path for path in files if path.exists()), None)
    hidden = [entry.event for entry in ours if read is not None and entry.event in _events(read_jsonc(read))]
    if not hidden:
        return []
    text = f"{read} has hooks for {', '.join(hidden)} too, and Droid runs those instead of the ones in {place.path}"
    where = f"--hosts droid --scope {place.scope}"
    return [Diagnosis("fail", text, f"onehook uninstall {where} && onehook install POLICY {where}")]
