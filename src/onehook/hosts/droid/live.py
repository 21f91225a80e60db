"""How Factory Droid is started for a proof. Seen working with 0.225.2."""

from __future__ import annotations

import sys

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, mcp_servers_in, merge_json, says, with_setting
from onehook.hostkit.versions import Fact
from onehook.hosts.droid import session

# "exec": one prompt on the command line. "session": a session as editors run it, with the events that the other mode lacks.
MODES = ("exec", "session")
shell = call("Execute", "command", summary="run a command", timeout=60, riskLevel="high", riskLevelReason="it writes a file")
write = call("Create", "file_path", "content")
read = call("Read", "file_path")
edit = call("Edit", "file_path", "old_str", "new_str")
mcp = mcp_call("{server}___{tool}", deferred=True)  # MCP tools are listed only after a search, but accepted without one
mcp_server = mcp_servers_in("home", ".factory/mcp.json", type="stdio")
subagent = call("Task", "prompt", subagent_type="worker", description="a small task", **{"await": True})
subagent_end = says
_LACKS = {
    "exec": {
        "prompts": "`droid exec PROMPT` runs no hook for its prompt; a session does",
        "compacts": "Droid runs no hook when a full context is compacted, only when a person asks for it in a session",
    }
}
COMPACTS_AT = 100_000  # tokens


def prepare(sandbox: Sandbox, mode: str = "exec") -> Launch:
    model = {"model": "scripted", "displayName": "mock", "baseUrl": sandbox.model_url + "/v1", "apiKey": "scripted"}
    models = [{**model, "provider": "generic-chat-completion-api"}]
    merge_json(sandbox.home / ".factory" / "settings.json", {"customModels": models, "compactionTokenLimit": COMPACTS_AT})
    if mode == "session":
        argv = [sys.executable, "-I", session.__file__, str(sandbox.binary), sandbox.prompt, "off" if sandbox.strict else "high"]
    else:
        argv = [str(sandbox.binary), "exec", "-m", session.MODEL, *([] if sandbox.strict else ["--auto", "high"]), sandbox.prompt]
    env = {
        "FACTORY_AIRGAP_ENABLED": "true",
        "FACTORY_DISABLE_KEYRING": "true",
        "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def compaction(mode: str = "exec") -> list[Step]:
    """0.225.2 runs no hook when it summarises a full context, but does when a client requests a compaction (see compactable)."""
    return [shell("true")] if mode == "session" else [{**shell("true"), "usage": 2 * COMPACTS_AT}, shell("sleep 1")]


def compactable(launch: Launch) -> Launch:
    """Compact the session after its prompt; with `droid exec PROMPT` there is no client that could request it."""
    more = ["--compact"] if session.__file__ in launch.argv else []
    return Launch([*launch.argv, *more], launch.env, launch.cwd, launch.home)


TRAITS = Traits(
    Package("@factory/cli-linux-x64", "0.225.2", "0.215.0", "@factory/cli-linux-x64/bin/droid", disk_mb=243),
    facts=(Fact("it does not read `.factory/hooks.json`: the installed hooks do not run", until="0.117.0", breaks=".factory/hooks.json"),),
    can=("strict",),
    lacks=_LACKS,
    compactable=compactable,
    disable=with_setting("project", ".factory/hooks.json", hooksDisabled=True),
)
