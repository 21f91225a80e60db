"""Mistral Vibe: where hooks are configured, what an entry looks like, and what hides one (3.0.2).

Seen with `vibe -p`: an entry with a fault (a strict or a match on post_agent, an unknown type) is skipped, and a file that is not TOML is
skipped completely, both silently; of two entries with the same name the project's runs and the user's does not. So the name of an entry
says which policy it runs. The project's file is read only in the folder that Vibe is started in, not in those above it.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterator
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.vibe import wire

TITLE = "Mistral Vibe"
BINARIES = ("vibe",)
FOLDERS = (".vibe",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
PROJECT = ""  # hooks start in the session's folder, which may move into a worktree, so the policy has an absolute path
TRAITS = Traits(
    captured=("3.0.2",),
    longest_timeout=86400,  # seen with 3.0.2: it then waits for a hook that takes eleven minutes, and obeys its denial
    shell_variables=("VIBE_APP_SERVER_BIN",),
    processes=("vibe", "vibe-rs", "vibe-app-server", "vibe-acp"),
    reloads=False,  # seen with 3.0.2: a running session keeps to the policy even if its hooks file is removed
    guard="",  # `strict = true` turns every failure into a denial
    whole=True,
    switches=Switches(
        files=lambda machine: [machine.folder("VIBE_HOME", ".vibe") / "config.toml"],
        words=("--add-dir",),  # the hooks of such a folder come first, and hide those of the same name
        variables=("VIBE_HOME",),
    ),
)
_STRICT = ("pre_tool", "post_tool")
_SKIPPED = "Vibe skips the entry"


def places(machine: Machine) -> list[Place]:
    user = machine.folder("VIBE_HOME", ".vibe")
    return [
        Place("project", machine.project / ".vibe" / "hooks.toml", "toml", machine.project, committed=True),
        Place("user", user / "hooks.toml", "toml", machine.scope_of(user)),
    ]


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    native = EVENTS[event]
    command = commands.cmd if windows and commands.cmd else commands.posix
    policy = shlex.split(commands.posix.partition(" --host ")[0])[-1]
    entry: dict[str, Any] = {"name": f"onehook {native} {policy}", "type": native, "command": command}
    tools = kit.native_tools(wish.matcher(event), wire.TOOLS, "mcp_.+")
    if tools and native in _STRICT:
        names = tools.removeprefix("^(").removesuffix(")$").split("|")
        entry["match"] = "re:(" + "|".join(name if name == "mcp_.+" else re.escape(name) for name in names) + ")"
    entry["timeout"] = float(wish.host_timeout)
    if wish.fail_closed and native in _STRICT:
        entry["strict"] = True
    return ("hooks",), entry


def found(data: Any) -> Iterator[Found]:
    for index, entry in enumerate(_entries(data)):
        if isinstance(entry, dict) and isinstance(entry.get("command"), str):
            event, match = entry.get("type"), entry.get("match")
            matcher = regex_of(match) if isinstance(match, str) else ""
            yield Found(event if isinstance(event, str) else "", ("hooks", index), entry["command"], entry, matcher)


def _entries(data: Any) -> list[Any]:
    entries = data.get("hooks") if isinstance(data, dict) else None
    return entries if isinstance(entries, list) else []


def regex_of(match: str) -> str:
    """A `match` as a regular expression for the whole name. It also matches the last part of a name, and "_" in place of its dots."""
    if match == "*":
        return ""
    if match.startswith("re:"):
        return f"(?i:(?:.+\\.)?(?:{match[3:]}))"
    return f"(?i:(?:.+\\.)?{fnmatch.translate(match).removesuffix(chr(92) + 'Z').removesuffix(chr(92) + 'z')})"


text_problems = kit.no_text_problems


def problems(data: Any) -> list[str]:
    """What makes Vibe skip the file, or an entry of it."""
    hooks = data.get("hooks", []) if isinstance(data, dict) else None
    if not isinstance(hooks, list):
        return ['"hooks" must be an array of tables, [[hooks]]; Vibe skips the file']
    faults = [f"hooks[{index}]: {why}; {_SKIPPED}" for index, entry in enumerate(hooks) if (why := _fault(entry))]
    names = [entry["name"] for entry in hooks if isinstance(entry, dict) and isinstance(entry.get("name"), str)]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return faults + [f"the name {name!r} is used twice; Vibe runs the first of them only" for name in twice]


def _fault(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "an entry must be a table"
    for key in ("name", "command"):
        if not isinstance(entry.get(key), str) or (key == "command" and not entry[key].strip()):
            return f'it needs a string "{key}"'
    if entry.get("type") not in wire.EVENTS:
        return f'"type" must be one of {", ".join(wire.EVENTS)}'
    if not isinstance(entry.get("timeout", 1), (int, float)) or isinstance(entry.get("timeout"), bool):
        return '"timeout" must be a number of seconds'
    if not isinstance(entry.get("strict", False), bool):
        return '"strict" must be true or false'
    return _match_fault(entry)


def _match_fault(entry: dict[str, Any]) -> str:
    match = entry.get("match")
    if match is not None and (not isinstance(match, str) or not match.strip()):
        return '"match" must be a string that is not empty'
    if entry["type"] not in _STRICT:
        return "".join(f'"{key}" is for tools only' for key in ("match", "strict") if entry.get(key))
    try:
        re.compile(match[3:] if match and match.startswith("re:") else "")
    except re.error:
        return '"match" is not a regular expression, so that the hook never runs'
    return ""


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    if place.scope == "project":
        text = "Vibe reads .vibe/hooks.toml only in the folder that it is started in, not in one above it"
        return [Diagnosis("note", text)] if ours else []
    project = places(machine)[0].path
    hidden = _hidden(ours, kit.read_toml(project))
    text = f"{project} has entries of the same names, and Vibe runs those instead in this project, if it is trusted: {', '.join(hidden)}"
    return [Diagnosis("fail", text, f"rename those entries in {project}")] if hidden else []


def _hidden(ours: list[Found], project: Any) -> list[str]:
    """The entries of the user's file that the project's file has under the same name, with another command."""
    mine = {entry.item.get("name"): entry.command for entry in ours}
    others = [entry for entry in _entries(project) if isinstance(entry, dict)]
    return [entry["name"] for entry in others if entry.get("name") in mine and entry.get("command") != mine[entry["name"]]]
