"""How Copilot CLI is started for a proof. Seen working with 1.0.102."""

from __future__ import annotations

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, mcp_servers_in, merge_json, says, with_setting
from onehook.hostkit.versions import Fact

MODES = ("",)
CONFIG = ".copilot/config.json"
shell = call("bash", "command", description="run a command", mode="sync", initial_wait=30, sessionId="proof")
write = call("create", "path", "file_text")
read = call("view", "path")
edit = call("edit", "path", "old_str", "new_str")
mcp = mcp_call("{server}-{tool}")
mcp_server = mcp_servers_in("home", ".copilot/mcp-config.json", type="local", tools=["*"])
subagent = call("task", "prompt", description="a small task", agent_type="general-purpose", name="task", mode="sync")
subagent_end = says
untrusted = with_setting("home", CONFIG, trusted_folders=[])  # as started by a person who has not trusted the folder


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    # Without this the project's hooks are silently skipped.
    merge_json(sandbox.home / CONFIG, {"trusted_folders": [str(sandbox.project)]})
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--allow-all-tools", "--no-auto-update"]
    env = {
        "COPILOT_PROVIDER_BASE_URL": sandbox.model_url + "/v1",
        "COPILOT_PROVIDER_API_KEY": "scripted",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def compaction(mode: str = "") -> list[Step]:
    """1.0.102 requests the summary while the next turn is running, which therefore must not be the last one."""
    summary = {"say": "a summary", "when": "respond only with the summary text"}
    return [{**shell("true"), "usage": 1_000_000}, summary, shell("sleep 1")]


TRAITS = Traits(
    Package("@github/copilot", "1.0.102", "1.0.75", ".bin/copilot", disk_mb=190),
    facts=(
        Fact("`toolArgs` is JSON text instead of an object; onehook reads both", until="1.0.80"),
        Fact("according to the changelog, exit code 2 is not a denial yet (since 1.0.70)", until="1.0.69"),
        Fact("it offers `write_bash` and `write_powershell`, which type into an open shell; onehook takes them for Bash", until="1.0.61"),
        Fact("it needs Node.js 24", until="1.0.42"),
    ),
    failing="edit",
    disable=untrusted,
    asks=untrusted,
)
