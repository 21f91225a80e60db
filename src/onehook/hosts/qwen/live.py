"""How Qwen Code is started for a proof. Seen working with 0.24.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, add_entry, merge_json, says
from onehook.hostkit.versions import Fact

MODES = ("",)
subagent_end = says


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    security = {"auth": {"selectedType": "openai"}}
    # Otherwise MCP tools are deferred behind a search tool and not offered by themselves.
    tools = {"toolSearch": {"enabled": False}}
    merge_json(sandbox.home / ".qwen" / "settings.json", {"security": security, "tools": tools})
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--yolo"]
    env = {
        "OPENAI_API_KEY": "scripted",
        "OPENAI_BASE_URL": sandbox.model_url + "/v1",
        "OPENAI_MODEL": "scripted",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    settings = sandbox.home / ".qwen" / "settings.json"
    server = {"command": argv[0], "args": list(argv[1:]), "trust": True}
    add_entry(settings, "mcpServers", name, server)


def shell(command: str, mode: str = "") -> Step:
    return {"call": "run_shell_command", "input": {"command": command, "is_background": False}}


def write(path: str, content: str, mode: str = "") -> Step:
    return {"call": "write_file", "input": {"file_path": path, "content": content}}


def read(path: str, mode: str = "") -> Step:
    return {"call": "read_file", "input": {"file_path": path}}


def edit(path: str, old: str, new: str, mode: str = "") -> Step:
    return {"call": "edit", "input": {"file_path": path, "old_string": old, "new_string": new}}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    return {"call": f"mcp__{server}__{tool}", "input": dict(args)}


def subagent(prompt: str, mode: str = "") -> Step:
    task = {"description": "a small task", "prompt": prompt, "subagent_type": "general-purpose"}
    return {"call": "agent", "input": {**task, "run_in_background": False}}


def compaction(mode: str = "") -> list[Step]:
    """The window of a model that 0.24.4 does not know is 200000 tokens. SessionStart is not waited for, so something must follow."""
    return [{**shell("true"), "usage": 180_000}, shell("sleep 1")]


def asks(sandbox: Sandbox, launch: Launch) -> Launch:
    """With folder trust, which is off by default."""
    security = {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": True}}
    merge_json(sandbox.home / ".qwen" / "settings.json", {"security": security})
    return launch


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Switch the installed hooks off, as a setting can."""
    merge_json(sandbox.project / ".qwen" / "settings.json", {"disableAllHooks": True})
    return launch


def background(command: str) -> Step:
    return {"call": "monitor", "input": {"command": command, "description": "run a command"}}


TRAITS = Traits(
    Package("@qwen-code/qwen-code", "0.24.4", "0.21.2", ".bin/qwen", disk_mb=123),
    facts=(
        Fact(
            "`stop_hook_active` is already true on the first Stop of a turn, so a handler that denies only if it is false never does",
            until="0.23.3",
            rows=("stop-continued",),
        ),
    ),
    background=background,
    disable=disable,
    asks=asks,
)
