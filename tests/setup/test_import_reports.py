"""`onehook import`: what it reports about hooks that are not carried over unchanged, and what it leaves in the files they came from."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onehook.cli.import_ import command as import_command
from onehook.hosts import HOSTS, load
from onehook.policy import load_policy
from tests.host_folders import facts
from tests.setup.importing import SOURCES, import_facts, one

GROUPED = [host for host in SOURCES if not import_facts(host).FLAT]


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def written(repo, name, data):
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
    return path


def run(repo, *arguments):
    return CliRunner().invoke(import_command, [*arguments, "--project", str(repo)])


def command(name, **more):
    return {"type": "command", "command": f"./{name}.sh", **more}


def test_taking_over_the_last_hook_of_a_group_removes_the_group_whatever_else_it_says(repo):
    groups = [{"matcher": "Bash", "description": "guards", "hooks": [command("a")]}]
    path = written(repo, ".claude/settings.json", {"permissions": {}, "hooks": {"PreToolUse": groups}})
    assert run(repo, "--from", "claude", "--take-over").exit_code == 0
    assert json.loads(path.read_text()) == {"permissions": {}}


def test_a_group_that_keeps_a_hook_keeps_what_it_says(repo):
    kept = {"type": "http", "url": "http://localhost:1"}
    groups = [{"matcher": "Bash", "description": "guards", "hooks": [command("a"), kept]}, {"note": "x", "hooks": [kept]}]
    path = written(repo, ".claude/settings.json", {"hooks": {"PreToolUse": groups}})
    assert run(repo, "--from", "claude", "--take-over").exit_code == 0
    assert json.loads(path.read_text())["hooks"]["PreToolUse"] == [{**groups[0], "hooks": [kept]}, groups[1]]


LIMITS = [(host, *row) for host in HOSTS for row in facts(host).STOP_LIMITS]


@pytest.mark.parametrize(("host", "name", "hooks", "limit"), LIMITS)
def test_a_stop_may_be_refused_as_often_as_on_the_agent_that_the_hook_comes_from(repo, host, name, hooks, limit):
    written(repo, name, {"version": 1, "hooks": hooks})
    done = run(repo, "--from", host)
    assert done.exit_code == 0, done.output
    assert load_policy(str(repo / "onehook.toml")).options["stop_limit"] == limit
    assert "loop_limit" not in done.output


def test_hooks_without_a_stop_set_no_limit(repo):
    written(repo, ".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [command("a")]}]}})
    run(repo, "--from", "claude")
    assert "stop_limit" not in (repo / "onehook.toml").read_text()


@pytest.mark.parametrize("host", GROUPED)
def test_hooks_without_a_group_around_them_are_listed_and_not_run(host):
    event = import_facts(host).TOOL_EVENT
    found = list(load(host, "imports").handlers({"hooks": {event: [command("a"), command("b")]}}))
    assert [hook.shown for hook in found] == ["./a.sh", "./b.sh"]
    assert all("must be in a group" in hook.refused for hook in found)


def test_a_loss_of_several_hooks_is_reported_once(repo):
    hooks = [{"matcher": "Bash", "hooks": [command(f"x{number}", statusMessage="hm")]} for number in range(6)]
    written(repo, ".claude/settings.json", {"hooks": {"PreToolUse": hooks}})
    said = run(repo, "--from", "claude", "--dry-run").output.partition("---")[0]
    assert said.count("statusMessage") == 1 and "(6 hooks)" in said


def test_a_long_prompt_is_shown_by_its_beginning(repo):
    prompt = "\n".join(f"line {number}" for number in range(25))
    hooks = [{"hooks": [{"type": "mcp_tool", "prompt": prompt}, command("a")]}]
    written(repo, ".claude/settings.json", {"hooks": {"PreToolUse": hooks}})
    done = run(repo, "--from", "claude")
    (line,) = [line for line in done.output.splitlines() if "line 0" in line]
    assert "line 20" not in done.output and "..." in line
    assert "line 20" not in (repo / "onehook.toml").read_text()


def test_a_name_that_is_not_a_tool_is_not_called_the_agents_own():
    losses = one("gemini", "BeforeTool", matcher="Foo|write_todos").losses
    assert any("no tool 'Foo' that onehook knows" in loss for loss in losses)
    assert any("write_todos exists only in Gemini CLI" in loss for loss in losses)


def test_a_word_of_another_agent_in_a_matcher_starts_nothing_that_it_did_not_start_before():
    assert "never matches: Gemini CLI has no such tool" in one("gemini", "BeforeTool", matcher="Bash").refused
    entry = {"command": "x", "matcher": "Bash|^Read$"}
    (hook,) = load("cursor", "imports").handlers({"hooks": {"preToolUse": [entry]}})
    assert hook.tools == ["Read"] and hook.losses == ["'Bash' in its matcher is not a tool of Cursor"]


def test_a_timeout_in_milliseconds_that_was_meant_in_seconds_is_reported():
    hook = one("gemini", "BeforeTool", {"timeout": 10})
    assert hook.timeout == 0.01 and any("10 ms" in loss for loss in hook.losses)
    assert one("gemini", "BeforeTool", {"timeout": 5000}).losses == []


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "PreCompress"])
def test_a_matcher_that_never_matches_is_refused_alike_on_every_event(event):
    assert "never matches" in one("gemini", event, matcher=".*").refused


@pytest.mark.parametrize("host", [host for host in HOSTS if facts(host).RUN_BY])
def test_a_command_keeps_the_shell_of_its_agent(repo, host):
    path, event, shell = facts(host).RUN_BY
    written(repo, path, {"hooks": {event: [{"hooks": [{"type": "command", "command": "jq ."}]}]}})
    assert run(repo, "--from", host).exit_code == 0
    (registration,) = load_policy(str(repo / "onehook.toml")).registrations
    assert (registration.handler.run, registration.handler.shell) == ("jq .", shell)


@pytest.mark.parametrize(("run", "note"), [
    ("tail -n1 $(jq -r .transcript_path)", True), ('"$CLAUDE_PROJECT_DIR"/hooks/stop.sh', True), ("true", False),
])  # fmt: skip
def test_hooks_that_read_the_transcript_are_noted_for_agents_without_one(repo, run, note):
    (repo / "hooks").mkdir()
    (repo / "hooks" / "stop.sh").write_text("jq -r .transcript_path\n")
    written(repo, ".claude/settings.json", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": run}]}]}})
    said = run_output(repo)
    assert ("1 of these hooks reads the transcript; on Cursor, " in said) is note


def test_a_word_of_the_payload_is_a_loss(repo):
    prompt = {"type": "prompt", "prompt": "Is $ARGUMENTS[1] safe?"}
    written(repo, ".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [prompt]}]}})
    done = run(repo, "--from", "claude", "--model", "anthropic:m")
    assert "$ARGUMENTS[...] in its prompt is replaced by the whole payload" in done.output


def run_output(repo):
    return " ".join(run(repo, "--from", "claude").output.split())
