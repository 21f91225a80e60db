"""How OpenHands CLI is started for a proof. Seen working with 1.16.0 and 1.13.1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_servers_in, says
from onehook.hostkit.versions import Fact

MODES = ("",)
_ASKED = {"security_risk": "LOW", "summary": "a step of the proof"}  # required with each call
shell = call("terminal", "command", **_ASKED)
write = call("file_editor", "path", "file_text", command="create", **_ASKED)
read = call("file_editor", "path", command="view", **_ASKED)
edit = call("file_editor", "path", "old_str", "new_str", command="str_replace", **_ASKED)
subagent = call("task", "prompt", description="a small task", subagent_type="default", **_ASKED)
subagent_end = says
mcp_server = mcp_servers_in("home", ".openhands/mcp.json")


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    env = {
        "LLM_API_KEY": "scripted",
        "LLM_BASE_URL": sandbox.model_url + "/v1",
        "LLM_MODEL": "openai/scripted",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # otherwise it waits for a list of models from the network
        "OPENHANDS_SUPPRESS_BANNER": "1",
        "DO_NOT_TRACK": "1",
        "TMUX_TMPDIR": str(sandbox.home),  # a separate terminal server, with this home
    }
    argv = [str(sandbox.binary), "--headless", "--override-with-envs", "-t", sandbox.prompt]
    return Launch(argv, env, sandbox.project, sandbox.home, leaves=True)


def mcp(server: str, tool: str, args: Mapping[str, Any], mode: str = "") -> Step:
    """The name of an MCP tool has no prefix."""
    return {"call": tool, "input": {**args, **_ASKED, "summary": f"a call of {server}"}}


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": 1_000_000}]


TRAITS = Traits(
    Package("openhands", "1.16.0", "1.13.1", "openhands", disk_mb=750, registry="pypi", python="3.12"),
    facts=(Fact("a subagent's tools run no hooks: deny the tool Agent", since="1.13.1", rows=("deny-subagent",)),),
    lacks={"": {"compacts": "OpenHands runs no hook when it condenses a session"}},
)
