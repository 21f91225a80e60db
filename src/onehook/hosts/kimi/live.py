"""How Kimi Code is started for a proof. Seen working with 0.38.0 and 2.1.0."""

from __future__ import annotations

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, mcp_servers_in, says
from onehook.hostkit.versions import Fact

MODES = ("",)
CONFIG = ".kimi-code/config.toml"
shell = call("Bash", "command")
write = call("Write", "path", "content")
read = call("Read", "path")
edit = call("Edit", "path", "old_string", "new_string")
mcp = mcp_call("mcp__{server}__{tool}")
mcp_server = mcp_servers_in("home", ".kimi-code/mcp.json")
subagent = call("Agent", "prompt", description="a small task", run_in_background=False)
subagent_end = says
WINDOW = 200_000  # tokens


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    provider = f'[providers.scripted]\ntype = "openai"\nbase_url = "{sandbox.model_url}/v1"\napi_key = "scripted"\n'
    model = f'[models.scripted]\nprovider = "scripted"\nmodel = "scripted"\nmax_context_size = {WINDOW}\n'
    settings = f'default_model = "scripted"\ntelemetry = false\n\n{provider}\n{model}\n'
    path = sandbox.home / CONFIG
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before if settings in before else settings + before, encoding="utf-8")
    return Launch([str(sandbox.binary), "-p", sandbox.prompt], {}, sandbox.project, sandbox.home)


def compaction(mode: str = "") -> list[Step]:
    return [{**shell("true"), "usage": 190_000}, shell("sleep 1")]


def spoiled(sandbox: Sandbox, launch: Launch) -> Launch:
    """Add an entry of another program, with a key that Kimi Code does not know."""
    with (sandbox.home / CONFIG).open("a", encoding="utf-8") as file:
        file.write('\n[[hooks]]\nevent = "Stop"\ncommand = "true"\nname = "mine"\n')
    return launch


TRAITS = Traits(
    Package("@moonshot-ai/kimi-code", "2.1.0", "0.38.0", ".bin/kimi", disk_mb=292, node="22.19.0"),
    facts=(Fact("a stop can be refused once in a turn: the agent ends before the stop guard does", since="0.38.0", rows=("stop-guard",)),),
    disable=spoiled,
)
