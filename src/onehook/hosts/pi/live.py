"""How Pi is started for a proof. Seen working with 0.87.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, always_asks, call, merge_json, with_setting

MODES = ("",)
FULL = 200_000  # tokens
shell = call("bash", "command")
write = call("write", "path", "content")
read = call("read", "path")


def edit(path: str, old: str, new: str, mode: str = "") -> Step:
    return {"call": "edit", "input": {"path": path, "edits": [{"oldText": old, "newText": new}]}}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> None:
    """Pi has neither MCP nor subagents; extensions provide both."""


def subagent(prompt: str, mode: str = "") -> None: ...


def subagent_end(text: str, mode: str = "") -> None: ...


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None: ...


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    """Configure the scripted model as the only one."""
    folder = sandbox.home / ".pi" / "agent"
    model = {"id": "scripted", "name": "scripted", "contextWindow": FULL, "maxTokens": 32_000}
    provider = {"baseUrl": f"{sandbox.model_url}/v1", "api": "openai-completions", "apiKey": "scripted", "models": [model]}
    merge_json(folder / "models.json", {"providers": {"scripted": provider}})
    # Recent messages are kept unchanged, which here would be all of them.
    merge_json(folder / "settings.json", {"compaction": {"enabled": True, "keepRecentTokens": 1}})
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--provider", "scripted", "--model", "scripted"]
    return Launch(argv, {"PI_OFFLINE": "1"}, sandbox.project, sandbox.home)


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": FULL}]


TRAITS = Traits(
    Package("@earendil-works/pi-coding-agent", "0.87.1", "0.84.1", ".bin/pi", disk_mb=200, node="22.23.3"),
    can=("shows_user",),
    asks=always_asks,
    disable=with_setting("project", ".pi/settings.json", extensions=["-extensions/onehook.js"]),
)
