"""Codex CLI: where hooks are configured, what an entry looks like, and trust (0.166.0)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hosts.codex import wire
from onehook.hosts.configuring import TOOL_EVENTS, Commands, Finding, Found, Machine, Place, Wish, grouped, native_tools

TITLE = "Codex CLI"
CAPTURED = ("0.166.0",)  # versions whose payloads were recorded
BINARIES = ("codex",)
FOLDERS = (".codex",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items() if native not in ("PreModelRequest", "PostModelRequest")}
HOST_IDS = ("codex",)
PROJECT = ""  # Codex sets no variable for its hooks, and its cwd moves: the policy is named absolutely
SKELETON: dict[str, Any] = {}
ESCAPE_SLASHES = False
SHELL = "sh"

_SHORT_EVENTS = {"SessionEnd": 3, "Interrupt": 3}  # seconds; Codex cuts a longer time-out down to this
_TYPES = ("command", "mcp_tool", "prompt", "agent")


def places(machine: Machine) -> list[Place]:
    user = machine.folder("CODEX_HOME", ".codex")
    system = machine.system("/etc/codex/config.toml", "/etc/codex/config.toml", "C:\\ProgramData\\OpenAI\\Codex\\config.toml")
    project = machine.project / ".codex"
    return [
        _in_use(Place("project", project / "hooks.json", "json", machine.project), project / "config.toml"),
        _in_use(Place("user", user / "hooks.json", "json", user), user / "config.toml"),
        Place("enterprise", system, "toml", system.parent),
    ]


def _in_use(place: Place, toml: Path) -> Place:
    """The hooks.json, unless the user keeps hooks in config.toml and has none: with both, Codex merges them and warns."""
    if place.path.exists() or not any(EVENTS.get(event) or event in wire.EVENTS for event in read_toml(toml).get("hooks", {})):
        return place
    return Place(place.scope, toml, "toml", place.root)


def read_toml(path: Path) -> dict[str, Any]:
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        return tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
    except (OSError, ValueError, ParseError):
        return {}


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    native = EVENTS[event]
    handler: dict[str, Any] = {
        "type": "command",
        "command": commands.posix,
        "commandWindows": commands.cmd,
        "timeout": _SHORT_EVENTS.get(native, wish.host_timeout),
    }
    group: dict[str, Any] = {}
    if event in TOOL_EVENTS:
        matcher = wish.matcher(event)
        group["matcher"] = native_tools(matcher, wire.TOOLS, "mcp__.*") if matcher else "*"
    group["hooks"] = [handler]
    return ("hooks", native), group


def found(data: Any) -> Iterator[Found]:
    return grouped(data)


def problems(data: Any) -> list[str]:
    """What makes Codex drop the whole file."""
    if not isinstance(data, dict):
        return ["the file is not a JSON object; Codex drops it whole"]
    hooks = data.get("hooks", {})
    wrong = [f"unknown top-level key {key!r}: Codex drops the whole file" for key in data if key not in ("description", "hooks")]
    if not isinstance(hooks, dict):
        return [*wrong, '"hooks" is not an object; Codex drops the whole file']
    for event, groups in hooks.items():
        for index, group in enumerate(groups if isinstance(groups, list) else [None]):
            if event in wire.EVENTS and _group_fault(group):
                wrong.append(f"hooks.{event}[{index}]: {_group_fault(group)}; Codex drops the whole file")
    return wrong


def _group_fault(group: Any) -> str:
    if not isinstance(group, dict):
        return "a group must be an object"
    for handler in group.get("hooks", []):
        if not isinstance(handler, dict) or handler.get("type") not in _TYPES:
            return f'"type" must be one of {", ".join(_TYPES)}'
        if not isinstance(handler.get("timeout", 1), int):
            return '"timeout" must be a whole number of seconds'
    return ""


def checks(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Finding]:
    config = read_toml(machine.folder("CODEX_HOME", ".codex") / "config.toml")
    findings: list[Finding] = []
    features = config.get("features", {})
    if features.get("hooks", features.get("codex_hooks", True)) is False:
        findings.append(Finding("fail", "hooks are switched off in [features] of config.toml", "codex features enable hooks"))
    if place.scope == "project" and ours and not _project_trusted(config, machine.project):
        text = "Codex does not trust this project, and loads none of its hooks"
        findings.append(Finding("fail", text, "start codex in this folder once and trust it"))
    if place.scope != "enterprise":
        findings += [finding for entry in ours if (finding := _hook_trust(config, place, entry))]
    return findings


def _project_trusted(config: dict[str, Any], project: Path) -> bool:
    projects = config.get("projects", {})
    return any(projects.get(str(folder), {}).get("trust_level") == "trusted" for folder in (project, *project.parents))


def _hook_trust(config: dict[str, Any], place: Place, entry: Found) -> Finding | None:
    """Codex runs an entry only after a person has trusted it; the key is its place in the file."""
    event = "".join(f"_{char.lower()}" if char.isupper() else char for char in entry.event).lstrip("_")
    key = f"{place.path}:{event}:{entry.path[2]}:{entry.path[4]}"
    state = config.get("hooks", {}).get("state", {}).get(key, {})
    if state.get("enabled") is False:
        return Finding("fail", f"the {entry.event} hook is switched off in Codex", "codex, then /hooks: switch it on")
    if not state.get("trusted_hash"):
        text = f"the {entry.event} hook is not trusted yet: Codex skips it without a word"
        return Finding("fail", text, "start codex and trust it in /hooks (codex exec: --dangerously-bypass-hook-trust)")
    return None
