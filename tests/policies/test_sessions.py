"""The policies about a whole session, a team's conventions and notes: what each of them stops, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onehook.core import Event, Hooks
from onehook.hostkit.reverse import sample
from onehook.hosts import having, load
from onehook.packs import read_toml
from onehook.policies import (
    budget,
    commit_rules,
    context_notes,
    dry_run,
    loop_guard,
    mcp_servers,
    run_before_stop,
    session_diary,
    todo_reminder,
)
from onehook.rules import SELF
from onehook.rules.compile import compile_layers
from onehook.rules.load import Rules, Table
from tests.host_folders import facts

TESTS = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def event(name: str, tool: str = "", /, **given) -> Event:
    return sample(name, tool, **{"session_id": "s-1", "cwd": "/p", **given})


def decided(hooks: Hooks, name: str, tool: str = "", /, **given) -> str | None:
    return hooks.dispatch(event(name, tool, **given)).decision


def ran(hooks: Hooks, command: str, result: object = "out") -> str | None:
    """A command as an agent runs it: the hooks are asked, and if none objects, it is run."""
    answer = decided(hooks, "PreToolUse", "Bash", command=command)
    if answer is None:
        done = event("PostToolUse", "Bash", command=command)
        done.tool_response = result
        hooks.dispatch(done)
    return answer


def wrote(hooks: Hooks, path: str, text: str) -> str | None:
    answer = decided(hooks, "PreToolUse", "Write", file_path=path, content=text)
    if answer is None:
        hooks.dispatch(event("PostToolUse", "Write", file_path=path, content=text))
    return answer


# --- loop_guard ------------------------------------------------------------------------------------------------------------------


def test_the_same_call_with_the_same_result_is_stopped():
    hooks = loop_guard()
    assert [ran(hooks, "make", "error 1") for _ in range(5)] == [None, None, None, "deny", "deny"]
    assert ran(hooks, "ls") is None


def test_two_calls_that_alternate_are_stopped():
    hooks = loop_guard()
    assert [ran(hooks, command, "no") for command in ["make", "make clean"] * 4] == [None] * 6 + ["deny", "deny"]


def test_another_result_or_a_changed_file_in_between_is_progress():
    hooks = loop_guard()
    assert [ran(hooks, "date", f"12:0{minute}") for minute in range(6)] == [None] * 6
    for number in range(6):
        assert ran(hooks, "pytest", "1 failed") is None
        assert wrote(hooks, "/p/a.py", f"x = {number}\n") is None


def test_a_change_that_is_made_and_undone_again_and_again_is_stopped():
    hooks = loop_guard()
    assert [wrote(hooks, "/p/a.py", text) for text in ["x = 1\n", "x = 2\n"] * 4] == [None] * 6 + ["deny", "deny"]


def test_a_failing_call_counts_where_failures_are_an_event_of_their_own():
    hooks = loop_guard(repeats=2)
    for _ in range(2):
        failed = event("PostToolUseFailure", "Bash", command="make")
        failed.error = "exit 2"
        hooks.dispatch(failed)
    assert decided(hooks, "PreToolUse", "Bash", command="make") == "deny"


# --- budget ----------------------------------------------------------------------------------------------------------------------


def test_calls_and_minutes_are_limited_for_each_session(monkeypatch):
    import time

    hooks = budget(calls=2)
    assert [ran(hooks, "ls") for _ in range(4)] == [None, None, "deny", "deny"]
    assert decided(hooks, "PreToolUse", "Bash", command="ls", session_id="other") is None
    timed, now = budget(minutes=5), time.time()
    assert decided(timed, "PreToolUse", "Bash", command="ls", session_id="timed") is None
    monkeypatch.setattr(time, "time", lambda: now + 299)
    assert decided(timed, "PreToolUse", "Bash", command="ls", session_id="timed") is None
    monkeypatch.setattr(time, "time", lambda: now + 301)
    assert decided(timed, "PreToolUse", "Bash", command="ls", session_id="timed") == "deny"


@pytest.mark.parametrize("host", having("transcripts"))
def test_tokens_are_counted_in_every_agents_own_files(host, tmp_path):
    usage = load(host, "transcripts").TOKENS
    if usage is None:
        assert facts(host).TOKENS == 0
        return
    files = [path for path in (TESTS / "hosts" / host / "transcripts").rglob("*.json*") if path.is_file()]
    whole = max(files, key=lambda path: path.stat().st_size)
    best = usage.count(str(whole))
    assert best["tokens"] >= facts(host).TOKENS > 0 and best["tokens"] % 14 == 0
    half = tmp_path / "growing.jsonl"  # what has been counted is not read again
    lines = whole.read_bytes().splitlines(keepends=True)
    half.write_bytes(b"".join(lines[: len(lines) // 2]))
    known = usage.count(str(half))
    half.write_bytes(whole.read_bytes())
    assert usage.count(str(half), known)["tokens"] == best["tokens"]


def test_tokens_of_the_transcript_are_limited(tmp_path):
    files = (TESTS / "hosts" / "claude" / "transcripts").rglob("*.jsonl")
    transcript = max(files, key=lambda path: load("claude", "transcripts").TOKENS.count(str(path))["tokens"])
    for limit, decision in ((14, "deny"), (10_000_000, None)):
        asked = event("PreToolUse", "Bash", command="ls", session_id=str(limit))
        asked.host, asked.transcript_path = "claude", str(transcript)
        assert budget(tokens=limit).dispatch(asked).decision == decision


@pytest.mark.parametrize("options", [{}, {"calls": 0}, {"minutes": True}])
def test_a_budget_needs_a_limit(options):
    with pytest.raises(ValueError, match=r"at least one|above 0"):
        budget(**options)


# --- dry_run ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["ls -la | grep x", "git status && git log -3", "cat a 2>/dev/null", "cd src; rg TODO"])
def test_a_dry_run_looks(command):
    assert decided(dry_run(), "PreToolUse", "Bash", command=command) is None


@pytest.mark.parametrize(
    "command",
    ["touch a", "echo x > a", "git commit -m x", "make", "cat a | tee b", "bash -c 'rm a'", "$X a", "git diff --output=a", "ls 'x"],
)
def test_a_dry_run_changes_nothing(command):
    assert decided(dry_run(), "PreToolUse", "Bash", command=command) == "deny"


def test_a_dry_run_of_other_tools():
    hooks = dry_run(allow=["make"])
    assert decided(hooks, "PreToolUse", "Write", file_path="/p/a", content="x") == "deny"
    assert decided(hooks, "PreToolUse", "MCP", server="github", tool="create_issue") == "deny"
    assert decided(hooks, "PreToolUse", "Read", file_path="/p/a") is None
    assert decided(hooks, "PreToolUse", "Bash", command="make -n") is None


# --- commit_rules ----------------------------------------------------------------------------------------------------------------

COMMITS = commit_rules(
    message=r"(feat|fix)(\(\w+\))?: \S", max_subject=30, forbidden=["co-authored-by"], branches=["feature/*", "fix/*"], require_message=True
)


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'fix: the parser'", "git commit -am 'feat(cli): init' -m 'a body that is much longer than thirty characters'",
        "git commit --amend --no-edit", "git commit --fixup=HEAD~1", "git checkout -b feature/x", "git switch -c fix/y main",
        "git checkout main",
        "git branch", "git branch -d old", "git log -m", "echo git commit -m x", "git -C sub commit --message='fix: x'",
    ],
)  # fmt: skip
def test_commits_and_branches_as_agreed(command):
    assert decided(COMMITS, "PreToolUse", "Bash", command=command) is None


@pytest.mark.parametrize(
    "command, why",
    [
        ("git commit -m 'wip'", "does not match"),
        ("git add . && git commit -am 'fix: a subject that is much too long to be read'", "the limit is 30"),
        ("git commit -m 'fix: x' -m 'Co-Authored-By: agent'", "co-authored-by"),
        ("git commit", "give the message with -m"),
        ("bash -c 'git commit -mwip'", "does not match"),
        ("git -C sub commit --message=wip", "does not match"),
        ("git checkout -b mine", "mine does not follow the naming convention"),
        ("git switch --create=mine", "mine does not follow"),
        ("git branch mine", "mine does not follow"),
    ],
)
def test_commits_and_branches_that_are_not(command, why):
    answer = COMMITS.dispatch(event("PreToolUse", "Bash", command=command))
    assert answer.decision == "deny" and why in answer.reason


# --- mcp_servers -----------------------------------------------------------------------------------------------------------------


def test_only_listed_mcp_servers_and_tools():
    hooks = mcp_servers("github", "linear__get_*")
    assert decided(hooks, "PreToolUse", "MCP", server="github", tool="anything") is None
    assert decided(hooks, "PreToolUse", "MCP", server="linear", tool="get_issue") is None
    assert decided(hooks, "PreToolUse", "MCP", server="linear", tool="delete_issue") == "deny"
    assert decided(hooks, "PreToolUse", "MCP", server="evil", tool="get_issue") == "deny"
    assert decided(hooks, "PreToolUse", "Bash", command="ls") is None


def test_a_pinned_server_must_be_the_configured_one(tmp_path):
    hooks = mcp_servers("github", "docs", pins={"github": "npx -y server-github@1.4.0", "docs": "https://docs.example/mcp"})
    config = tmp_path / ".mcp.json"
    config.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "github": {"command": "npx", "args": ["-y", "server-github@1.4.0"]},
                    "docs": {"url": "https://docs.example/mcp"},
                }
            }
        )
    )
    for server in ("github", "docs"):
        assert decided(hooks, "PreToolUse", "MCP", server=server, tool="x", cwd=str(tmp_path)) is None
    config.write_text(json.dumps({"mcpServers": {"github": {"command": "npx", "args": ["-y", "server-github@9.9.9"]}}}))
    for server in ("github", "docs"):
        assert decided(hooks, "PreToolUse", "MCP", server=server, tool="x", cwd=str(tmp_path)) == "deny"


# --- run_before_stop -------------------------------------------------------------------------------------------------------------


def test_the_commands_really_run_and_must_pass(tmp_path):
    hooks = run_before_stop(["sh", "-c", "echo checking; test -f good"], paths="*.py")
    given = {"cwd": str(tmp_path)}
    assert decided(hooks, "Stop", **given) is None  # nothing has changed
    hooks.dispatch(event("PostToolUse", "Write", file_path=str(tmp_path / "notes.md"), content="x", **given))
    assert decided(hooks, "Stop", **given) is None
    hooks.dispatch(event("PostToolUse", "Write", file_path=str(tmp_path / "a.py"), content="x", **given))
    answer = hooks.dispatch(event("Stop", **given))
    assert answer.decision == "deny" and "failed (exit 1)" in answer.reason and "checking" in answer.reason
    (tmp_path / "good").touch()
    assert decided(hooks, "Stop", **given) is None
    (tmp_path / "good").unlink()
    assert decided(hooks, "Stop", **given) is None  # nothing has changed since it passed


@pytest.mark.parametrize("command, why", [(["no-such-program-here"], "could not be started"), (["sleep", "5"], "took longer than 0.2 s")])
def test_a_command_that_cannot_run_keeps_the_agent_working(tmp_path, command, why):
    hooks = run_before_stop(command, timeout=0.2)
    hooks.dispatch(event("PostToolUse", "Write", file_path="/p/a.py", content="x"))
    assert why in (hooks.dispatch(event("Stop", cwd=str(tmp_path))).reason or "")


# --- notes -----------------------------------------------------------------------------------------------------------------------


def test_context_at_the_start_and_after_a_compaction(tmp_path):
    (tmp_path / "MAP.md").write_text("src: the code")
    hooks = context_notes(start="be brief", compacted="the branch is frozen", files=["MAP.md", "gone.md"])
    start = hooks.dispatch(event("SessionStart", source="startup", cwd=str(tmp_path))).additional_context or ""
    assert "be brief" in start and "src: the code" in start and "frozen" not in start
    again = hooks.dispatch(event("SessionStart", source="compact", cwd=str(tmp_path))).additional_context or ""
    assert "be brief" in again and "frozen" in again
    assert hooks.dispatch(event("PreCompact")).additional_context == "the branch is frozen"


def test_todos_are_brought_up_once():
    hooks = todo_reminder()
    assert decided(hooks, "Stop") is None
    hooks.dispatch(
        event("PostToolUse", "Edit", file_path="/p/a.py", old_string="x = 1  # TODO: old", new_string="x = 1  # TODO: old\n# FIXME: later")
    )
    answer = hooks.dispatch(event("Stop"))
    assert answer.decision == "deny" and "a.py: # FIXME: later" in answer.reason and "TODO: old" not in answer.reason
    assert decided(hooks, "Stop") is None


def test_a_diary_line_for_each_stop(tmp_path):
    hooks, given = session_diary(), {"cwd": str(tmp_path)}
    hooks.dispatch(event("Stop", **given))
    assert not (tmp_path / ".agent-diary.md").exists()
    hooks.dispatch(event("PostToolUse", "Write", file_path=str(tmp_path / "src/a.py"), content="x", **given))
    hooks.dispatch(event("PostToolUse", "Bash", command="make", **given))
    for _ in range(2):
        hooks.dispatch(event("Stop", **given))
    (line,) = (tmp_path / ".agent-diary.md").read_text().splitlines()
    assert "src/a.py; 1 commands" in line
    with pytest.raises(ValueError, match="below the project"):
        session_diary("../elsewhere.md")


# --- in a rules file -------------------------------------------------------------------------------------------------------------

FILE = """
[policies.loop_guard]
repeats = 2
[policies.budget]
calls = 100
[policies.commit_rules]
max_subject = 50
[policies.mcp_servers]
allow = ["github"]
pins = { github = "npx x" }
[policies.run_before_stop]
commands = [["true"]]
timeout = 60
[policies.context_notes]
start = "hello"
[policies.dry_run]
[policies.todo_reminder]
[policies.session_diary]
path = "diary.md"
[levels]
"policies.dry_run" = "log"
"""


def test_all_of_them_stand_in_a_rules_file(tmp_path):
    path = tmp_path / "onehook.toml"
    path.write_text(FILE)
    rules = Rules(Table(*compile_layers([("project", str(path))])))
    written = set(read_toml(str(path), path.read_bytes())["policies"])
    assert {name for name, *_ in rules.table.header["policies"]} == written | {SELF}
    assert rules.options["timeout"] == 70  # run_before_stop needs it
    assert decided(rules, "PreToolUse", "MCP", server="evil", tool="x") == "deny"
    assert decided(rules, "PreToolUse", "Bash", command="touch x") is None
    assert rules.dispatch(event("SessionStart", source="startup")).additional_context == "hello"
