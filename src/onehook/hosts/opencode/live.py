"""How OpenCode is started for a proof. Seen working with 1.18.33."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, add_entry, call, mcp_call, merge_json, says

MODES = ("",)
FULL = 200_000  # tokens
shell = call("bash", "command")
write = call("write", "filePath", "content")
read = call("read", "filePath")
edit = call("edit", "filePath", "oldString", "newString")
mcp = mcp_call("{server}_{tool}")
subagent = call("task", "prompt", description="a small task", subagent_type="general")
subagent_end = says


@dataclass(frozen=True)
class Program:
    """OpenCode, or an agent that is built on it."""

    name: str

    def config(self, sandbox: Sandbox) -> Path:
        return sandbox.home / ".config" / self.name / f"{self.name}.json"

    def prepare(self, sandbox: Sandbox, mode: str = "") -> Launch:
        """Configure the scripted model as the only one."""
        scripted = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": sandbox.model_url + "/v1", "apiKey": "scripted"},
            # Without a limit the context is never full, and nothing is ever compacted.
            "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": FULL, "output": 32_000}}},
        }
        merge_json(self.config(sandbox), {"provider": {"scripted": scripted}, "model": "scripted/scripted"})
        env = {
            f"{self.name.upper()}_DISABLE_AUTOUPDATE": "1",
            f"{self.name.upper()}_DISABLE_MODELS_FETCH": "1",
            # With a plugin installed, 1.18.33 waits for an npm install that the plugin does not need; this saves 11 s.
            "npm_config_offline": "true",
        }
        return Launch([str(sandbox.binary), "run", sandbox.prompt], env, sandbox.project, sandbox.home)

    def mcp_server(self, sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
        add_entry(self.config(sandbox), "mcp", name, {"type": "local", "command": list(argv), "enabled": True})

    def disable(self, sandbox: Sandbox, launch: Launch) -> Launch:
        """Start it without plugins, which a variable can switch off."""
        return Launch(launch.argv, {**launch.env, f"{self.name.upper()}_PURE": "1"}, launch.cwd, launch.home)


_PROGRAM = Program("opencode")
prepare, mcp_server = _PROGRAM.prepare, _PROGRAM.mcp_server


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": FULL}]


TRAITS = Traits(
    Package("opencode-linux-x64", "1.18.33", "1.18.18", "opencode-linux-x64/bin/opencode", disk_mb=177),
    failing="edit",
    disable=_PROGRAM.disable,
)
