"""Claude Code: where hooks are configured and what an entry looks like (2.1.325)."""

from __future__ import annotations

from typing import Any

from onehook.hostkit import config as kit
from onehook.hostkit.config import Commands, Diagnosis, Found, Machine, Place, Switches, Traits, Wish
from onehook.hosts.claude import wire

TITLE = "Claude Code"
BINARIES = ("claude",)
FOLDERS = (".claude",)
EVENTS = {row.event: native for native, row in wire.EVENTS.items()}
# Plain enough for every shell that a host may use: fish does not know ${...:-...}.
PROJECT = '"$CLAUDE_PROJECT_DIR"'
# Up to 2.1.294 there is no onFailure. The guard is Cursor's, since Cursor skips a command that its own files contain too.
TRAITS = Traits(
    captured=("2.1.325",),
    longest_timeout=86400,  # seen with 2.1.325: it then waits for a hook that takes eleven minutes, and obeys its denial
    programs=(".claude/local/claude",),
    reloads=True,  # seen with 2.1.325: once its hooks are removed from the file, the next command runs; ConfigChange hooks are asked first
    shell_variables=("CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION"),
    guard=kit.GUARD_IN_ANY_SHELL,
    same_command_runs_once=True,
    listed=r"[\w|, -]+",
    switches=Switches(
        files=lambda machine: [
            machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "plugins",
            machine.folder("CLAUDE_CONFIG_DIR", ".claude") / ".config.json",
            machine.system("/etc/claude-code", "/Library/Application Support/ClaudeCode", "C:\\Program Files\\ClaudeCode"),
        ],
        words=("config", "plugin", "plugins", "--bare", "--safe-mode", "--settings", "--setting-sources"),
        variables=("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SHELL_PREFIX"),
    ),
    agent_types=tuple(wire.EVENTS),
)
found = kit.grouped
text_problems = kit.no_text_problems  # a byte order mark does no harm (seen with 2.1.325)

_TYPES = ("command", "http", "mcp_tool", "prompt", "agent")
_STRICT_EVENTS = ("PreToolUse", "PermissionRequest")


def places(machine: Machine) -> list[Place]:
    user = machine.folder("CLAUDE_CONFIG_DIR", ".claude")
    managed = machine.system(
        "/etc/claude-code/managed-settings.json",
        "/Library/Application Support/ClaudeCode/managed-settings.json",
        "C:\\Program Files\\ClaudeCode\\managed-settings.json",
    )
    project = machine.project / ".claude"
    # Plain JSON. Seen with 2.1.325, `claude -p ...`: with a comment or a trailing comma, no hook of the file runs
    # and the tool does, without a message on stdout or stderr.
    return [
        Place("project", project / "settings.json", "json", machine.project, committed=True),
        Place("local", project / "settings.local.json", "json", machine.project),
        Place("user", user / "settings.json", "json", machine.scope_of(user)),
        Place("enterprise", managed, "json", managed.parent),
    ]


def slot(event: str, commands: Commands, wish: Wish, windows: bool) -> tuple[tuple[str, ...], Any]:
    handler: dict[str, Any] = {"type": "command", "command": commands.powershell if windows else commands.posix}
    if windows:
        handler["shell"] = "powershell"
    handler["timeout"] = wish.host_timeout
    if wish.fail_closed and wire.EVENTS[EVENTS[event]].gates:
        handler["onFailure"] = "block"  # from 2.1.295 on; older versions ignore the key
    return kit.grouped_slot(event, EVENTS[event], handler, kit.native_tools(wish.matcher(event), wire.TOOLS, "mcp__.*"))


def problems(data: Any) -> list[str]:
    """What makes Claude Code skip the whole file, or an entry of it."""
    return kit.grouped_faults(data, "the file is not a JSON object", _TYPES, _handler_fault, _effect)


def _effect(event: str) -> str:
    return "Claude Code skips the whole file" if event in _STRICT_EVENTS else "Claude Code drops the entry"


def _handler_fault(handler: dict[str, Any]) -> str:
    if handler["type"] == "command" and not isinstance(handler.get("command"), str):
        return 'a command hook needs a string "command"'
    if handler.get("onFailure", "block") not in ("continue", "block"):
        return '"onFailure" must be continue or block'
    return "" if kit.above_zero(handler.get("timeout", 1)) else '"timeout" must be a number above 0'


def diagnose(machine: Machine, place: Place, data: Any, ours: list[Found]) -> list[Diagnosis]:
    diagnoses = kit.all_hooks_off(place.path, data)
    if isinstance(data, dict) and data.get("allowManagedHooksOnly") is True and place.scope == "enterprise" and not ours:
        text = f"allowManagedHooksOnly is on in {place.path}: only its hooks run"
        diagnoses.append(Diagnosis("fail", text, "onehook install POLICY --scope enterprise"))
    for variable in ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"):
        if machine.variables.get(variable) not in (None, "", "0"):
            diagnoses.append(Diagnosis("fail", f"{variable} disables hooks", f"unset {variable}"))
    return diagnoses
