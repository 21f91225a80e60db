"""Gemini CLI: where hooks are configured, what an entry looks like, and trust (0.61.0)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hostkit.trust import trusts_folder
from onehook.hosts.gemini import confirm, wire
from onehook.jsonc import read_jsonc

TITLE = "Gemini CLI"
BINARIES = ("gemini",)
FOLDERS = (".gemini",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
# Hooks start in the folder whose settings were read. A variable would be worse: Gemini CLI replaces ${...} in its settings when it
# starts, with the value that the variable has then and not with its value for the hook.
PROJECT = "."
TRAITS = Traits(
    captured=("0.61.0",),
    longest_timeout=86400,  # seen with 0.61.0: it then waits for a hook that takes eleven minutes, and obeys its denial
    shell_variables=("GEMINI_CLI",),
    reloads=False,  # seen with 0.61.0: a running session keeps to the policy even if its hooks file is removed
    shell=("bash", "-c"),
    # Seen with 0.61.0: a user's or project's `hooksConfig.enabled` switches off the machine's hooks, unless the machine's file sets it.
    held=kit.Held(lambda machine: places(machine)[-1], ("hooksConfig", "enabled"), True),
    switches=Switches(
        files=lambda machine: [
            *(folder / name for folder in (machine.project / ".gemini", _user_folder(machine)) for name in ("extensions", ".env")),
            _user_folder(machine) / "trusted_hooks.json",
            machine.system_file(
                "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
                "/etc/gemini-cli",
                "/Library/Application Support/GeminiCli",
                "C:\\ProgramData\\gemini-cli",
            ),
        ],
        words=("hooks", "hook", "extensions", "extension"),
    ),
)
found = kit.grouped

NAME = "onehook"  # what Gemini CLI shows while the hook runs, and the name that /hooks enable and disable take
_TYPES = ("command", "plugin", "runtime")
_NOT_EVENTS = ("enabled", "disabled", "notifications")


def places(machine: Machine) -> list[Place]:
    user, system = _user_folder(machine), _system_file(machine)
    return [
        Place("project", machine.project / ".gemini" / "settings.json", "jsonc", machine.project, committed=True),
        Place("user", user / "settings.json", "jsonc", user),
        Place("enterprise", system, "jsonc", system.parent),
    ]


def _user_folder(machine: Machine) -> Path:
    return Path(machine.variables.get("GEMINI_CLI_HOME") or machine.home) / ".gemini"


def _system_file(machine: Machine) -> Path:
    return machine.system_file(confirm.SYSTEM_VARIABLE, *(confirm.SYSTEM[name] for name in ("linux", "darwin", "win32")))


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    handler: dict[str, Any] = {
        "name": NAME,
        "type": "command",
        "command": commands.powershell if windows else commands.posix,
        "timeout": wish.host_timeout * 1000,  # milliseconds
    }
    return kit.grouped_slot(event, EVENTS[event], handler, kit.anchored(kit.native_tools(wish.matcher(event), wire.TOOLS, "mcp_.*")))


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    """Comments are allowed. Seen with 0.61.0, `gemini -p ... --yolo`: with any of these it exits with code 52 before its first turn."""
    return kit.byte_order_mark(TITLE, text) or kit.trailing_commas(text, "Gemini CLI does not start with it")


def problems(data: Any) -> list[str]:
    """What makes Gemini CLI refuse the file, or silently drop an entry of it."""
    return kit.grouped_faults(data, "the file is not a JSON object; Gemini CLI does not start with it", _TYPES, _handler_fault, _effect)


def _effect(event: str) -> str:
    return "" if event in _NOT_EVENTS else "Gemini CLI drops the entry"


def _handler_fault(handler: dict[str, Any]) -> str:
    if handler["type"] == "command" and not (isinstance(handler.get("command"), str) and handler["command"]):
        return 'a command hook needs a string "command"'
    return "" if kit.above_zero(handler.get("timeout", 1)) else '"timeout" must be a number above 0 (milliseconds)'


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    diagnoses: list[Diagnosis] = []
    switches = kit.table_at(data, "hooksConfig")
    if switches.get("enabled") is False:
        text = f"hooksConfig.enabled is false in {place.path}: no hooks run"
        diagnoses.append(Diagnosis("fail", text, f"set hooksConfig.enabled to true in {place.path}"))
    disabled = switches.get("disabled")
    for name in disabled if isinstance(disabled, list) else ():
        if name == NAME or any(name == entry.command for entry in ours):
            text = f"hooks named {name!r} are switched off in {place.path}"
            diagnoses.append(Diagnosis("fail", text, f"gemini, then: /hooks enable {name}"))
    for entry, timeout in kit.below_a_second(ours):
        text = f"the {entry.event} hook has a timeout of {timeout} milliseconds, and Gemini CLI continues without it"
        diagnoses.append(Diagnosis("fail", text, "onehook install POLICY"))
    for variable, value in (("GEMINI_RESTRICTED_MODE", "true"), ("GEMINI_CLI_TRUST_WORKSPACE", "false")):
        if ours and machine.variables.get(variable) == value:
            diagnoses.append(Diagnosis("fail", f"{variable}={value} switches hooks off", f"unset {variable}"))
    trusted = not asks_for_trust(machine) or trusts_folder(read_jsonc(trusted_folders(machine)), machine.project)
    if ours and place.scope != "project" and not trusted:  # trust.py reports the project's own entries
        text = f"Gemini CLI does not trust {machine.project}, and runs no hooks there, including yours and the machine's"
        diagnoses.append(Diagnosis("note", text, "start gemini in this folder and trust it"))
    return diagnoses


def asks_for_trust(machine: Machine) -> bool:
    """Folder trust is on by default; a variable may settle it."""
    files = (_user_folder(machine) / "settings.json", _system_file(machine))
    off = any(kit.table_at(read_jsonc(file), "security", "folderTrust").get("enabled") is False for file in files)
    settled = machine.variables.get("GEMINI_CLI_TRUST_WORKSPACE") in ("true", "false")
    return not off and not settled and machine.variables.get("GEMINI_RESTRICTED_MODE") != "true"


def trusted_folders(machine: Machine) -> Path:
    named = machine.variables.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
    return Path(named) if named else _user_folder(machine) / "trustedFolders.json"
