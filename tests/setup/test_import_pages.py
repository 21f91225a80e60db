"""`onehook import` of hooks in the front matter of skills, agents and commands, which run only while those are active."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onehook.cli.import_ import command as import_command

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomlkit as tomllib  # type: ignore[no-redef]

HOOK = """hooks:
  {event}:
    - matcher: "{matcher}"
      hooks:
        - type: command
          command: "{command}"
"""


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ONEHOOK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def page(path, name="x", event="PreToolUse", matcher="Bash", command="./check.sh", more="", keys=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    hooks = HOOK.format(event=event, matcher=matcher, command=command) + more
    path.write_text(f"---\nname: {name}\n{keys}{hooks}model: opus\n---\nThe text.\n", encoding="utf-8")


def imported(repo, *args):
    result = CliRunner().invoke(import_command, ["--from", "claude", "--project", str(repo), *args])
    manifest = repo / "onehook.toml"
    return result, tomllib.loads(manifest.read_text())["hook"] if manifest.exists() else []


def test_an_agents_hooks_are_for_that_kind_of_agent(repo):
    page(repo / ".claude" / "agents" / "team" / "r.md", "reviewer")
    result, (hook,) = imported(repo)
    assert (hook["agent_types"], hook["events"], hook["tools"]) == (["reviewer"], ["PreToolUse"], ["Bash"])
    assert "PreToolUse for 'reviewer' does not fire on" in result.output and "Gemini CLI" in result.output


def test_the_stop_of_an_agent_is_that_of_a_subagent_too(repo):
    page(repo / ".claude" / "agents" / "reviewer.md", "reviewer", "Stop", "")
    assert imported(repo)[1][0]["events"] == ["SubagentStop", "Stop"]


@pytest.mark.parametrize(
    ("path", "name"),
    [("skills/guard/SKILL.md", "guard"), ("commands/ship.md", "ship"), ("commands/git/ship.md", "git:ship")],
)
def test_the_hooks_of_a_skill_or_a_command_are_for_what_it_is_started_as(repo, path, name):
    page(repo / ".claude" / path, "another-name", more="          once: true\n")
    result, (hook,) = imported(repo)
    assert (hook["skills"], hook["once"]) == ([name], True)
    assert f"the hooks of '{name}' do not fire on Cursor, Codex CLI" in result.output


def test_a_skills_folder_is_named_as_its_own_agent_does(repo):
    page(repo / ".claude" / "skills" / "guard" / "SKILL.md", command="$CLAUDE_PLUGIN_ROOT/check.sh")
    assert imported(repo)[1][0]["run"].startswith('export CLAUDE_PLUGIN_ROOT="$ONEHOOK_PROJECT_DIR"/.claude/skills/guard; ')


def test_pages_of_the_user_are_found_in_the_users_folder(repo, tmp_path):
    page(tmp_path / "home" / ".claude" / "skills" / "guard" / "SKILL.md")
    assert imported(repo)[1] == []
    assert imported(repo, "--scope", "user")[1][0]["skills"] == ["guard"]


def test_take_over_takes_the_hooks_out_of_the_front_matter_and_nothing_else(repo):
    path = repo / ".claude" / "skills" / "guard" / "SKILL.md"
    page(path, "guard")
    before = path.read_text()
    result, _ = imported(repo, "--take-over")
    assert path.read_text() == "---\nname: guard\nmodel: opus\n---\nThe text.\n"
    copy = next(line for line in result.output.splitlines() if "to undo: cp" in line).split("cp ")[1].split()[0]
    with open(copy, encoding="utf-8") as file:
        assert file.read() == before


def test_a_page_that_is_not_imported_whole_stays_and_its_hooks_are_for_other_agents(repo):
    path = repo / ".claude" / "skills" / "guard" / "SKILL.md"
    page(path, more="  Stop:\n    - hooks:\n        - type: prompt\n          prompt: Is it done?\n")
    before = path.read_text()
    result, (hook,) = imported(repo, "--take-over")
    assert path.read_text() == before and "claude" not in hook["hosts"] and "codex" in hook["hosts"]
    assert "NOT imported  claude Stop: Is it done?" in result.output


@pytest.mark.parametrize(
    ("path", "given", "reason"),
    [
        ("skills/guard/SKILL.md", {"keys": "context: fork\n"}, "a skill that runs in a subagent"),
        ("agents/reviewer.md", {"event": "SubagentStart", "matcher": ""}, "begin after its SubagentStart"),
        ("agents/reviewer.md", {"more": "  Stop: *alias\n"}, "cannot read this front matter: 'Stop: *alias'"),
    ],
)
def test_what_its_agent_never_runs_and_what_cannot_be_read_is_reported(repo, path, given, reason):
    page(repo / ".claude" / path, **given)
    result, hooks = imported(repo)
    assert hooks == [] and "NOT imported" in result.output and reason in result.output


def test_a_plugins_skills_have_its_name_and_its_agents_no_hooks(repo, tmp_path):
    plugin = tmp_path / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "tools"}))
    (plugin / "hooks").mkdir()
    (plugin / "hooks" / "hooks.json").write_text(json.dumps({"hooks": {}}))
    page(plugin / "skills" / "guard" / "SKILL.md")
    page(plugin / "agents" / "reviewer.md", "reviewer")
    result, (hook,) = imported(repo, "--plugin", str(plugin))
    assert hook["skills"] == ["tools:guard"] and f"CLAUDE_PLUGIN_ROOT={plugin};" in hook["run"]
    assert "does not run the hooks of an agent that comes with a plugin" in result.output


def test_the_hooks_of_a_skill_of_qwen_are_imported_and_those_of_its_agents_are_reported(repo):
    page(repo / ".qwen" / "skills" / "guard" / "SKILL.md", matcher="run_shell_command")
    page(repo / ".qwen" / "agents" / "reviewer.md", "reviewer")
    result = CliRunner().invoke(import_command, ["--from", "qwen", "--project", str(repo)])
    (hook,) = tomllib.loads((repo / "onehook.toml").read_text())["hook"]
    assert (hook["skills"], hook["tools"], hook["speaks"]) == (["guard"], ["Bash"], "qwen")
    assert "whatever the session does while the agent works" in result.output


def test_the_hooks_of_an_agent_of_copilot_are_reported(repo):
    path = repo / ".github" / "agents" / "reviewer.agent.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: reviewer\nhooks:\n  preToolUse:\n    - type: command\n      bash: ./check.sh\n---\n")
    result = CliRunner().invoke(import_command, ["--from", "copilot", "--project", str(repo)])
    assert "NOT imported  copilot preToolUse: ./check.sh: it is not known how Copilot runs" in result.output


def test_the_matcher_of_a_subagents_end_is_carried_over(repo):
    entry = {"matcher": "reviewer|explore", "hooks": [{"type": "command", "command": "./check.sh", "once": True}]}
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"SubagentStop": [entry]}}))
    (hook,) = imported(repo)[1]
    assert hook["agent_types"] == ["reviewer", "explore"]
    assert "once" not in hook, "Claude Code does not heed it in settings"
