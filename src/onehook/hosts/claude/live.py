"""How Claude Code is started for a proof. Seen working with 2.1.325."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, add_entry, merge_json, read_json, says
from onehook.hostkit.versions import Fact

MODES = ("",)
subagent_end = says
TOOLS = ("Bash", "Write", "Read", "Edit", "Agent", "Monitor")
MCP_FILE = ".mcp.json"


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    config = sandbox.project / MCP_FILE
    servers = read_json(config).get("mcpServers", {})
    # An allow rule must name the server: "mcp__*" is refused by 2.1.325.
    allowed = [*TOOLS, *(f"mcp__{name}__*" for name in servers)]
    # The stream shows what a person at the terminal would see; the plain output is the last message alone.
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--output-format", "stream-json", "--verbose"]
    if not sandbox.strict:
        argv += ["--allowedTools", ",".join(allowed)]
    if servers:
        # A project's .mcp.json waits for approval; named on the command line it does not.
        argv += ["--mcp-config", str(config)]
    env = {
        "ANTHROPIC_BASE_URL": sandbox.model_url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Otherwise MCP tools are deferred behind a search tool and not offered by themselves.
        "ENABLE_TOOL_SEARCH": "false",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    server = {"type": "stdio", "command": argv[0], "args": list(argv[1:])}
    config = sandbox.project / MCP_FILE
    add_entry(config, "mcpServers", name, server)


def shell(command: str, mode: str = "") -> Step:
    return {"call": "Bash", "input": {"command": command, "description": "run a command"}}


def write(path: str, content: str, mode: str = "") -> Step:
    return {"call": "Write", "input": {"file_path": path, "content": content}}


def read(path: str, mode: str = "") -> Step:
    return {"call": "Read", "input": {"file_path": path}}


def edit(path: str, old: str, new: str, mode: str = "") -> Step:
    return {"call": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    return {"call": f"mcp__{server}__{tool}", "input": dict(args)}


def subagent(prompt: str, mode: str = "") -> Step:
    kind = {"description": "a small task", "prompt": prompt, "subagent_type": "general-purpose"}
    return {"call": "Agent", "input": {**kind, "run_in_background": False}}


def compaction(mode: str = "") -> list[Step]:
    """The model that 2.1.325 takes has a window of a million tokens."""
    return [{**shell("true"), "usage": 1_000_000}]


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Switch the installed hooks off, as a setting can."""
    merge_json(sandbox.project / ".claude" / "settings.json", {"disableAllHooks": True})
    return launch


def background(command: str) -> Step:
    return {"call": "Monitor", "input": {"description": "run a command", "command": command, "timeout_ms": 20_000}}


TRAITS = Traits(
    Package("@anthropic-ai/claude-code-linux-x64", "2.1.325", "2.1.233", "@anthropic-ai/claude-code-linux-x64/claude", disk_mb=349),
    facts=(Fact("it has no `onFailure`: if onehook cannot be started, only the guard behind the command blocks", until="2.1.294"),),
    can=("strict", "shows_user"),
    background=background,
    disable=disable,
)
