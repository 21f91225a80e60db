"""Start Cursor's own hook runtime, tools and session runner for a proof.

Cursor's agent loop runs on Cursor's server, so no model on loopback can drive it. Its npm package
@cursor/sdk contains everything that runs on the user's machine; `driver/driver.mjs` runs that, and plays
the server from a list of steps. `Sandbox.binary` is the folder of the package (node_modules/@cursor/sdk).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from onehook.hostkit.live import Launch, Package, Report, Sandbox, Step, Traits, call, mcp_servers_in, merge_json, read_json

MODES = ("",)
DRIVER = Path(__file__).with_name("driver") / "driver.mjs"
JOB_FILE = "onehook-cursor-job.json"
shell = call("Shell", "command")
write = call("Write", "file_path", "content")
read = call("Read", "file_path")
# Cursor sends an edit to the machine as a Write of the whole new text; the driver does the same.
edit = call("Edit", "file_path", "old_string", "new_string")
mcp = call("MCP", "server", "tool", "args")
mcp_server = mcp_servers_in("project", ".cursor/mcp.json")
# A Task call: preToolUse, subagentStart, the subagent's own steps, subagentStop, postToolUse.
subagent = call("Task", "prompt")


def prepare(sandbox: Sandbox, mode: str = "") -> Launch:
    """Write the job file and return the command that runs it.

    There is no model to ask, so the sandbox holds the script. As with a model, a "say" ends a turn: the steps
    after it wait for the turn that a stop hook starts.
    """
    if mode not in MODES:
        raise ValueError(f"cursor has no mode {mode!r}; known: {', '.join(map(repr, MODES))}")
    node = shutil.which("node")
    if node is None:
        raise FileNotFoundError("node is not on PATH; Cursor's runtime needs Node 20 or later")
    first, *followups = _turns(_nested(sandbox.steps))
    job = {
        "workspace": str(sandbox.project),
        "home": str(sandbox.home),
        "package": str(sandbox.binary),
        "prompt": sandbox.prompt,
        "steps": first,
        "followups": followups,
    }
    job_file = sandbox.home / JOB_FILE
    job_file.write_text(json.dumps(job), encoding="utf-8")
    return Launch([node, str(DRIVER), str(job_file)], {}, sandbox.project, sandbox.home)


def _nested(steps: Sequence[Step]) -> list[Step]:
    """Move the steps between subagent() and subagent_end() into the Task call."""
    nested: list[Step] = []
    for step in steps:
        if "subagent_end" not in step:
            nested.append(step)
            continue
        open_tasks = [index for index, done in enumerate(nested) if done.get("call") == "Task" and "steps" not in done["input"]]
        if not open_tasks:
            raise ValueError("subagent_end() without a subagent() before it")
        start = open_tasks[-1]
        task, own = nested[start], nested[start + 1 :]
        nested[start:] = [{**task, "input": {**task["input"], "steps": own, "summary": step["subagent_end"]}}]
    return nested


def _turns(steps: Sequence[Step]) -> list[list[Step]]:
    turns: list[list[Step]] = [[]]
    for step in steps:
        turns[-1].append(step)
        if "say" in step:
            turns.append([])
    return turns


def subagent_end(text: str, mode: str = "") -> Step:
    return {"subagent_end": text}


def compaction(mode: str = "") -> list[Step]:
    """Cursor's server decides when to compact, and notifies this machine."""
    return [{"event": "preCompact", "fields": {}}]


def report(stdout: str) -> Report:
    """The driver's result; empty if the run was cut off."""
    if not stdout.strip():
        return Report(0, (), "")
    result = json.loads(stdout)
    return Report(len(result["turns"]), tuple(entry["text"] for entry in result["told"]), json.dumps(result["shown"]))


def disable(sandbox: Sandbox, launch: Launch) -> Launch:
    """Add one unknown event, for which Cursor drops the whole file."""
    config = sandbox.project / ".cursor" / "hooks.json"
    merge_json(config, {"hooks": {**read_json(config)["hooks"], "onSomethingElse": []}})
    return launch


TRAITS = Traits(
    Package("@cursor/sdk", "1.0.32", "1.0.27", "@cursor/sdk", disk_mb=38),
    reported_version="1.0.0",  # whatever the SDK's own version is
    disable=disable,
    report=report,
)
