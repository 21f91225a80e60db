"""GitHub Copilot CLI: where hooks are configured and what an entry looks like (1.0.102). The cloud agent reads the project's file too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import EXEC, TOOL_EVENTS, Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts import load
from onehook.hosts.copilot import own_entries, wire
from onehook.jsonc import read_jsonc

TITLE = "Copilot CLI"
BINARIES = ("copilot",)
FOLDERS = (".copilot", ".github/copilot", ".github/hooks")
EVENTS = {row.event: native for native, row in wire.CAMEL.items()}
PROJECT = own_entries.FOLDER

_GOES_ON_POWERSHELL = "; exit 0"
_TYPES = ("command", "http", "prompt")


def places(machine: Machine) -> list[Place]:
    """Files of onehook's own: Copilot reads every *.json there, and one that it cannot read does not affect the others.

    Plain JSON. Seen with 1.0.102, `copilot -p ... --allow-all-tools`: with a comment, a trailing comma or a byte order mark, no
    hook of the file runs and the tool does, without a message on stdout or stderr.
    """
    user = home(machine)
    # Seen with 1.0.102: the hooks in this folder run in every project, trusted or not.
    folder = "/etc/github-copilot/policy.d"
    policies = machine.system(folder, folder, "C:\\ProgramData\\GitHub\\Copilot\\policy.d")
    return [
        Place("project", machine.project / own_entries.FILE, "json", machine.project, committed=True),
        Place("user", user / "hooks" / "onehook.json", "json", user),
        Place("enterprise", policies / "onehook.json", "json", policies),
    ]


def _read_from(machine: Machine, scope: str) -> list[Place]:
    """Every file of a scope that Copilot reads hooks from; install writes to a separate one."""
    if scope == "local":
        return [Place(scope, machine.project / ".github" / "copilot" / "settings.local.json", "json", machine.project)]
    if scope == "enterprise":
        return [place for place in places(machine) if place.scope == scope]
    user = home(machine)
    root, settings = (machine.project, machine.project / ".github" / "copilot") if scope == "project" else (user, user)
    folder = machine.project / ".github" / "hooks" if scope == "project" else user / "hooks"
    files = [Place(scope, path, "json", root) for path in sorted(folder.glob("*.json"))]
    # Of the two settings files only the user's may have comments.
    return [*files, Place(scope, settings / "settings.json", "jsonc" if scope == "user" else "json", root)]


def _borrowed_from(machine: Machine, scope: str) -> list[tuple[Place, str]]:
    """The files of the agents whose entries Copilot runs as well, in the scopes in which it does."""
    owners = wire.TRAITS.reads_config_of if scope in own_entries.BORROWS else ()
    return [(place, owner) for owner in owners for place in load(owner, "config").places(machine) if place.scope == scope]


_UPDATES = (".cache/copilot/pkg/*/*", "Library/Caches/copilot/pkg/*/*", ".copilot/pkg/*/*")
TRAITS = Traits(
    captured=("1.0.102",),
    longest_timeout=86400,  # seen with 1.0.102: it then waits for a hook that takes eleven minutes, and obeys its denial
    shell_variables=("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),
    reloads=False,  # seen with 1.0.102: a running session keeps to the policy even if its hooks file is removed
    shell=("/bin/bash", "--norc", "--noprofile", "-c"),
    updates=_UPDATES,
    agent_types=tuple(event for event in EVENTS if event not in ("SessionStart", "SessionEnd", "Notification")),
    skeleton={"version": 1},
    guard="",
    whole=True,
    read_from=_read_from,
    borrowed_from=_borrowed_from,
    switches=Switches(
        files=lambda machine: [
            *(machine.project / ".github" / name for name in ("hooks", "copilot/settings.json", "copilot/settings.local.json")),
            *(home(machine) / name for name in ("hooks", "settings.json", "installed-plugins")),
            machine.system("/etc/github-copilot", "/Library/Application Support/GitHubCopilot", "C:\\Program Files\\GitHubCopilot"),
        ],
        words=("config", "plugin"),
    ),
)


def home(machine: Machine) -> Path:
    return machine.folder("COPILOT_HOME", ".copilot")


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    entry: dict[str, Any] = {
        "type": "command",
        "bash": commands.posix if wish.fail_closed else commands.posix.removeprefix(EXEC) + own_entries.GOES_ON,
        "powershell": commands.powershell + ("" if wish.fail_closed else _GOES_ON_POWERSHELL),
        "timeoutSec": wish.host_timeout,
    }
    matcher = wish.matcher(event)
    if matcher and event in TOOL_EVENTS:
        entry["matcher"] = kit.native_tools(matcher, wire.NATIVE_TOOLS, ".*[-/].*")
    return ("hooks", EVENTS[event]), entry


def found(data: Any) -> Iterator[Found]:
    return kit.listed_entries(data, _command_of)


def _command_of(entry: Any) -> str | None:
    """The command of an entry, without the suffix that ignores errors, which install does not write when failing closed."""
    texts = [entry.get(key) for key in ("bash", "command", "powershell")] if isinstance(entry, dict) else []
    text = next((text for text in texts if isinstance(text, str)), "")
    return (text if "--fail closed" in text else text.removesuffix(own_entries.GOES_ON)) or None


def text_problems(place: Place, text: str, data: Any) -> list[str]:
    return kit.byte_order_mark(TITLE, text)


def problems(data: Any) -> list[str]:
    """What makes Copilot skip the file, or an entry of it."""
    if not isinstance(data, dict):
        return ["the file is not a JSON object; Copilot skips it"]
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        return ['"hooks" is not an object; Copilot skips the file']
    wrong: list[str] = []
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            wrong.append(f"hooks.{event} is not a list; Copilot skips it")
            continue
        wrong += kit.entry_faults(event, entries, _entry_fault, "Copilot skips the entry")
    return wrong


def _entry_fault(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "an entry must be an object"
    if isinstance(entry.get("hooks"), list):  # Claude Code's nested form is read too
        return next((fault for inner in entry["hooks"] if (fault := _entry_fault(inner))), "")
    if entry.get("type", "command") not in _TYPES:
        return f'"type" must be one of {", ".join(_TYPES)}'
    if entry.get("type", "command") == "command" and not any(entry.get(key) for key in ("bash", "powershell", "command", "exec")):
        return "a command is needed: bash, powershell, command or exec"
    if not kit.above_zero(entry.get("timeoutSec", entry.get("timeout", 1))):
        return '"timeoutSec" must be a number above 0'
    return kit.matcher_fault(entry)


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    diagnoses: list[Diagnosis] = []
    for path, content in ((place.path, data), (home(machine) / "settings.json", read_jsonc(home(machine) / "settings.json"))):
        diagnoses += kit.all_hooks_off(path, content)
    if read_jsonc(_managed(machine)).get("allowManagedHooksOnly") is True:
        diagnoses.append(Diagnosis("fail", "allowManagedHooksOnly is on: only managed hooks run", "ask the administrator of this machine"))
    return diagnoses


def _managed(machine: Machine) -> Path:
    return machine.system(
        "/etc/github-copilot/managed-settings.json",
        "/Library/Application Support/GitHubCopilot/managed-settings.json",
        "C:\\Program Files\\GitHubCopilot\\managed-settings.json",
    )
