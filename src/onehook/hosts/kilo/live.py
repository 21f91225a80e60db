"""How Kilo is started for a proof: as OpenCode is, under its own names. Seen working with 7.7.9."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from onehook.hostkit.live import Launch, Package, Sandbox, Traits, add_entry, call, merge_json
from onehook.hostkit.versions import Fact
from onehook.hosts.opencode.live import MODES, compaction, edit, mcp, provider, read, shell, subagent, subagent_end, write

__all__ = ["MODES", "TRAITS", "compaction", "edit", "mcp", "mcp_server", "prepare", "read", "shell", "subagent", "subagent_end", "write"]


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    merge_json(_config(sandbox), provider(sandbox))
    env = {"KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_MODELS_FETCH": "1", "npm_config_offline": "true"}
    return Launch([str(sandbox.binary), "run", sandbox.prompt], env, sandbox.project, sandbox.home)


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    server = {"type": "local", "command": list(argv), "enabled": True}
    add_entry(_config(sandbox), "mcp", name, server)


def _config(sandbox: Sandbox) -> Path:
    return sandbox.home / ".config" / "kilo" / "kilo.json"


# 50 s a run on two busy cores, ten times as long as most agents.
TRAITS = Traits(
    Package("@kilocode/cli-linux-x64", "7.7.9", "7.7.2", "@kilocode/cli-linux-x64/bin/kilo", disk_mb=228, by_default=False),
    facts=(
        Fact(
            "`kilo run` does not take the prompt that continues a session, so the session ends although a hook denied the stop",
            since="7.7.2",
            rows=("stop-continued", "stop-guard"),
        ),
    ),
    background=call("background_process", "command", action="start", description="run a command"),
    failing="edit",
)
