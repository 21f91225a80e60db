"""How Copilot CLI is started for a proof. Seen working with 1.0.102."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, add_entry, merge_json, says
from onehook.hostkit.versions import Fact

MODES = ("",)
subagent_end = says


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    # Without this the project's hooks are skipped in silence.
    merge_json(sandbox.home / ".copilot" / "config.json", {"trusted_folders": [str(sandbox.project)]})
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--allow-all-tools", "--no-auto-update"]
    env = {
        "COPILOT_PROVIDER_BASE_URL": sandbox.model_url + "/v1",
        "COPILOT_PROVIDER_API_KEY": "scripted",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    config = sandbox.home / ".copilot" / "mcp-config.json"
    server = {"type": "local", "command": argv[0], "args": list(argv[1:]), "tools": ["*"]}
    add_entry(config, "mcpServers", name, server)


def shell(command: str, mode: str = "") -> Step:
    options = {"description": "run a command", "mode": "sync", "initial_wait": 30, "sessionId": "proof"}
    return {"call": "bash", "input": {"command": command, **options}}


def write(path: str, content: str, mode: str = "") -> Step:
    return {"call": "create", "input": {"path": path, "file_text": content}}


def read(path: str, mode: str = "") -> Step:
    return {"call": "view", "input": {"path": path}}


def edit(path: str, old: str, new: str, mode: str = "") -> Step:
    return {"call": "edit", "input": {"path": path, "old_str": old, "new_str": new}}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    return {"call": f"{server}-{tool}", "input": dict(args)}


def subagent(prompt: str, mode: str = "") -> Step:
    task = {"description": "a small task", "prompt": prompt, "agent_type": "general-purpose", "name": "task"}
    return {"call": "task", "input": {**task, "mode": "sync"}}


def compaction(mode: str = "") -> list[Step]:
    """1.0.102 asks for the summary while the next turn goes on, which therefore must not be the last one."""
    summary = {"say": "a summary", "when": "respond only with the summary text"}
    return [{**shell("true"), "usage": 1_000_000}, summary, shell("sleep 1")]


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Start it as a person would who has not trusted the folder."""
    merge_json(sandbox.home / ".copilot" / "config.json", {"trusted_folders": []})
    return launch


TRAITS = Traits(
    Package("@github/copilot", "1.0.102", "1.0.75", ".bin/copilot", disk_mb=190),
    facts=(
        Fact("`toolArgs` is JSON text instead of an object; onehook reads both", until="1.0.80"),
        Fact("according to the changelog, exit code 2 is not a denial yet (since 1.0.70)", until="1.0.69"),
        Fact("it offers `write_bash` and `write_powershell`, which type into an open shell; onehook takes them for Bash", until="1.0.61"),
        Fact("it needs Node.js 24", until="1.0.42"),
    ),
    failing="edit",
    disable=disable,
    asks=disable,
)
