"""How Gemini CLI is started for a proof. Seen working with 0.61.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, add_entry, merge_json

MODES = ("",)
# A fixed model: with the automatic choice a classifier is asked before every turn.
MODEL = "gemini-2.5-flash"


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    merge_json(sandbox.home / ".gemini" / "settings.json", {"security": security})
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--yolo", "-m", MODEL]
    env = {
        "GEMINI_API_KEY": "scripted",
        "GOOGLE_GEMINI_BASE_URL": sandbox.model_url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    settings = sandbox.home / ".gemini" / "settings.json"
    server = {"command": argv[0], "args": list(argv[1:]), "trust": True}
    add_entry(settings, "mcpServers", name, server)


def shell(command: str, mode: str = "") -> Step:
    return {"call": "run_shell_command", "input": {"command": command}}


def write(path: str, content: str, mode: str = "") -> Step:
    return {"call": "write_file", "input": {"file_path": path, "content": content}}


def read(path: str, mode: str = "") -> Step:
    return {"call": "read_file", "input": {"file_path": path}}


def edit(path: str, old: str, new: str, mode: str = "") -> Step:
    change = {"instruction": "change the text", "old_string": old, "new_string": new}
    return {"call": "replace", "input": {"file_path": path, **change}}


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    return {"call": f"mcp_{server}_{tool}", "input": dict(args)}


def subagent(prompt: str, mode: str = "") -> Step:
    return {"call": "invoke_agent", "input": {"agent_name": "generalist", "prompt": prompt}}


def subagent_end(text: str, mode: str = "") -> Step:
    """A text alone does not end a subagent: it is asked again for this call (0.61.0)."""
    return {"call": "complete_task", "input": {"result": {"response": text}}}


def compaction(mode: str = "") -> list[Step]:
    """A first prompt has nothing before it that 0.61.0 could compress: the session must be taken up again (see compactable)."""
    return [{"say": "that was the first prompt"}, {**shell("true"), "usage": 1_000_000}]


def compactable(launch: Launch) -> Launch:
    """Two prompts, one after the other, in one session."""
    argv = ["/bin/sh", "-c", '"$@" && exec "$@" --resume latest', "sh", *launch.argv]
    return Launch(argv, launch.env, launch.cwd, launch.home)


def asks(sandbox: Sandbox, launch: Launch) -> Launch:
    """With folder trust, as it is by default."""
    merge_json(sandbox.home / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    env = {name: value for name, value in launch.env.items() if name != "GEMINI_CLI_TRUST_WORKSPACE"}
    return Launch(launch.argv, env, launch.cwd, launch.home)


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Switch the installed hooks off, as a setting can."""
    merge_json(sandbox.project / ".gemini" / "settings.json", {"hooksConfig": {"enabled": False}})
    return launch


TRAITS = Traits(
    Package("@google/gemini-cli", "0.61.0", "0.55.1", ".bin/gemini", disk_mb=96), compactable=compactable, disable=disable, asks=asks
)
