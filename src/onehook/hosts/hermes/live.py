"""How Hermes Agent is started for a proof. Seen working with 0.19.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, says
from onehook.hostkit.versions import Fact
from onehook.textedit.document import Document

MODES = ("",)
FULL = 200_000  # tokens
shell = call("terminal", "command")
write = call("write_file", "path", "content")
read = call("read_file", "path")
edit = call("patch", "path", "old_string", "new_string", mode="replace")
mcp = mcp_call("mcp__{server}__{tool}")
subagent = call("delegate_task", "goal")
subagent_end = says


def _settings(sandbox: Sandbox, **values: Any) -> None:
    path = sandbox.home / ".hermes" / "config.yaml"
    document = Document(path, "yaml")
    for key, value in values.items():
        document.set_value(tuple(key.split("__")), value)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document.after)


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    """Configure the scripted model as the only one."""
    url = f"{sandbox.model_url}/v1"
    _settings(sandbox, model={"default": "scripted", "provider": "custom", "base_url": url, "api_key": "scripted", "context_length": FULL})
    return Launch([str(sandbox.binary), "-z", sandbox.prompt, "--yolo"], {}, sandbox.project, sandbox.home)


def mcp_server(sandbox: Sandbox, name: str, argv: Sequence[str]) -> None:
    _settings(sandbox, **{f"mcp_servers__{name}": {"command": argv[0], "args": list(argv[1:])}})


def _disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Start it without shell hooks, which a variable can switch off."""
    return Launch(launch.argv, {**launch.env, "HERMES_SAFE_MODE": "1"}, launch.cwd, launch.home)


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": FULL}]


TRAITS = Traits(
    Package("hermes-agent[mcp]", "0.19.0", "0.18.0", "hermes", disk_mb=400, registry="pypi"),
    facts=(
        Fact(
            "Hermes asks hooks about the end of a turn only if the agent has edited files in it, and takes no more than three denials",
            since="0.18.0",
            rows=("stop-continued", "stop-guard"),
        ),
    ),
    lacks={"": {"compacts": "Hermes tells no hook that it compacts a session"}},
    disable=_disable,
)
