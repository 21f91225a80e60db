"""The driver on Cursor's real runtime, with hooks written by hand in Cursor's own form."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onehook.hostkit.live import Sandbox, Step
from onehook.hosts.cursor import live
from onehook.prove.agents import cache_folder, pins
from onehook.prove.process import Outcome, run_agent

PACKAGE = pins()["cursor"].program(cache_folder())
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH")
needs_cursor = pytest.mark.skipif(
    not PACKAGE.is_dir() or shutil.which("node") is None,
    reason="@cursor/sdk is not in the cache folder: onehook prove --install",
)

ECHO_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, result = message["method"], {}
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        server = {"name": "echo", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    elif method == "tools/list":
        result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "heard " + message["params"]["arguments"]["text"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    return Sandbox(home=home, project=project, model_url="", prompt="do it", binary=PACKAGE)


def answering(answer: dict[str, Any], exit_code: int = 0) -> str:
    return f"printf %s {shlex.quote(json.dumps(answer))}; exit {exit_code}"


def denying(reason: str) -> dict[str, Any]:
    return {"command": answering({"permission": "deny", "user_message": reason})}


def install(sandbox: Sandbox, hooks: dict[str, list[dict[str, Any]]], version: object = 1) -> None:
    path = sandbox.project / ".cursor" / "hooks.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"version": version, "hooks": hooks}), encoding="utf-8")


def drive(sandbox: Sandbox, *steps: Step) -> Outcome:
    return run_agent(live.prepare(replace(sandbox, steps=steps)), timeout=90)


def session(sandbox: Sandbox, *steps: Step) -> str:
    done = drive(sandbox, *steps)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def told(stdout: str) -> list[str]:
    """What the model was given, in order: prompts, tool results, refusals, contexts, follow-ups."""
    return [entry["text"] for entry in json.loads(stdout)["told"]]


def blocked(stdout: str) -> list[tuple[str, str]]:
    """What hooks blocked: (tool | prompt | subagent | session, its name)."""
    return [(entry["what"], entry["name"]) for entry in json.loads(stdout)["blocked"]]


def ended(stdout: str) -> bool:
    """Whether the session ended by itself (it did not run out of time or turns, and did not fail)."""
    return json.loads(stdout)["ended"] in ("completed", "prompt-blocked", "session-blocked")


@needs_cursor
def test_a_denied_command_does_not_run_and_only_the_user_message_reaches_the_model(sandbox: Sandbox) -> None:
    answer = {"permission": "deny", "user_message": "U", "agent_message": "A"}
    install(sandbox, {"preToolUse": [{"command": answering(answer)}]})
    stdout = session(sandbox, live.shell("touch ran"))
    assert not (sandbox.project / "ran").exists()
    assert blocked(stdout) == [("tool", "Shell")]
    assert told(stdout)[1].startswith("U\n")
    assert "A" not in told(stdout)[1].replace("Agent note", "")
    assert ended(stdout)


@needs_cursor
def test_an_unhooked_command_runs_and_its_output_reaches_the_model(sandbox: Sandbox) -> None:
    stdout = session(sandbox, live.shell("touch ran; echo spoken"))
    assert (sandbox.project / "ran").exists()
    assert told(stdout) == ["do it", "spoken\n[exit 0]"]
    assert blocked(stdout) == []


@needs_cursor
def test_a_denied_write_is_reported_as_blocked_although_cursor_calls_it_an_error(sandbox: Sandbox) -> None:
    install(sandbox, {"preToolUse": [denying("no edits")]})
    (sandbox.project / "kept").write_text("old", encoding="utf-8")
    stdout = session(sandbox, live.write("new", "x"), live.edit("kept", "old", "changed"))
    assert blocked(stdout) == [("tool", "Write"), ("tool", "Edit")]
    assert not (sandbox.project / "new").exists()
    assert (sandbox.project / "kept").read_text(encoding="utf-8") == "old"


@needs_cursor
def test_json_with_exit_2_gives_the_model_the_raw_json(sandbox: Sandbox) -> None:
    answer = {"permission": "deny", "user_message": "U"}
    install(sandbox, {"preToolUse": [{"command": answering(answer, exit_code=2)}]})
    assert told(session(sandbox, live.shell("touch ran")))[1].startswith(json.dumps(answer))


@needs_cursor
def test_contexts_of_hooks_before_and_after_a_tool_reach_the_model(sandbox: Sandbox) -> None:
    events = ("preToolUse", "postToolUse", "postToolUseFailure")
    install(sandbox, {event: [{"command": answering({"additional_context": event})}] for event in events})
    stdout = session(sandbox, live.shell("true"), live.shell("exit 3"))
    assert told(stdout)[1:4] == ["[exit 0]", "preToolUse", "postToolUse"]
    assert told(stdout)[4:] == ["[exit 3]", "preToolUse", "postToolUseFailure"]


@needs_cursor
def test_a_stop_hook_starts_as_many_turns_as_its_loop_limit(sandbox: Sandbox) -> None:
    install(sandbox, {"stop": [{"command": answering({"followup_message": "again"}), "loop_limit": 2}]})
    stdout = session(sandbox)
    assert told(stdout) == ["do it", "again", "again"]
    assert ended(stdout)


@needs_cursor
def test_steps_after_an_answer_wait_for_the_turn_that_a_stop_hook_starts(sandbox: Sandbox) -> None:
    steps = ({"say": "finished"}, live.shell("touch second"))
    session(sandbox, *steps)
    assert not (sandbox.project / "second").exists()
    install(sandbox, {"stop": [{"command": answering({"followup_message": "go on"}), "loop_limit": 1}]})
    session(sandbox, *steps)
    assert (sandbox.project / "second").exists()


@needs_cursor
def test_a_prompt_is_blocked_only_when_the_server_asks(sandbox: Sandbox) -> None:
    install(sandbox, {"beforeSubmitPrompt": [{"command": answering({"continue": False})}]})
    assert told(session(sandbox)) == ["do it"]
    asked = session(sandbox, {"event": "beforeSubmitPrompt", "fields": {}})
    assert told(asked) == []
    assert blocked(asked) == [("prompt", "beforeSubmitPrompt")]


@needs_cursor
def test_a_refused_session_never_sees_the_prompt(sandbox: Sandbox) -> None:
    answer = {"continue": False, "user_message": "closed"}
    install(sandbox, {"sessionStart": [{"command": answering(answer)}]})
    stdout = session(sandbox, live.shell("touch ran"))
    assert told(stdout) == []
    assert json.loads(stdout)["error"] == "closed"
    assert not (sandbox.project / "ran").exists()


@needs_cursor
def test_an_mcp_tool_gets_the_arguments_that_a_hook_rewrote(sandbox: Sandbox) -> None:
    live.mcp_server(sandbox, "lab", [sys.executable, "-c", ECHO_SERVER])
    rewriting = {"command": answering({"updated_input": {"text": "new"}}), "matcher": "MCP:echo"}
    install(sandbox, {"preToolUse": [rewriting]})
    stdout = session(sandbox, live.mcp("lab", "echo", {"text": "old"}))
    assert "heard new" in told(stdout)[1]


@needs_cursor
def test_a_denied_subagent_makes_no_tool_call(sandbox: Sandbox) -> None:
    install(sandbox, {"subagentStart": [denying("alone")]})
    own = live.shell("touch own")
    stdout = session(sandbox, live.subagent("help"), own, live.subagent_end("bye"), live.shell("touch parents"))
    assert blocked(stdout) == [("subagent", "generalPurpose")]
    assert not (sandbox.project / "own").exists()
    assert (sandbox.project / "parents").exists()


@needs_cursor
def test_a_subagent_that_may_start_makes_its_calls_and_reports_to_its_parent(sandbox: Sandbox) -> None:
    own = live.shell("touch own")
    stdout = session(sandbox, live.subagent("help"), own, live.subagent_end("all done"))
    assert (sandbox.project / "own").exists()
    assert told(stdout)[-1] == "all done"


@needs_cursor
def test_a_config_that_cursor_rejects_is_named_and_none_of_its_hooks_run(sandbox: Sandbox) -> None:
    install(sandbox, {"preToolUse": [{"command": "exit 2"}]}, version="1")
    result = json.loads(session(sandbox, live.shell("touch ran")))
    assert "version must be a number" in result["config_errors"][0]
    assert result["hooks"] == []
    assert (sandbox.project / "ran").exists()


@needs_node
def test_a_missing_package_is_named_with_the_command_that_installs_it(sandbox: Sandbox) -> None:
    nowhere = Sandbox(sandbox.home, sandbox.project, "", "do it", sandbox.home / "nowhere")
    done = drive(nowhere)
    assert done.exit_code == 3
    assert "npm install" in done.stderr and "nowhere" in done.stderr


@needs_node
def test_a_package_that_is_packed_differently_is_refused_with_the_missing_part(sandbox: Sandbox) -> None:
    bundle = sandbox.home / "sdk" / "dist" / "esm" / "index.js"
    bundle.parent.mkdir(parents=True)
    bundle.write_text("export const other = 1;\n", encoding="utf-8")
    done = drive(Sandbox(sandbox.home, sandbox.project, "", "do it", sandbox.home / "sdk"))
    assert done.exit_code == 3
    assert "module lookup function" in done.stderr


@needs_node
def test_an_unknown_mode_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="no mode 'code'"):
        live.prepare(sandbox, "code")


@needs_cursor
def test_cursor_drops_a_claude_hook_with_the_same_command_even_where_its_own_does_not_match(
    sandbox: Sandbox,
) -> None:
    hook = denying("guarded")
    claude = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", **hook}]}]}}
    settings = sandbox.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(claude), encoding="utf-8")
    assert blocked(session(sandbox, live.shell("true"))) == [("tool", "Shell")]
    install(sandbox, {"preToolUse": [{**hook, "matcher": "Read"}]})
    assert blocked(session(sandbox, live.shell("true"))) == []


@needs_node
def test_an_end_of_a_subagent_that_never_began_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="without a subagent"):
        live.prepare(replace(sandbox, steps=(live.subagent_end("bye"),)))


def test_registering_an_mcp_server_keeps_the_others(sandbox: Sandbox) -> None:
    live.mcp_server(sandbox, "one", ["a"])
    live.mcp_server(sandbox, "two", ["b", "c"])
    servers = json.loads((sandbox.project / ".cursor" / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert servers == {"one": {"command": "a", "args": []}, "two": {"command": "b", "args": ["c"]}}
