"""How Grok Build is started for a proof. Seen working with 1.0.41."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, says
from onehook.hostkit.versions import Fact

MODES = ("",)
CONFIG = ".grok/config.toml"
TRUST = ".grok/trusted_folders.toml"
shell = call("run_terminal_command", "command", description="run a command")
write = call("write", "file_path", "content")
read = call("read_file", "target_file")
edit = call("search_replace", "file_path", "old_string", "new_string")
subagent = call("spawn_subagent", "prompt", description="a small task", background=False)
subagent_end = says
COMPACTS_AT = 190_000  # tokens, of a window of 200000
SUMMARY = "A person asked for a task. One command was run, and it went well. Nothing else is left to do in this project. " * 10


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    return {"call": "use_tool", "input": {"tool_name": f"{server}__{tool}", "tool_input": dict(args)}}


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    words = ", ".join(_quoted(word) for word in argv[1:])
    _add(sandbox.home / CONFIG, f"[mcp_servers.{name}]\ncommand = {_quoted(argv[0])}\nargs = [{words}]\n")


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    url = f"{sandbox.model_url}/v1"
    model = f'[model.scripted]\nmodel = "scripted"\nname = "scripted"\nbase_url = "{url}"\nenv_key = "SCRIPTED_KEY"\n'
    _add(sandbox.home / CONFIG, f'{model}\n[models]\ndefault = "scripted"\n')
    _add(sandbox.home / TRUST, f"[folders.{_quoted(os.path.realpath(sandbox.project))}]\ntrusted = true\n")
    argv = [str(program(sandbox.binary)), "-p", sandbox.prompt, "-m", "scripted", "--always-approve"]
    env = {
        "SCRIPTED_KEY": "scripted",
        "GROK_TELEMETRY_ENABLED": "0",
        "GROK_DISABLE_AUTOUPDATER": "1",
        "GROK_TURN_SUMMARY": "0",  # otherwise another turn follows, to summarise the last one in a line
        "GROK_TWO_PASS_COMPACTION": "0",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def program(binary: Path) -> Path:
    """The program itself. npm installs a script that unpacks it, 160 MB, into each home folder, or in place if it cannot do that."""
    script = binary.resolve()
    if not script.is_file() or script.read_bytes()[:2] != b"#!":
        return binary
    packed = next(iter(script.parents[2].glob("grok-*-*/bin/*.br")), None)
    if packed is None:
        return binary
    unpacked = packed.with_suffix("")
    if not unpacked.exists():
        environment = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GROK_HOME": os.devnull}
        subprocess.run([str(binary), "--version"], env=environment, capture_output=True, timeout=300, check=True)
    return unpacked


def untrusted(sandbox: Sandbox, launch: Launch) -> Launch:
    """Start it as for a person who has not trusted the folder."""
    (sandbox.home / TRUST).unlink(missing_ok=True)
    return launch


def compaction(mode: str = "") -> list[Step]:
    """1.0.41 rejects a summary that is too short."""
    return [{**shell("true"), "usage": COMPACTS_AT}, {"say": SUMMARY, "when": "faithful, concise summary"}, shell("sleep 1")]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _add(path: Path, text: str) -> None:
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before if text in before else f"{before}{text}\n", encoding="utf-8")


TRAITS = Traits(
    Package("@xai-official/grok", "1.0.41", "1.0.5", ".bin/grok", disk_mb=206),
    facts=(
        Fact(
            "it takes no context from hooks, no feedback on a result and no denial of a prompt",
            until="1.0.5",
            rows=("context-before", "context-after", "feedback-after", "context-failure", "prompt-blocked"),
        ),
        Fact("payloads are in camelCase alone; onehook reads both spellings", until="1.0.5"),
    ),
    background=call("monitor", "command", description="run a command"),
    failing="mcp",
    disable=untrusted,
    asks=untrusted,
)
