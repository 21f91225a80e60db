"""OpenHands CLI: where hooks are configured, and what an entry looks like (1.16.0).

Seen with `openhands --headless`: of the project's file and the user's, only the first that exists is read, so a repository with a
hooks.json, even an empty one, switches the user's hooks off. OpenHands does not start if the file is not JSON or has an unknown event.
The events are below "hooks", or at the top level; they are written like PreToolUse or like pre_tool_use, but not both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.openhands import wire
from onehook.jsonc import read_jsonc

TITLE = "OpenHands CLI"
BINARIES = ("openhands",)
FOLDERS = (".openhands",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
PROJECT = ""  # the policy has an absolute path
_STOPS = "OpenHands does not start"


def snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


_EVENT_OF = {spelled: native for native in wire.EVENTS for spelled in (native, snake(native))}


def places(machine: Machine) -> list[Place]:
    return [
        Place("project", machine.project / ".openhands" / "hooks.json", "json", machine.project, committed=True),
        Place("user", machine.home / ".openhands" / "hooks.json", "json", machine.home),
    ]


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    command = commands.cmd if windows and commands.cmd else commands.posix
    handler = {"type": "command", "command": command, "timeout": wish.host_timeout}
    # An MCP tool has its plain name, without a prefix.
    return kit.grouped_slot(event, EVENTS[event], handler, kit.native_tools(wish.matcher(event), wire.TOOLS, ".*"))


def _slot_in(place: Place, path: tuple[str, ...]) -> tuple[str, ...]:
    """The path as the file has it: with or without "hooks" around the events, and with the file's spelling of an existing event."""
    data = read_jsonc(place.path)
    table = data.get("hooks", data)
    named = next((key for key in table if _EVENT_OF.get(key) == path[1]), path[1]) if isinstance(table, dict) else path[1]
    return (named,) if data and "hooks" not in data else ("hooks", named)


TRAITS = Traits(
    captured=("1.16.0",),
    longest_timeout=86400,  # seen with 1.16.0: it then waits for a hook that takes eleven minutes, and obeys its denial
    # The shell's parent is a tmux server without a parent of its own, so no process shows which agent it belongs to.
    shell_variables=("OR_APP_NAME",),
    reloads=False,  # seen with 1.16.0: a running session keeps to the policy even if its hooks file is removed
    slot_in=_slot_in,
    listed=r"\w+",
    whole=True,
    switches=Switches(variables=("OPENHANDS_WORK_DIR",)),
    unguarded={"task": "OpenHands runs no hook for what a subagent does; deny the tool Agent if that must be checked"},
)


def found(data: Any) -> Iterator[Found]:
    wrapped = isinstance(data, dict) and "hooks" in data
    for entry in kit.grouped(data if wrapped else {"hooks": data}):
        event = _EVENT_OF.get(entry.event)
        if event:
            path = entry.path if wrapped else entry.path[1:]
            yield Found(event, path, entry.command, entry.item, regex_of(entry.matcher))


def regex_of(matcher: str) -> str:
    """A matcher (a name, or a regular expression) as a regular expression for the whole name; "" for every tool."""
    explicit = len(matcher) > 2 and matcher.startswith("/") and matcher.endswith("/")
    return "" if matcher == "*" else matcher[1:-1] if explicit else matcher


def problems(data: Any) -> list[str]:
    """Faults that keep OpenHands from starting."""
    table = data.get("hooks", data) if isinstance(data, dict) else None
    if not isinstance(table, dict):
        return [f"the hooks are not an object; {_STOPS}"]
    unknown = [f"{key!r} is not an event of OpenHands; {_STOPS}" for key in table if key not in _EVENT_OF]
    twice = [event for event in wire.EVENTS if event in table and snake(event) in table and event != snake(event)]
    doubled = [f"{event} and {snake(event)} are one event; {_STOPS}" for event in twice]
    return unknown + doubled + [fault for key in table if key in _EVENT_OF for fault in kit.entry_faults(key, table[key], _fault, _STOPS)]


def _fault(group: Any) -> str:
    if not isinstance(group, dict) or not isinstance(group.get("hooks", []), list):
        return '"hooks" of a group must be a list'
    if not isinstance(group.get("matcher", "*"), str):
        return '"matcher" is not a string'
    return next((fault for handler in group.get("hooks", []) if (fault := _handler_fault(handler))), "")


def _handler_fault(handler: Any) -> str:
    if not isinstance(handler, dict) or handler.get("type", "command") not in ("command", "prompt"):
        return '"type" must be command'
    if not isinstance(handler.get("command"), str):
        return 'a hook needs a string "command"'
    timeout = handler.get("timeout", 60)
    return "" if isinstance(timeout, int) and not isinstance(timeout, bool) else '"timeout" must be a whole number of seconds'


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    return kit.byte_order_mark(TITLE, text)


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    project, user = places(machine)
    folder = machine.variables.get("OPENHANDS_WORK_DIR")
    if folder and ours and place.scope == "project" and os.path.realpath(folder) != os.path.realpath(machine.project):
        return [Diagnosis("fail", f"OPENHANDS_WORK_DIR is {folder}: OpenHands reads the hooks of that folder", "unset OPENHANDS_WORK_DIR")]
    if place.scope == "user" and ours and project.path.exists() and project.path != user.path:
        text = f"{project.path} exists, and in this project OpenHands reads it instead of {place.path}: the policy does not run here"
        return [Diagnosis("fail", text, "onehook install POLICY --hosts openhands --scope project")]
    hidden = [entry.command for entry in found(read_jsonc(user.path))] if place.scope == "project" and ours else []
    if hidden:
        text = f"OpenHands reads {place.path} instead of {user.path} in this project: the {len(hidden)} hooks of that file do not run here"
        return [Diagnosis("warn", text, f"put them into {place.path} too")]
    return []
