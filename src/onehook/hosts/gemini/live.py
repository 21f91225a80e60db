"""How Gemini CLI is started for a proof. Seen working with 0.61.0."""

from __future__ import annotations

from onehook.hostkit.live import Launch, Package, Sandbox, Step, Traits, call, mcp_call, mcp_servers_in, merge_json, with_setting

MODES = ("",)
# A fixed model: with the automatic choice a classifier is asked before every turn.
MODEL = "gemini-2.5-flash"
SETTINGS = ".gemini/settings.json"
AUTH = {"selectedType": "gemini-api-key"}
shell = call("run_shell_command", "command")
write = call("write_file", "file_path", "content")
read = call("read_file", "file_path")
edit = call("replace", "file_path", "old_string", "new_string", instruction="change the text")
mcp = mcp_call("mcp_{server}_{tool}")
mcp_server = mcp_servers_in("home", SETTINGS, trust=True)
subagent = call("invoke_agent", "prompt", agent_name="generalist")


def subagent_end(text: str, mode: str = "") -> Step:
    """A message alone does not end a subagent: Gemini CLI 0.61.0 asks it again to make this call."""
    return {"call": "complete_task", "input": {"result": {"response": text}}}


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    merge_json(sandbox.home / SETTINGS, {"security": {"auth": AUTH, "folderTrust": {"enabled": False}}})
    argv = [str(sandbox.binary), "-p", sandbox.prompt, "--yolo", "-m", MODEL]
    env = {
        "GEMINI_API_KEY": "scripted",
        "GOOGLE_GEMINI_BASE_URL": sandbox.model_url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return Launch(argv, env, sandbox.project, sandbox.home)


def compaction(mode: str = "") -> list[Step]:
    """Before a first prompt there is nothing that 0.61.0 could compress, so the session must be resumed (see compactable)."""
    return [{"say": "that was the first prompt"}, {**shell("true"), "usage": 1_000_000}]


def compactable(launch: Launch) -> Launch:
    """Two prompts, one after the other, in one session."""
    argv = ["/bin/sh", "-c", '"$@" && exec "$@" --resume latest', "sh", *launch.argv]
    return Launch(argv, launch.env, launch.cwd, launch.home)


def asks(sandbox: Sandbox, launch: Launch) -> Launch:
    """Start with folder trust on, as it is by default."""
    merge_json(sandbox.home / SETTINGS, {"security": {"auth": AUTH}})
    env = {name: value for name, value in launch.env.items() if name != "GEMINI_CLI_TRUST_WORKSPACE"}
    return Launch(launch.argv, env, launch.cwd, launch.home)


TRAITS = Traits(
    Package("@google/gemini-cli", "0.61.0", "0.55.1", ".bin/gemini", disk_mb=96),
    compactable=compactable,
    disable=with_setting("project", SETTINGS, hooksConfig={"enabled": False}),
    asks=asks,
)
