"""Qwen Code: where hooks are configured, what an entry looks like, and trust (0.24.4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hosts.configuring import (
    TOOL_EVENTS,
    Commands,
    Finding,
    Found,
    Machine,
    Place,
    Wish,
    anchored,
    folder_trust,
    grouped,
    native_tools,
    read_jsonc,
)
from onehook.hosts.qwen import wire

TITLE = "Qwen Code"
CAPTURED = ("0.24.4",)  # versions whose payloads were recorded
BINARIES = ("qwen",)
FOLDERS = (".qwen",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
HOST_IDS = ("qwen",)
PROJECT = "."  # hooks start in the folder that QWEN_PROJECT_DIR names too, and names in settings are replaced when Qwen Code starts
SKELETON: dict[str, Any] = {}
ESCAPE_SLASHES = False
SHELL = "sh"

_TYPES = ("command", "http", "function", "prompt")
_NEEDS = {"command": "command", "http": "url", "prompt": "prompt"}
_NOT_EVENTS = ("enabled", "disabled", "notifications")


def places(machine: Machine) -> list[Place]:
    user, system = machine.folder("QWEN_HOME", ".qwen"), _system_file(machine)
    return [
        Place("project", machine.project / ".qwen" / "settings.json", "jsonc", machine.project),
        Place("user", user / "settings.json", "jsonc", user),
        Place("enterprise", system, "jsonc", system.parent),
    ]


def _system_file(machine: Machine) -> Path:
    named = machine.variables.get("QWEN_CODE_SYSTEM_SETTINGS_PATH")
    return (
        Path(named)
        if named
        else machine.system(
            "/etc/qwen-code/settings.json",
            "/Library/Application Support/QwenCode/settings.json",
            "C:\\ProgramData\\qwen-code\\settings.json",
        )
    )


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    # No "name": of two entries with the same name on one event Qwen Code drops the second, so two policies would be one.
    handler: dict[str, Any] = {"type": "command", "command": commands.powershell if windows else commands.posix}
    if windows:
        handler["shell"] = "powershell"
    # Milliseconds: up to 0.22 that is the unit; since then it is seconds, but 1000 and more are still read as milliseconds.
    handler["timeout"] = wish.host_timeout * 1000
    group: dict[str, Any] = {}
    if event in TOOL_EVENTS:
        matcher = wish.matcher(event)
        group["matcher"] = anchored(native_tools(matcher, wire.TOOLS, "mcp__.*")) if matcher else "*"
    group["hooks"] = [handler]
    return ("hooks", EVENTS[event]), group


def found(data: Any) -> Iterator[Found]:
    return grouped(data)


def problems(data: Any) -> list[str]:
    """What makes Qwen Code set the file aside, or drop an entry of it without a word."""
    if not isinstance(data, dict):
        return ["the file is not a JSON object; Qwen Code takes none of it"]
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        return ['"hooks" is not an object']
    wrong: list[str] = []
    for event, groups in hooks.items():
        if event in _NOT_EVENTS:
            continue
        for index, group in enumerate(groups if isinstance(groups, list) else [None]):
            fault = _group_fault(group)
            if fault:
                wrong.append(f"hooks.{event}[{index}]: {fault}; Qwen Code drops the entry")
    return wrong


def _group_fault(group: Any) -> str:
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return 'a group needs a list "hooks"'
    if not isinstance(group.get("matcher", ""), str):
        return '"matcher" is not a text'
    for handler in group["hooks"]:
        if not isinstance(handler, dict) or handler.get("type") not in _TYPES:
            return f'"type" must be one of {", ".join(_TYPES)}'
        needed = _NEEDS.get(handler["type"])
        if needed and not (isinstance(handler.get(needed), str) and handler[needed]):
            return f'a {handler["type"]} hook needs a text "{needed}"'
    return ""


def checks(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Finding]:
    findings: list[Finding] = []
    if isinstance(data, dict) and data.get("disableAllHooks") is True:
        findings.append(
            Finding("fail", f"disableAllHooks is on in {place.path}: no hooks run", f"set disableAllHooks to false in {place.path}")
        )
    for variable in ("QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"):
        if machine.variables.get(variable, "").lower() in ("1", "true", "yes", "on"):
            findings.append(Finding("fail", f"{variable} switches hooks off", f"unset {variable}"))
    for entry in ours:
        timeout = entry.item.get("timeout", 60000)
        if isinstance(timeout, (int, float)) and timeout < 1000:
            text = f"the {entry.event} hook has the time-out {timeout}: Qwen Code up to 0.22 reads milliseconds and goes on without it"
            findings.append(Finding("warn", text, "onehook install POLICY"))
    if place.scope == "project" and ours and not _trusted(machine):
        text = f"Qwen Code does not trust {machine.project}, and loads none of its hooks"
        findings.append(Finding("fail", text, "start qwen in this folder once and trust it"))
    return findings


def _trusted(machine: Machine) -> bool:
    """Folder trust is off by default. Where it is on, a project's hooks load only in a trusted folder; the user's always do."""
    user = machine.folder("QWEN_HOME", ".qwen")
    if not any(_asks_for_trust(read_jsonc(settings)) for settings in (user / "settings.json", _system_file(machine))):
        return True
    named = machine.variables.get("QWEN_CODE_TRUSTED_FOLDERS_PATH")
    return folder_trust(read_jsonc(Path(named) if named else user / "trustedFolders.json"), machine.project)


def _asks_for_trust(settings: dict[str, Any]) -> bool:
    security = settings.get("security")
    trust = security.get("folderTrust") if isinstance(security, dict) else None
    return isinstance(trust, dict) and trust.get("enabled") is True
