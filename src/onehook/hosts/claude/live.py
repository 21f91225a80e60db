"""How Claude Code is started for a proof. Seen working with 2.1.325."""

from __future__ import annotations

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, mcp_servers_in, read_json, says, with_setting
from onehook.hostkit.versions import Fact

MODES = ("",)
TOOLS = ("Bash", "Write", "Read", "Edit", "Agent", "Monitor")
MCP_FILE = ".mcp.json"
shell = call("Bash", "command", description="run a command")
write = call("Write", "file_path", "content")
read = call("Read", "file_path")
edit = call("Edit", "file_path", "old_string", "new_string")
mcp = mcp_call("mcp__{server}__{tool}")
mcp_server = mcp_servers_in("project", MCP_FILE, type="stdio")
subagent = call("Agent", "prompt", description="a small task", subagent_type="general-purpose", run_in_background=False)
subagent_end = says


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


def compaction(mode: str = "") -> list[Step]:
    """The model that 2.1.325 takes has a window of a million tokens."""
    return [{**shell("true"), "usage": 1_000_000}]


TRAITS = Traits(
    Package("@anthropic-ai/claude-code-linux-x64", "2.1.325", "2.1.233", "@anthropic-ai/claude-code-linux-x64/claude", disk_mb=349),
    facts=(Fact("it has no `onFailure`: if onehook cannot be started, only the guard behind the command blocks", until="2.1.294"),),
    can=("strict", "shows_user"),
    background=call("Monitor", "command", description="run a command", timeout_ms=20_000),
    disable=with_setting("project", ".claude/settings.json", disableAllHooks=True),
)
