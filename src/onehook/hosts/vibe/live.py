"""How Mistral Vibe is started for a proof. Seen working with 3.0.2 and 2.24.1."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, always_asks, call, says
from onehook.hostkit.versions import Fact

MODES = ("",)
shell = call("bash", "command")
edit = call("edit", "file_path", "old_string", "new_string")
subagent_end = says
_EITHER = ["path", "file_path"]  # 3.x and 2.x
_SETTINGS = """active_model = "scripted"
enable_telemetry = false
enable_update_checks = false
auto_compact_threshold = 100000

[[providers]]
name = "scripted"
api_base = "{url}/v1"
api_key_env_var = "SCRIPTED_KEY"
api_style = "openai"
backend = "generic"

[[models]]
name = "scripted"
provider = "scripted"
alias = "scripted"
"""
_END = "\n# end of the settings for the proof\n"


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    config = _config(sandbox)
    _, _, servers = ("\n" + config.read_text(encoding="utf-8") if config.exists() else "").rpartition(_END)
    config.write_text(_SETTINGS.format(url=sandbox.model_url) + _END + servers, encoding="utf-8")
    argv = [str(sandbox.binary), "-p", sandbox.prompt, *([] if sandbox.strict else ["--auto-approve"])]
    return Launch(argv, {"SCRIPTED_KEY": "scripted"}, sandbox.project, sandbox.home)


def _config(sandbox: Sandbox) -> Path:
    path = sandbox.home / ".vibe" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    entry = {"name": name, "transport": "stdio", "command": argv[0], "args": list(argv[1:])}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())  # JSON's form of these is valid TOML
    with _config(sandbox).open("a", encoding="utf-8") as file:
        file.write(f"\n[[mcp_servers]]\n{lines}")


def write(path: str, content: str, mode: str = "") -> Step:
    return {"call": "write_file", "input": {"path": path, "file_path": path, "content": content}, "spare": _EITHER}


def read(path: str, mode: str = "") -> Step:
    return {"call": "read_file", "input": {"path": path, "file_path": path}, "spare": _EITHER}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    return _program(f"tools.mcp_{server}.{tool}", args)


def subagent(prompt: str, mode: str = "") -> Step:
    """Spawning returns at once, so the next step of the script should have "wait"."""
    return _program("tools.agents.spawn", {"name": "task", "message": prompt})


def _program(function: str, args: Mapping[str, Any]) -> Step:
    """A call of a tool that the model reaches only inside a program."""
    return {"call": "run_typescript", "input": {"code": f"async function main() {{ return await {function}({json.dumps(dict(args))}); }}"}}


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": 200_000}]


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Start it as for a person who does not trust the folder."""
    store = sandbox.home / ".vibe" / "trusted_folders.toml"
    store.write_text(f"trusted = []\nuntrusted = [{json.dumps(str(sandbox.project.resolve()))}]\n", encoding="utf-8")
    return launch


TRAITS = Traits(
    Package("mistral-vibe", "3.0.2", "2.24.1", "vibe", disk_mb=400, registry="pypi", python="3.12"),
    facts=(
        Fact(
            "it has no event for the start of a session, so that a hook for one cannot set variables", since="2.24.1", rows=("variables",)
        ),
    ),
    disable=disable,
    can=("strict",),
    asks=always_asks,
    failing="edit",  # a command that exits with an error does not count as failed
)
