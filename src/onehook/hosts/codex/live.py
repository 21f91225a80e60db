"""How Codex is started for a proof. Seen working with 0.166.0."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, always_asks, says

# "tools": the request offers the tools themselves. "code": the model writes JavaScript that calls them,
# as Codex asks of its current models. The name of the model decides: of the models that 0.166.0 knows, only
# gpt-5.5 gets tools, and a model that it does not know gets no apply_patch.
MODES = ("tools", "code")
subagent_end = says
END_OF_HEAD = "\n# end of the settings for the proof\n"
MODELS = {"tools": "gpt-5.5", "code": "gpt-5.6-sol"}


def prepare(sandbox: Sandbox, mode: str = "tools") -> Launch:
    settings = {
        "model": MODELS[mode],
        "model_provider": "scripted",
        "approval_policy": "never",
        "sandbox_mode": "danger-full-access",
        "model_providers.scripted.name": "scripted",
        "model_providers.scripted.base_url": sandbox.model_url + "/v1",
        "model_providers.scripted.wire_api": "responses",
        "model_providers.scripted.env_key": "SCRIPTED_KEY",
    }
    # Top-level keys must come before the first table, so ours go to the top, above what is there.
    head = "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())
    config = _config(sandbox)
    _, _, others = ("\n" + _read(config)).rpartition(END_OF_HEAD)
    config.write_text(head + END_OF_HEAD + others, encoding="utf-8")
    return Launch(
        [str(sandbox.binary), "exec", "--skip-git-repo-check", sandbox.prompt], {"SCRIPTED_KEY": "scripted"}, sandbox.project, sandbox.home
    )


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    table = f"\n[mcp_servers.{_toml(name)}]\ncommand = {_toml(argv[0])}\nargs = {_toml(list(argv[1:]))}\n"
    config = _config(sandbox)
    config.write_text(_read(config) + table, encoding="utf-8")


def shell(command: str, mode: str = "tools") -> Step:
    return _call("exec_command", {"cmd": command}, mode)


def write(path: str, content: str, mode: str = "tools") -> Step:
    lines = "".join(f"+{line}\n" for line in content.splitlines())
    return _patch(f"*** Add File: {path}\n{lines}", mode)


def edit(path: str, old: str, new: str, mode: str = "tools") -> Step:
    gone = "".join(f"-{line}\n" for line in old.splitlines())
    come = "".join(f"+{line}\n" for line in new.splitlines())
    return _patch(f"*** Update File: {path}\n@@\n{gone}{come}", mode)


def read(path: str, mode: str = "tools") -> Step | None:
    """Codex has no tool for reading: it reads with shell commands."""
    return None


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "tools") -> Step:
    """Among the tools a server is a namespace; in code its tools are functions with joined names."""
    joint = "." if mode == "tools" else "__"
    return _call(f"mcp__{server}{joint}{tool}", dict(args), mode, deferred=True)


def subagent(prompt: str, mode: str = "tools") -> Step:
    """Spawning returns at once, so the next step of the script should have "wait"."""
    if mode == "tools":
        return {"call": "multi_agent_v1.spawn_agent", "input": {"message": prompt}, "deferred": True}
    task = {"task_name": "task", "message": prompt, "fork_turns": "none"}
    return {"call": "collaboration.spawn_agent", "input": task}


def compaction(mode: str = "tools") -> list[Step]:
    """Report more tokens than the window of any model holds."""
    return [{**shell("true", mode), "usage": 1_000_000}]


def _call(tool: str, args: dict[str, Any], mode: str, *, deferred: bool = False) -> Step:
    """With gpt-5.5 some tools are listed only after a search, but Codex accepts calls of them anyway."""
    if mode == "tools":
        return {"call": tool, "input": args, **({"deferred": True} if deferred else {})}
    return {"call": "exec", "input": f"text(JSON.stringify(await tools.{tool}({json.dumps(args)})))"}


def _patch(body: str, mode: str) -> Step:
    patch = f"*** Begin Patch\n{body}*** End Patch\n"
    if mode == "tools":
        return {"call": "apply_patch", "input": patch}
    return {"call": "exec", "input": f"text(JSON.stringify(await tools.apply_patch({json.dumps(patch)})))"}


def _config(sandbox: Sandbox) -> Path:
    path = sandbox.home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _toml(value: object) -> str:
    """A TOML string or array of strings; JSON's form of them is valid TOML."""
    return json.dumps(value)


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Start it as for a person who has not trusted the hooks yet."""
    config = _config(sandbox)
    config.write_text(_read(config).partition("\n[hooks.state")[0], encoding="utf-8")
    return launch


TRAITS = Traits(Package("@openai/codex", "0.166.0", "0.147.0", ".bin/codex", disk_mb=436), disable=disable, asks=always_asks)
