"""How Cline is started for a proof. Seen working with 3.0.65 and 3.0.57."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, mcp_servers_in, merge_json, says
from onehook.hostkit.plugin import FILE
from onehook.hostkit.versions import Fact
from onehook.hosts.cline.config import LOADING

MODES = ("",)
_SETTINGS = ".cline/data/settings"
_SHORT = "it waits 3 s for a plugin, so no ask can be held for a person: such an ask is denied"
_SKIPPED = (
    "it continues without its plugins, and reports that only in its log, if node is not on PATH, or if it takes more than 4 s to load them "
    "(CLINE_PLUGIN_IMPORT_TIMEOUT_MS gives them more time); doctor reports both"
)
write = call("editor", "path", "new_text")
edit = call("editor", "path", "old_text", "new_text")
subagent = call("spawn_agent", "task", systemPrompt="You do one small task.")
subagent_end = says
mcp = mcp_call("{server}__{tool}")
mcp_server = mcp_servers_in("home", f"{_SETTINGS}/cline_mcp_settings.json")


def shell(command: str, mode: str = "") -> Step:
    return {"call": "run_commands", "input": {"commands": [command]}}


def read(path: str, mode: str = "") -> Step:
    return {"call": "read_files", "input": {"files": [{"path": path}]}}


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    settings: Mapping[str, Any] = {
        "provider": "openai-compatible", "apiKey": "scripted", "model": "scripted", "baseUrl": f"{sandbox.model_url}/v1",
    }  # fmt: skip
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    values = {"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": provider}}
    merge_json(sandbox.home / _SETTINGS / "providers.json", values)
    argv = [str(sandbox.binary), *(["--auto-approve", "false"] if sandbox.strict else []), sandbox.prompt]
    env = {"CLINE_TELEMETRY_DISABLED": "1", LOADING: "60000"}
    return Launch(argv, env, sandbox.project, sandbox.home, leaves=True)  # Cline leaves a daemon behind


def _disable(sandbox: Sandbox, launch: Launch) -> Launch:
    plugin = sandbox.project / ".cline" / "plugins" / FILE
    merge_json(sandbox.home / _SETTINGS / "global-settings.json", {"disabledPlugins": [str(plugin)]})
    return launch


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": 1_000_000}]


TRAITS = Traits(
    Package("cline", "3.0.65", "3.0.57", "@cline/cli-linux-x64/bin/cline", disk_mb=450),
    facts=(
        Fact(_SHORT, since="3.0.57", rows=("ask-approved", "ask-denied", "ask-rewritten", "ask-own-answer")),
        Fact(_SKIPPED, since="3.0.57"),
        Fact("a hook file of Cline's own that cancels ends the whole run, and tells neither the model nor the user why", since="3.0.57"),
        Fact("the extensions for VS Code and JetBrains load no plugins: onehook is not asked there", since="3.0.57"),
    ),
    can=("strict",),
    lacks={"": {"compacts": "Cline tells no plugin that it compacts a session"}},
    disable=_disable,
)
