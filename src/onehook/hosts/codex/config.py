"""Codex CLI: where hooks are configured, what an entry looks like, and trust (0.166.0)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Held, Machine, Place, Switches, Traits, Wish
from onehook.hostkit.trust import repository
from onehook.hosts.codex import trust, wire

TITLE = "Codex CLI"
BINARIES = ("codex",)
FOLDERS = (".codex",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items() if native not in ("PreModelRequest", "PostModelRequest")}
PROJECT = ""  # Codex sets no variable for its hooks, and its cwd changes, so the policy has an absolute path
TRAITS = Traits(
    captured=("0.166.0",),
    # Seen with 0.166.0: it then waits for a hook that takes eleven minutes, and obeys its denial. A model that writes code ("code mode") is
    # told after half a minute that its code is still running, and may do something else; the call that is held does not run.
    longest_timeout=86400,
    shell_variables=("CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_SANDBOX"),
    reloads=False,  # seen with 0.166.0: a running session keeps to the policy even if its hooks file is removed
    shell=("$SHELL", "-c"),
    listed=r"[\w|]+",
    agent_types=(*kit.TOOL_EVENTS, "UserPromptSubmit", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop"),
    also_listed=("Write", "Edit", "Agent"),
    switches=Switches(
        files=lambda machine: [
            machine.folder("CODEX_HOME", ".codex") / "plugins",
            machine.folder("CODEX_HOME", ".codex") / ".hook-trust",
            machine.folder("CODEX_HOME", ".codex") / "requirements.toml",
            machine.system("/etc/codex", "/etc/codex", "C:\\ProgramData\\OpenAI\\Codex"),
        ],
        # Values of -c override every file for one session.
        words=(
            "features",
            "plugin",
            "--disable hooks",
            "--disable codex_hooks",
            "-c*hooks*",
            "-c *hooks*",
            "--config*hooks*",
            "--config *hooks*",
            "--dangerously-bypass*",
        ),
    ),
    # Seen with 0.166.0: without it, `hooks = false` under [features] in the user's config.toml, or `-c features.hooks=false`, switches off
    # the hooks in /etc/codex/config.toml; with it, neither does.
    held=Held(
        lambda machine: Place("enterprise", _system(machine) / "requirements.toml", "toml", _system(machine)), ("features", "hooks"), True
    ),
    unguarded={"write_stdin": "Codex runs no hook for what is typed into a running command; deny commands that start an interactive shell"},
)
found = kit.grouped

_SHORT_EVENTS = {"SessionEnd": 3, "Interrupt": 3}  # seconds; Codex limits a longer timeout to this
_DROPPED = "Codex drops the whole file"
_TYPES = ("command", "mcp_tool", "prompt", "agent")


def places(machine: Machine) -> list[Place]:
    user = machine.folder("CODEX_HOME", ".codex")
    project = machine.project / ".codex"
    return [
        *_in_use("project", project, machine.project),
        *_in_use("user", user, machine.scope_of(user)),
        Place("enterprise", _system(machine) / "config.toml", "toml", _system(machine)),
    ]


def _system(machine: Machine) -> Path:
    return machine.system("/etc/codex", "/etc/codex", "C:\\ProgramData\\OpenAI\\Codex")


def _in_use(scope: str, folder: Path, root: Path) -> list[Place]:
    """hooks.json, or config.toml if the user keeps hooks there and has no hooks.json: with both, Codex merges them and warns."""
    # hooks.json is plain JSON. Seen with 0.166.0, `codex exec ...`: with a comment or a trailing comma, Codex warns
    # that it cannot parse the file, and continues without its hooks.
    committed = scope == "project"
    both = [Place(scope, folder / name, format, root, committed) for name, format in (("hooks.json", "json"), ("config.toml", "toml"))]
    in_toml = any(event in wire.EVENTS for event in kit.table_at(kit.read_toml(both[1].path), "hooks"))
    return both[::-1] if in_toml and not both[0].path.exists() else both


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    native = EVENTS[event]
    handler: dict[str, Any] = {
        "type": "command",
        "command": commands.posix,
        **({"commandWindows": commands.cmd} if commands.cmd else {}),
        "timeout": _SHORT_EVENTS.get(native, wish.host_timeout),
    }
    return kit.grouped_slot(event, native, handler, kit.native_tools(wish.matcher(event), wire.TOOLS, "mcp__.*"))


def problems(data: Any) -> list[str]:
    """What makes Codex drop the whole file."""
    no_object, no_hooks = "the file is not an object; Codex drops it completely", f'"hooks" is not an object; {_DROPPED}'
    return kit.hook_faults(data, no_object, no_hooks, _group_fault, lambda event: _DROPPED if event in wire.EVENTS else "")


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    """hooks.json may hold two keys and no others; config.toml is Codex's whole configuration."""
    if text.startswith("\ufeff"):
        return kit.byte_order_mark(TITLE, text)
    keys = data if place.format == "json" and isinstance(data, dict) else ()
    return [f"unknown top-level key {key!r}: Codex drops the whole file for it" for key in keys if key not in ("description", "hooks")]


def _group_fault(group: Any) -> str:
    if not isinstance(group, dict):
        return "a group must be an object"
    handlers = group.get("hooks", [])
    if not isinstance(handlers, list):
        return '"hooks" of a group must be a list'
    for handler in handlers:
        if fault := kit.type_fault(handler, _TYPES):
            return fault
        if handler["type"] == "command" and not isinstance(handler.get("command"), str):
            return 'a command hook needs a string "command"'
        if isinstance(handler.get("timeout"), bool) or not isinstance(handler.get("timeout", 1), int):
            return '"timeout" must be a whole number of seconds'
    return ""


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    config = kit.read_toml(machine.folder("CODEX_HOME", ".codex") / "config.toml")
    diagnoses: list[Diagnosis] = []
    features = kit.table_at(config, "features")
    if features.get("hooks", features.get("codex_hooks", True)) is False:
        diagnoses.append(Diagnosis("fail", "hooks are switched off in [features] of config.toml", "codex features enable hooks"))
    checkout = repository(machine.project)
    if ours and place.scope == "project" and not machine.project.is_relative_to(checkout):
        text = f"this is a linked worktree, and Codex runs the hooks of the main checkout instead: {checkout}"
        diagnoses.append(Diagnosis("fail", text, f"onehook install POLICY --hosts codex --project {shlex.quote(str(checkout))}"))
    for entry in ours:
        if kit.table_at(config, "hooks", "state", trust.key_of(place, entry)).get("enabled") is False:
            diagnoses.append(Diagnosis("fail", f"the {entry.event} hook is switched off in Codex", "codex, then /hooks: switch it on"))
    return diagnoses
