"""Qwen Code: where hooks are configured, what an entry looks like, and trust (0.24.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.qwen import wire
from onehook.jsonc import read_jsonc

TITLE = "Qwen Code"
BINARIES = ("qwen",)
FOLDERS = (".qwen",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
PROJECT = "."  # hooks start in the folder that QWEN_PROJECT_DIR names; variables in settings are replaced when Qwen Code starts
TRAITS = Traits(
    captured=("0.24.4",),
    # Whatever an entry sets, 0.24.4 waits 60 s for the hooks of a call, and then runs the tool. Seen with a timeout of a day.
    longest_timeout=60,
    shell_variables=("QWEN_CODE", "QWEN_CODE_SESSION_ID"),
    reloads=False,  # seen with 0.24.4: a running session keeps to the policy even if its hooks file is removed
    shell=("bash", "-c"),
    listed=r"\w+(\|\w+)*",
    also_listed=("Bash", "Read", "Write", "Edit"),
    # Seen with 0.24.4: a user's or project's `disableAllHooks` switches off the machine's hooks, unless the machine's file sets it.
    held=kit.Held(lambda machine: places(machine)[-1], ("disableAllHooks",), False),
    switches=Switches(
        files=lambda machine: [
            *(
                folder / name
                for folder in (machine.project / ".qwen", machine.folder("QWEN_HOME", ".qwen"))
                for name in ("extensions", ".env")
            ),
            machine.system_file(
                "QWEN_CODE_SYSTEM_DEFAULTS_PATH", "/etc/qwen-code", "/Library/Application Support/QwenCode", "C:\\ProgramData\\qwen-code"
            ),
        ],
        words=("hooks", "extensions", "--bare", "--safe-mode"),
        variables=("QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"),
    ),
    agent_types=("SubagentStart", "SubagentStop"),
)
found = kit.grouped

_TYPES = ("command", "http", "function", "prompt")
_NEEDS = {"command": "command", "http": "url", "prompt": "prompt"}
_NOT_EVENTS = ("enabled", "disabled", "notifications")


def places(machine: Machine) -> list[Place]:
    user, system = machine.folder("QWEN_HOME", ".qwen"), _system_file(machine)
    return [
        Place("project", machine.project / ".qwen" / "settings.json", "jsonc", machine.project, committed=True),
        Place("user", user / "settings.json", "jsonc", user),
        Place("enterprise", system, "jsonc", system.parent),
    ]


def _system_file(machine: Machine) -> Path:
    return machine.system_file(
        "QWEN_CODE_SYSTEM_SETTINGS_PATH",
        "/etc/qwen-code/settings.json",
        "/Library/Application Support/QwenCode/settings.json",
        "C:\\ProgramData\\qwen-code\\settings.json",
    )


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    # No "name": if two entries for one event have the same name, Qwen Code drops the second, so only one of two policies would run.
    handler: dict[str, Any] = {"type": "command", "command": commands.powershell if windows else commands.posix}
    if windows:
        handler["shell"] = "powershell"
    # Milliseconds are the unit up to 0.22; since then it is seconds, but values from 1000 up are still read as milliseconds.
    handler["timeout"] = wish.host_timeout * 1000
    return kit.grouped_slot(event, EVENTS[event], handler, kit.anchored(kit.native_tools(wish.matcher(event), wire.TOOLS, "mcp__.*")))


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    """Comments and a byte order mark do no harm. Seen with 0.24.4, `qwen -p ... --yolo`: with a trailing comma a project's file
    becomes settings.json.corrupted, a new one without hooks replaces it, and the tool silently runs; with one in the user's file Qwen Code
    ends with exit code 1."""
    aside = f"Qwen Code sets the whole file aside as {place.path.name}.corrupted and runs without its hooks"
    return kit.trailing_commas(text, aside if place.scope == "project" else "Qwen Code does not start with it")


def problems(data: Any) -> list[str]:
    """What makes Qwen Code set the file aside, or silently drop an entry of it."""
    return kit.grouped_faults(data, "the file is not a JSON object; Qwen Code ignores all of it", _TYPES, _handler_fault, _effect)


def _effect(event: str) -> str:
    return "" if event in _NOT_EVENTS else "Qwen Code drops the entry"


def _handler_fault(handler: dict[str, Any]) -> str:
    needed = _NEEDS.get(handler["type"])
    if needed and not (isinstance(handler.get(needed), str) and handler[needed]):
        return f'a {handler["type"]} hook needs a string "{needed}"'
    return ""


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    diagnoses = kit.all_hooks_off(place.path, data)
    for variable in ("QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"):
        if machine.variables.get(variable, "").lower() in ("1", "true", "yes", "on"):
            diagnoses.append(Diagnosis("fail", f"{variable} disables hooks", f"unset {variable}"))
    for entry, timeout in kit.below_a_second(ours):
        text = f"the {entry.event} hook has the timeout {timeout}: Qwen Code up to 0.22 reads milliseconds and continues without it"
        diagnoses.append(Diagnosis("warn", text, "onehook install POLICY"))
    return diagnoses


def asks_for_trust(machine: Machine) -> bool:
    """Folder trust is off by default. Where it is on, a project's hooks load only in a trusted folder; the user's always do."""
    files = (machine.folder("QWEN_HOME", ".qwen") / "settings.json", _system_file(machine))
    return any(kit.table_at(read_jsonc(file), "security", "folderTrust").get("enabled") is True for file in files)


def trusted_folders(machine: Machine) -> Path:
    named = machine.variables.get("QWEN_CODE_TRUSTED_FOLDERS_PATH")
    return Path(named) if named else machine.folder("QWEN_HOME", ".qwen") / "trustedFolders.json"
