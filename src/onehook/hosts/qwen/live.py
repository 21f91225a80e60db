"""How Qwen Code is started for a proof. Seen working with 0.24.4."""

from __future__ import annotations

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, mcp_servers_in, merge_json, says, with_setting
from onehook.hostkit.versions import Fact

MODES = ("",)
SETTINGS = ".qwen/settings.json"
AUTH = {"selectedType": "openai"}
shell = call("run_shell_command", "command", is_background=False)
write = call("write_file", "file_path", "content")
read = call("read_file", "file_path")
edit = call("edit", "file_path", "old_string", "new_string")
mcp = mcp_call("mcp__{server}__{tool}")
mcp_server = mcp_servers_in("home", SETTINGS, trust=True)
subagent = call("agent", "prompt", description="a small task", subagent_type="general-purpose", run_in_background=False)
subagent_end = says


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    # Otherwise MCP tools are deferred behind a search tool and not offered by themselves.
    tools = {"toolSearch": {"enabled": False}}
    merge_json(sandbox.home / SETTINGS, {"security": {"auth": AUTH}, "tools": tools})
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--yolo"]
    env = {
        "OPENAI_API_KEY": "scripted",
        "OPENAI_BASE_URL": sandbox.model_url + "/v1",
        "OPENAI_MODEL": "scripted",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def compaction(mode: str = "") -> list[Step]:
    """The window of a model that 0.24.4 does not know is 200000 tokens. It does not wait for SessionStart, so a step must follow."""
    return [{**shell("true"), "usage": 180_000}, shell("sleep 1")]


TRAITS = Traits(
    Package("@qwen-code/qwen-code", "0.24.4", "0.21.2", ".bin/qwen", disk_mb=123),
    facts=(
        Fact(
            "`stop_hook_active` is already true on the first Stop of a turn, so a handler that denies only if it is false never does",
            until="0.23.3",
            rows=("stop-continued",),
        ),
    ),
    background=call("monitor", "command", description="run a command"),
    disable=with_setting("project", SETTINGS, disableAllHooks=True),
    asks=with_setting("home", SETTINGS, security={"auth": AUTH, "folderTrust": {"enabled": True}}),  # off by default
)
