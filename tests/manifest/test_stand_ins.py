"""Moments for which a host has no event: another of its events tells a manifest's programs about them."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from harness import clean_environment, fire

from onehook.core import Hooks
from onehook.hostkit.reverse import sample, unified_events
from onehook.hosts import HOSTS, load, wire_of
from onehook.manifest.needs import stand_ins_of
from onehook.policy import load_policy
from tests.manifest.kit import manifest_of, sh

SAID = {"claude": '{"decision": "block", "reason": "look again"}', "onehook": '{"decision": "deny", "reason": "look again"}'}


def of_gemini(event, tool="", **fields):
    return load("gemini", "reverse").payload(sample(event, tool, session_id="s", cwd="/r", **fields))


def agent_call(event, result=None):
    payload = of_gemini(event, "Agent", prompt="look around", subagent_type="scout")
    return {**payload, "tool_response": {"llmContent": result}} if result else payload


def test_a_stand_in_is_an_event_that_the_host_has_for_one_that_it_lacks():
    for host in HOSTS:
        wire = wire_of(host)
        for native, row in wire.TRAITS.stand_ins.items():
            assert native in wire.EVENTS
            assert row.source or row.event not in unified_events(wire.EVENTS), (host, native)


def test_a_subagent_that_ended_on_gemini_is_told_with_what_it_said(tmp_path):
    seen = tmp_path / "seen"
    path = manifest_of(tmp_path / "m", sh(f"cat > {seen}", "claude", '["SubagentStop"]'))
    fire(path, agent_call("PostToolUse", "all is well"), "--host", "gemini")
    payload = json.loads(seen.read_text())
    assert (payload["hook_event_name"], payload["last_assistant_message"]) == ("SubagentStop", "all is well")
    assert payload["session_id"] == "s" and "tool_name" not in payload


@pytest.mark.parametrize(
    "payload",
    [agent_call("PreToolUse"), of_gemini("PostToolUse", "Bash", command="ls"), of_gemini("Stop"), of_gemini("PreCompact")],
)
def test_no_other_event_is_taken_for_it(tmp_path, payload):
    seen = tmp_path / "seen"
    path = manifest_of(tmp_path / "m", sh(f"cat > {seen}", "claude", '["SubagentStop"]'))
    assert fire(path, payload, "--host", "gemini").exit_code == 0
    assert not seen.exists()


@pytest.mark.parametrize("speaks", SAID)
def test_to_block_the_moment_is_not_to_block_what_stands_in(tmp_path, speaks):
    path = manifest_of(tmp_path, sh(f"echo '{SAID[speaks]}'", speaks, '["SubagentStop"]'))
    result = fire(path, agent_call("PostToolUse", "done"), "--host", "gemini")
    assert result.answer == {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "look again"}}
    assert "gemini AfterTool stands in for SubagentStop, and cannot deny it" in result.stderr


def test_a_program_that_fails_closed_does_not_block_what_stands_in(tmp_path):
    path = manifest_of(tmp_path, sh("exit 7", "claude", '["SubagentStart"]', 'fail = "closed"'))
    result = fire(path, agent_call("PreToolUse"), "--host", "gemini")
    assert (result.exit_code, result.answer) == (0, {})
    assert "exit code 7" in result.stderr


def test_the_real_event_is_still_blocked_by_those_that_want_it(tmp_path):
    """A program for which this event is a stand-in, and one for the event itself: the second decides."""
    deny = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}'
    path = manifest_of(tmp_path, sh("exit 0", "claude", '["SubagentStart"]'), sh(f"echo '{deny}'", "claude", '["PreToolUse"]'))
    assert fire(path, agent_call("PreToolUse"), "--host", "gemini").answer["decision"] == "deny"


@pytest.mark.parametrize(("sources", "started"), [('sources = ["compact"]', True), ('sources = ["startup"]', False), ("", False)])
def test_a_compaction_is_told_to_those_who_ask_for_it(tmp_path, sources, started):
    seen = tmp_path / "seen"
    path = manifest_of(tmp_path / "m", sh(f"cat > {seen}", "claude", '["SessionStart"]', sources))
    fire(path, load("cursor", "reverse").payload(sample("PreCompact", session_id="s", cwd="/r")), "--host", "cursor")
    assert seen.exists() is started


def test_what_comes_before_a_compaction_only_at_times_stands_in_only_then(tmp_path):
    """Gemini CLI sends PreCompress before every request; only the transcript shows whether it will compress."""
    seen, transcript = tmp_path / "seen", tmp_path / "session.jsonl"
    path = manifest_of(tmp_path / "m", sh(f"cat > {seen}", "claude", '["SessionStart"]', 'sources = ["compact"]'))
    for tokens in (7, 1_000_000):
        assert not seen.exists()
        transcript.write_text(json.dumps({"type": "gemini", "tokens": {"input": tokens}}))
        assert fire(path, {**of_gemini("PreCompact"), "transcript_path": str(transcript)}, "--host", "gemini").answer == {}
    assert seen.exists()


def test_context_for_the_compaction_takes_effect_where_the_host_takes_it(tmp_path):
    path = manifest_of(tmp_path, sh("echo frozen", "claude", '["SessionStart"]', 'sources = ["compact"]'))
    event = sample("PreCompact", session_id="s", cwd="/r")
    assert fire(path, load("opencode", "reverse").payload(event), "--host", "opencode").answer == {"context": "frozen"}
    lost = fire(path, load("gemini", "reverse").payload(event), "--host", "gemini")
    assert lost.answer == {}
    assert "additional_context" in lost.stderr and "PreCompress" in lost.stderr


def test_a_policy_that_holds_a_manifest_has_them_too(tmp_path):
    seen = tmp_path / "seen"
    path = manifest_of(tmp_path, sh(f"cat > {seen}", "claude", '["SubagentStop"]'))
    policy = tmp_path / "policy.py"
    taking = f"hooks = Hooks().use(load_policy({str(path)!r}))"
    policy.write_text(f"from onehook import Hooks\nfrom onehook.policy import load_policy\n{taking}\n")
    assert fire(policy, agent_call("PostToolUse", "done"), "--host", "gemini").exit_code == 0
    assert seen.exists()
    assert stand_ins_of(Hooks().use(load_policy(str(path))), "gemini") == {"PostToolUse": "SubagentStop"}


def test_what_a_host_must_be_installed_for(tmp_path):
    compacted = sh("x", "claude", '["SessionStart"]', 'sources = ["compact"]')
    hooks = load_policy(str(manifest_of(tmp_path, sh("x", "claude", '["SubagentStop", "Stop"]'), compacted)))
    assert stand_ins_of(hooks, "gemini") == {"PostToolUse": "SubagentStop", "PreCompact": "SessionStart"}
    assert stand_ins_of(hooks, "cursor") == {"PreCompact": "SessionStart"}
    assert stand_ins_of(hooks, "claude") == stand_ins_of(hooks, "qwen") == stand_ins_of(Hooks(), "gemini") == {}
    elsewhere = load_policy(str(manifest_of(tmp_path / "other", sh("x", "claude", '["SubagentStop"]', 'hosts = ["claude"]'))))
    assert stand_ins_of(elsewhere, "gemini") == {}


def test_lint_knows_that_something_stands_in(tmp_path):
    path = manifest_of(tmp_path, sh("true", "claude", '["SubagentStop"]'), sh("true", "claude", '["PermissionRequest"]'))
    argv = [sys.executable, "-I", "-m", "onehook", "lint", str(path), "--hosts", "claude,gemini", "--format", "json"]
    done = subprocess.run(argv, env=clean_environment({}), capture_output=True, text=True, timeout=60, check=False)
    absent = [finding["text"] for finding in json.loads(done.stdout)["findings"] if finding["code"] == "OH101"]
    assert len(absent) == 1 and "PermissionRequest" in absent[0], done.stdout


def installed(project, *arguments):
    argv = [sys.executable, "-I", "-m", "onehook", "install", "onehook.toml", "--project", str(project), "--yes", *arguments]
    environment = clean_environment({"HOME": str(project / "home"), "ONEHOOK_STATE_DIR": str(project / "state")})
    return subprocess.run(argv, cwd=project, env=environment, capture_output=True, text=True, timeout=60, check=True)


def test_install_adds_the_events_that_stand_in_and_on_those_hosts_alone(tmp_path):
    manifest_of(tmp_path, sh("true", "claude", '["SubagentStop"]'), sh("true", "claude", '["SessionStart"]', 'sources = ["compact"]'))
    done = installed(tmp_path, "--hosts", "gemini,claude,cursor,opencode")
    gemini = json.loads((tmp_path / ".gemini" / "settings.json").read_text())["hooks"]
    assert {"AfterTool", "PreCompress"} <= set(gemini)
    assert "PreCompact" not in json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    assert "preCompact" in json.loads((tmp_path / ".cursor" / "hooks.json").read_text())["hooks"]
    plugin = (tmp_path / ".opencode" / "plugins" / "onehook.js").read_text()
    assert re.search(r'"events": \[[^]]*"experimental.session.compacting"', plugin)
    assert "no event SubagentStop" not in done.stderr


def test_events_that_are_named_are_all_that_is_installed(tmp_path):
    manifest_of(tmp_path, sh("true", "claude", '["SessionStart"]', 'sources = ["compact"]'))
    installed(tmp_path, "--hosts", "cursor", "--events", "SessionStart")
    assert list(json.loads((tmp_path / ".cursor" / "hooks.json").read_text())["hooks"]) == ["sessionStart"]
