"""A rules file is a policy: the launcher, fire, install and the verbs about rules accept it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import HOSTS, assert_blocked, fire, reason_of, tool_payload

from onehook.cli import main
from onehook.policy import holds_rules, load_policy

RULES = """fail = "closed"
packs = ["recommended", "cloud.aws"]

[permissions]
deny = ["Bash(npm publish:*)"]

[[rule]]
id = "prod-database"
command = "psql|mysql * --host prod*"
reason = "production is changed through migrations"
matches = ["psql --host prod-1 -c 'select 1'"]
passes = ["psql --host dev"]
"""
PROGRAM = """
[[hook]]
events = ["PreToolUse"]
tools = ["Bash"]
run = ["sh", "-c", "if grep -q curl; then echo 'no curl here' >&2; exit 2; fi"]
speaks = "claude"
"""


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    path = tmp_path / "project" / "onehook.toml"
    path.parent.mkdir()
    path.write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(path.parent)
    return path


@pytest.mark.parametrize("host", HOSTS)
def test_every_agent_is_held_to_the_rules(rules: Path, host: str) -> None:
    for command, rule in (
        ("psql --host=prod-1", "prod-database"),
        ("npm publish", "npm publish"),
        ("aws s3 rb --force s3://x", "s3-delete"),
    ):
        assert rule in reason_of(fire(rules, tool_payload(host, command), "--host", host), host)
    assert fire(rules, tool_payload(host, "ls"), "--host", host).exit_code == 0


def test_programs_run_for_what_the_rules_let_pass(rules: Path) -> None:
    rules.write_text(RULES + PROGRAM, encoding="utf-8")
    assert reason_of(fire(rules, tool_payload("claude", "curl x"), "--host", "claude"), "claude") == "no curl here"
    assert "npm publish" in reason_of(fire(rules, tool_payload("claude", "npm publish"), "--host", "claude"), "claude")
    assert fire(rules, tool_payload("claude", "ls"), "--host", "claude").exit_code == 0


def test_observe_lets_it_happen_and_reports_it(rules: Path) -> None:
    rules.write_text('mode = "observe"\n' + RULES, encoding="utf-8")
    result = fire(rules, tool_payload("claude", "psql --host prod-1"), "--host", "claude")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "[onehook] would deny: production is changed through migrations (rule prod-database)" in result.stderr


def test_a_broken_rules_file_fails_closed_and_names_the_line(rules: Path) -> None:
    rules.write_text(RULES.replace("packs", "pakcs"), encoding="utf-8")
    result = fire(rules, tool_payload("claude", "ls"), "--host", "claude", "--fail", "closed")
    assert_blocked(result, "claude", "did you mean 'packs'")


def test_the_users_own_rules_apply_beside_the_projects(rules: Path, tmp_path: Path) -> None:
    user = tmp_path / "XDG_CONFIG_HOME" / "onehook" / "onehook.toml"
    user.parent.mkdir(parents=True)
    user.write_text('[permissions]\ndeny = ["Bash(ls:*)"]\n', encoding="utf-8")
    assert "Bash(ls:*)" in reason_of(fire(rules, tool_payload("claude", "ls"), "--host", "claude"), "claude")
    user.unlink()
    assert fire(rules, tool_payload("claude", "ls"), "--host", "claude").exit_code == 0


@pytest.mark.parametrize("source, holds", [("[[hook]]\nrun = ['x']\n", False), ("[ permissions ]\n", True), ("\"packs\" = ['all']", True)])
def test_a_file_of_programs_alone_is_read_without_the_rules(source: str, holds: bool) -> None:
    assert holds_rules(source.encode()) is holds


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.output


def test_explain_names_the_rule_its_file_and_how_the_command_was_read(rules: Path) -> None:
    code, output = run("explain", "sudo psql --host prod-2")
    assert code == 0 and output.startswith("deny: sudo psql")
    assert "read as: psql --host prod-2 (through sudo)" in output and f"set in {rules}:7 (project)" in output
    assert '"prod-database" = "log"' in output
    permission = run("explain", "npm publish")[1]
    assert f"edit [permissions] in {rules}, line 5" in permission and "[levels]" not in permission
    assert "no rule of" in run("explain", "ls")[1] and "  on " not in run("explain", "ls")[1]


def test_explain_says_on_which_agents_a_decision_holds(rules: Path) -> None:
    rules.write_text('[permissions]\ndeny = ["Bash(rm:*)", "Read(.env)"]\nask = ["Bash(git push:*)"]\n', encoding="utf-8")
    agents = {what: json.loads(run("explain", what, "--json")[1])["agents"] for what in ("rm x", "Read(.env)", "git push", "ls")}
    assert agents["ls"] == {}
    assert set(agents["rm x"]) == {"deny"} and set(agents["rm x"]["deny"]) == set(HOSTS) - {"contract"}
    assert "codex" in agents["Read(.env)"]["it has no tool Read"]
    assert "claude" in agents["git push"]["ask"] and "codex" in agents["git push"]["cannot ask: ask_fallback decides (default: deny)"]
    assert "cannot ask: ask_fallback decides" in run("explain", "git push")[1]


def test_explain_names_a_rule_that_an_exception_covers(rules: Path) -> None:
    rules.write_text(RULES + '[[exception]]\nrule = "prod-database"\ncommand = "psql --host prod-9"\nreason = "r"\n', encoding="utf-8")
    output = run("explain", "psql --host prod-9")[1]
    assert output.startswith("no objection") and "deny by prod-database does not count: an [[exception]] covers it" in output
    assert [one["rule"] for one in json.loads(run("explain", "psql --host prod-9", "--json")[1])["excepted"]] == ["prod-database"]
    assert json.loads(run("explain", "psql --host prod-8", "--json")[1])["excepted"] == []


def test_explain_as_json(rules: Path) -> None:
    assert json.loads(run("explain", "npm publish", "--json")[1])["decision"] == "deny"


def test_rules_lists_what_is_on_from_a_folder_below(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rules.parent / "src").mkdir()
    monkeypatch.chdir(rules.parent / "src")
    listed = {rule["id"] for rule in json.loads(run("rules", "--json")[1])}
    assert {"prod-database", "cloud.aws.s3-delete"} <= listed and "sudo.sudo" not in listed
    assert "prod-database" in run("rules")[1]


def test_test_tries_every_example(rules: Path) -> None:
    code, output = run("test")
    assert code == 0 and output.endswith(" passed, 0 failed\n")
    rules.write_text(RULES.replace('passes = ["psql --host dev"]', 'passes = ["psql --host prod-9"]'), encoding="utf-8")
    code, output = run("test")
    assert code == 1 and "FAIL prod-database: 'psql --host prod-9' is matched, and should not be" in output


def test_without_a_rules_file_the_verbs_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run("explain", "ls")
    assert code == 2 and "--rules FILE" in output


def test_install_takes_a_rules_file_and_makes_it_portable(rules: Path) -> None:
    code, output = run("install", str(rules), "--hosts", "claude", "--yes")
    assert code == 0, output
    assert "onehook.toml" in (rules.parent / ".claude" / "settings.json").read_text()
    code, output = run("install", str(rules), "--hosts", "claude", "--portable", "--yes")
    assert code == 0 and "a rules file needs Python 3.11 or newer" in output


def test_the_policy_of_a_rules_file_is_one_object(rules: Path) -> None:
    rules.write_text(RULES + PROGRAM, encoding="utf-8")
    hooks = load_policy(str(rules))
    assert hooks.options["fail"] == "closed" and {one.event for one in hooks.registrations} == {"PreToolUse", "ConfigChange"}
