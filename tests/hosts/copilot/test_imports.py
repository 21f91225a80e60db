"""Importing hooks of Copilot CLI into a manifest."""

from __future__ import annotations

import json

import pytest

from onehook.core import UsageError
from onehook.policy import load_policy
from tests.hosts.copilot.import_facts import FOLDER
from tests.setup.importing import group, imported, one, onehook, repository, script, started


@pytest.fixture
def repo(tmp_path):
    return repository(tmp_path / "a repo", "copilot")


def test_a_pascal_case_hook_of_copilot_gets_the_other_dialect(repo):
    imported(repo, "--from", "copilot")
    assert 'events = ["copilot:PreToolUse"]' in (repo / "onehook.toml").read_text()
    for host in ("copilot", "claude"):
        assert started(repo, "files", host)
        seen = json.loads((repo / "log" / "pascal").read_text())
        assert (seen["hook_event_name"], seen["tool_name"]) == ("PreToolUse", "Write")
        assert "toolName" in json.loads((repo / "log" / "files").read_text())


def test_every_file_of_a_scope_is_read(repo, tmp_path):
    entry = {"bash": f"./{script(FOLDER, 'stop')}"}
    for name in (".github/copilot/settings.local.json", "../.copilot/settings.json", "../.copilot/hooks/mine.json"):
        (repo / name).resolve().parent.mkdir(parents=True, exist_ok=True)
        (repo / name).resolve().write_text(json.dumps({"hooks": {"agentStop": [entry]}}))
    for scope, count in (("local", 1), ("user", 2)):
        done = imported(repo, "--from", "copilot", "--scope", scope, "--output", f"{scope}.toml")
        assert f"{count} imported, 0 not imported" in done.stdout
    assert f"# {tmp_path}/.copilot/hooks/mine.json hooks.agentStop[0]" in (repo / "user.toml").read_text()


def test_hooks_that_copilot_takes_from_claudes_file_are_pointed_at(repo):
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [group(FOLDER, "stop")]}}))
    alone = onehook(repo, "import", "--from", "copilot", "--dry-run")
    assert f"Copilot CLI also runs the hooks in {repo}/.claude/settings.json; import them with --from claude" in alone.stderr
    assert "import them" not in onehook(repo, "import", "--from", "copilot,claude", "--dry-run").stderr


@pytest.mark.parametrize(
    ("matcher", "tools"),
    [
        ("Bash", ["Bash"]), ("bash", ["Bash"]), ("Edit|Write", ["Edit", "Write"]), ("Edit", ["Edit"]), ("*", []), ("**", []),
        ("B.*", ["Bash"]),
        ("Task", ["Agent"]), ("TodoWrite", ["update_todo"]), ("github-x", ["mcp__github__x"]), ("Web.*", ["WebFetch", "WebSearch"]),
        ("(?!a)", None),
    ],
)  # fmt: skip
def test_copilots_pascal_case_matchers_know_claudes_names(matcher, tools):
    hook = one("copilot", "PreToolUse", matcher=matcher)
    assert (None if hook.refused else hook.tools) == tools


def test_copilots_permission_requests_name_servers_by_a_slash_and_files_as_edits():
    assert one("copilot", "permissionRequest", matcher="github/create").tools == ["mcp__github__create"]
    assert one("copilot", "permissionRequest", matcher="edit").tools == ["Edit", "Write"]


@pytest.mark.parametrize("event", ["sessionStart", "SessionStart", "agentStop", "userPromptSubmitted", "postToolUseFailure", "sessionEnd"])
def test_a_matcher_that_copilot_ignores_is_ignored(event):
    hook = one("copilot", event, matcher="nothing")
    assert (hook.refused, hook.tools, hook.sources) == ("", [], [])


@pytest.mark.parametrize(("handler", "run"), [
    ({"exec": "tee", "args": ["a b"]}, ["tee", "a b"]),
    ({"exec": "tee", "args": ["a b"], "env": {"A": "$b"}}, ["env", "A=$b", "tee", "a b"]),
    ({"exec": "node", "args": ["lib/x.js"]}, 'cd "$COPILOT_PROJECT_DIR" || exit 1; node lib/x.js'),
    ({"exec": "tee", "args": ["a b"], "cwd": "/tmp/x y"}, "cd '/tmp/x y' || exit 1; tee 'a b'"),
    ({"command": "[[ x ]]", "env": {"A": "1"}}, "export A=1; [[ x ]]"), ({"command": "jq .", "cwd": ""}, "jq ."),
    ({"command": "jq .", "env": {"A": "$b"}}, "export A='$b'; jq ."),
])  # fmt: skip
def test_copilots_ways_to_name_a_command(handler, run):
    assert one("copilot", "agentStop", {"command": "", **handler}).run == run


def test_an_event_of_the_dialects_own_is_not_another_dialects(tmp_path):
    for speaks, works in (("copilot", True), ("claude", False)):
        (tmp_path / "onehook.toml").write_text(f'[[hook]]\nevents = ["copilot:PreToolUse"]\nrun = ["x"]\nspeaks = "{speaks}"\n')
        if works:
            (registration,) = load_policy(str(tmp_path / "onehook.toml")).registrations
            assert (registration.event, registration.handler.native_event) == ("PreToolUse", "PreToolUse")
        else:
            with pytest.raises(UsageError, match="unknown event 'copilot:PreToolUse'"):
                load_policy(str(tmp_path / "onehook.toml"))
