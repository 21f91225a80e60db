"""How Factory Droid is started for a proof. Seen working with 0.225.2."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, add_entry, merge_json, says
from onehook.hostkit.versions import Fact
from onehook.hosts.droid import session

# "exec": one prompt on the command line. "session": a session as editors hold it, which has the events that the other lacks.
MODES = ("exec", "session")
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


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    config = sandbox.home / ".factory" / "mcp.json"
    server = {"type": "stdio", "command": argv[0], "args": list(argv[1:])}
    add_entry(config, "mcpServers", name, server)


def shell(command: str, mode: str = "exec") -> Step:
    risk = {"riskLevel": "high", "riskLevelReason": "it writes a file"}
    return {"call": "Execute", "input": {"command": command, "summary": "run a command", "timeout": 60, **risk}}


def write(path: str, content: str, mode: str = "exec") -> Step:
    return {"call": "Create", "input": {"file_path": path, "content": content}}


def read(path: str, mode: str = "exec") -> Step:
    return {"call": "Read", "input": {"file_path": path}}


def edit(path: str, old: str, new: str, mode: str = "exec") -> Step:
    return {"call": "Edit", "input": {"file_path": path, "old_str": old, "new_str": new}}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "exec") -> Step:
    """MCP tools are listed on a search only, and taken without one."""
    return {"call": f"{server}___{tool}", "input": dict(args), "deferred": True}


def subagent(prompt: str, mode: str = "exec") -> Step:
    task = {"subagent_type": "worker", "description": "a small task", "prompt": prompt}
    return {"call": "Task", "input": {**task, "await": True}}


def compaction(mode: str = "exec") -> list[Step]:
    """0.225.2 runs no hook when it summarises a full context, but does when a session is asked to compact (see compactable)."""
    return [shell("true")] if mode == "session" else [{**shell("true"), "usage": 2 * COMPACTS_AT}, shell("sleep 1")]


def compactable(launch: Launch) -> Launch:
    """A session is compacted after its prompt; `droid exec PROMPT` has nobody to ask for that."""
    more = ["--compact"] if session.__file__ in launch.argv else []
    return Launch([*launch.argv, *more], launch.env, launch.cwd, launch.home)


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Switch the installed hooks off, as a setting can."""
    merge_json(sandbox.project / ".factory" / "hooks.json", {"hooksDisabled": True})
    return launch


TRAITS = Traits(
    Package("@factory/cli-linux-x64", "0.225.2", "0.215.0", "@factory/cli-linux-x64/bin/droid", disk_mb=243),
    facts=(Fact("it does not read `.factory/hooks.json`: the installed hooks do not run", until="0.117.0", breaks=".factory/hooks.json"),),
    can=("strict",),
    lacks=_LACKS,
    compactable=compactable,
    disable=disable,
)
