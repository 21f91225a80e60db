"""How OpenCode is started for a proof. Seen working with 1.18.33."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, add_entry, merge_json, says

MODES = ("",)
subagent_end = says
FULL = 200_000  # tokens


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    merge_json(_config(sandbox), provider(sandbox))
    env = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        # With a plugin there, 1.18.33 waits for an npm install that the plugin does not need: 11 s less.
        "npm_config_offline": "true",
    }
    return Launch([str(sandbox.binary), "run", sandbox.prompt], env, sandbox.project, sandbox.home)


def provider(sandbox: Sandbox) -> dict[str, Any]:
    """The scripted model as the only one."""
    scripted = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": sandbox.model_url + "/v1", "apiKey": "scripted"},
        # Without a limit the context is never full, and nothing is ever compacted.
        "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": FULL, "output": 32_000}}},
    }
    return {"provider": {"scripted": scripted}, "model": "scripted/scripted"}


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    server = {"type": "local", "command": list(argv), "enabled": True}
    add_entry(_config(sandbox), "mcp", name, server)


def shell(command: str, mode: str = "") -> Step:
    return {"call": "bash", "input": {"command": command}}


def write(path: str, content: str, mode: str = "") -> Step:
    return {"call": "write", "input": {"filePath": path, "content": content}}


def read(path: str, mode: str = "") -> Step:
    return {"call": "read", "input": {"filePath": path}}


def edit(path: str, old: str, new: str, mode: str = "") -> Step:
    return {"call": "edit", "input": {"filePath": path, "oldString": old, "newString": new}}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    return {"call": f"{server}_{tool}", "input": dict(args)}


def subagent(prompt: str, mode: str = "") -> Step:
    task = {"description": "a small task", "prompt": prompt, "subagent_type": "general"}
    return {"call": "task", "input": task}


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": FULL}]


def _config(sandbox: Sandbox) -> Path:
    return sandbox.home / ".config" / "opencode" / "opencode.json"


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Without plugins, as a variable can have it."""
    return Launch(launch.argv, {**launch.env, "OPENCODE_PURE": "1"}, launch.cwd, launch.home)


TRAITS = Traits(
    Package("opencode-linux-x64", "1.18.33", "1.18.18", "opencode-linux-x64/bin/opencode", disk_mb=177), failing="edit", disable=disable
)
