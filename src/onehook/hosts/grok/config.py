"""Grok Build: where hooks are configured and what an entry looks like (1.0.41).

Seen with `grok -p ... --always-approve`, where each of these silently switches hooks off and the tool runs. A file is dropped if it has a
byte order mark, a comment, a timeout that is not a whole number, or a group without hooks. A name in ~/.grok/disabled-hooks switches that
entry off. `$NAME` in a command is replaced even inside quotes, and if the variable is not set the command is not run at all, so install
writes none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hostkit.trust import in_repository
from onehook.hosts import load
from onehook.hosts.grok import own_entries, wire
from onehook.jsonc import read_regular

TITLE = "Grok Build"
BINARIES = ("grok",)
FOLDERS = (".grok",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
PROJECT = own_entries.FOLDER  # hooks start at the root of the repository, and only its hooks folder is read
_DROPPED = "Grok drops the whole file"


def home(machine: Machine) -> Path:
    return machine.folder("GROK_HOME", ".grok")


def places(machine: Machine) -> list[Place]:
    """Files of onehook's own: Grok reads every *.json there, and one that it cannot read does not affect the others."""
    user = home(machine)
    system = [] if machine.windows else [Place("enterprise", _system(machine) / "managed_config.toml", "toml", _system(machine))]
    return [
        Place("project", machine.project / own_entries.FILE, "json", machine.project, committed=True),
        Place("user", user / own_entries.NAME, "json", machine.scope_of(user)),
        *system,
    ]


def _system(machine: Machine) -> Path:
    return machine.system("/etc/grok", "/etc/grok", "")


def _read_from(machine: Machine, scope: str) -> list[Place]:
    """Every file of a scope that Grok reads hooks from; install writes to a separate one."""
    user = home(machine)
    roots = {"project": (machine.project / ".grok", machine.project), "user": (user, user)}
    if scope == "enterprise" and not machine.windows:
        system = _system(machine)
        return [Place(scope, system / name, "toml", system) for name in ("managed_config.toml", "requirements.toml")]
    if scope not in roots:
        return []
    folder, root = roots[scope]
    files = [Place(scope, path, "json", root) for path in sorted((folder / "hooks").glob("[!.]*.json"))]
    return [*files, *([Place(scope, user / "config.toml", "toml", user)] if scope == "user" else [])]


def _borrowed_from(machine: Machine, scope: str) -> list[tuple[Place, str]]:
    """The files of the agents whose entries Grok runs as well."""
    owners = wire.TRAITS.reads_config_of if scope in own_entries.BORROWS else ()
    return [(place, owner) for owner in owners for place in load(owner, "config").places(machine) if place.scope == scope]


TRAITS = Traits(
    captured=("1.0.41",),
    longest_timeout=86400,  # seen with 1.0.41: it then waits for a hook that takes eleven minutes, and obeys its denial
    programs=(".grok/bin/grok",),
    shell_variables=("GROK_AGENT",),
    reloads=False,  # seen with 1.0.41: a running session keeps the hooks, the trust and the switches that it began with
    shell=("sh", "-c"),
    listed=r"[A-Za-z0-9_|]+",
    also_listed=("Bash", "Read", "Write", "Edit", "Grep", "WebFetch", "WebSearch", "Agent", "Task"),
    agent_types=("PreToolUse", "PostToolUse", "UserPromptSubmit", "SubagentStart", "SubagentStop", "SessionEnd"),
    read_from=_read_from,
    borrowed_from=_borrowed_from,
    switches=Switches(
        files=lambda machine: [
            machine.project / ".grok",
            *(
                home(machine) / name
                for name in (
                    "hooks", "hooks-paths", "disabled-hooks", "config.toml", "managed_config.toml", "requirements.toml",
                    "installed-plugins",
                )
            ),
            *([] if machine.windows else [_system(machine)]),
        ],
        words=("plugin",),
        variables=("GROK_CLAUDE_HOOKS_ENABLED",),
    ),
)  # fmt: skip


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    command = commands.powershell if windows else own_entries.unexpanded(commands.posix)
    handler = {"type": "command", "command": command, "timeout": wish.host_timeout}
    tools = kit.anchored(kit.native_tools(wish.matcher(event), wire.TOOLS, f".+{wire.MCP_JOINT}.+"))
    return kit.grouped_slot(event, EVENTS[event], handler, tools)


def found(data: Any) -> Iterator[Found]:
    for entry in kit.grouped(data):
        yield replace(entry, command=own_entries.expanded(entry.command))


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    return kit.byte_order_mark(TITLE, text)


def problems(data: Any) -> list[str]:
    """What makes Grok drop a file, or a group of it."""
    no_object, no_hooks = "the file is not an object; Grok ignores it", f'"hooks" is not an object; {_DROPPED}'
    return kit.hook_faults(data, no_object, no_hooks, _group_fault, lambda event: _DROPPED if event in wire.EVENTS else "")


def _group_fault(group: Any) -> str:
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return 'a group needs a list "hooks"'
    if not isinstance(group.get("matcher", ""), str):
        return '"matcher" is not a string'
    return next((fault for handler in group["hooks"] if (fault := _handler_fault(handler))), "")


def _handler_fault(handler: Any) -> str:
    if not isinstance(handler, dict) or not isinstance(handler.get("type"), str):
        return 'a hook needs a "type"'
    timeout = handler.get("timeout", 1)
    if not isinstance(timeout, int) or isinstance(timeout, bool) or timeout < 0:
        return '"timeout" must be a whole number of seconds'
    command = handler.get("command", "")
    if not isinstance(command, str):
        return '"command" must be a string'
    env = handler.get("env") or {}
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        return '"env" must be a table of strings'
    return ""


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    diagnoses = [] if place.scope == "enterprise" else _switched_off(machine, place, ours)
    root = in_repository(machine.project)[-1]
    if ours and place.scope == "project" and root != machine.project and (root / ".git").exists():
        text = f"Grok reads .grok/hooks at the root of the repository only: {root}"
        diagnoses.append(Diagnosis("fail", text, f"onehook install POLICY --hosts grok --project {root}"))
    return diagnoses


def _switched_off(machine: Machine, place: Place, ours: list[Found]) -> list[Diagnosis]:
    file = home(machine) / "disabled-hooks"
    try:
        lines = {line.strip() for line in read_regular(file).decode("utf-8", "replace").splitlines()}
    except OSError:
        return []
    prefix = "project" if place.scope == "project" else "global"
    return [
        Diagnosis("fail", f"the {entry.event} hook is switched off in {file}", f"remove the line {name!r} from {file}")
        for entry in ours
        if (name := f"{prefix}/{own_entries.hook_name(place.path.stem, entry.event, *entry.path[2::2])}") in lines
    ]
