"""onehook log and onehook stats: what people and scripts see of the decision log."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import ANY, HOSTS, fire, tool_payload
from test_logger import entry_of, logged

from onehook.cli import main
from onehook.core import Options
from onehook.log.reader import log_folder
from onehook.logger import append, stamp

RULE = {"kind": "rule", "name": "git.push-force", "pack": "git", "file": "/p/onehook.toml", "line": 3, "said": "deny", "reason": "no force"}
HANDLER = {"kind": "handler", "name": "guard", "file": "/p/policy.py", "line": 4, "said": "ask", "reason": "sure?"}
OTHER = HOSTS[1]


def run(*words, code=0):
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def log():
    """Four decisions: a denial by a rule, a question by a handler, an observed denial, and an error; and two quiet events."""
    now = time.time()
    told = {"tool": "Bash", "session": "s-1", "project": "/work/a"}
    observed = {**RULE, "observed": True}
    broken = {**HANDLER, "said": "error", "reason": "handler 'guard' raised ValueError: " + "very " * 40 + "long"}
    asked = {**told, "time": stamp(now - 3600), "decision": "ask", "reason": "sure?", "agent": OTHER, "ms": 20.0}
    failed = {**told, "project": "/work/b", "session": "t-2", "decision": "none", "error": broken["reason"]}
    for entry in (
        entry_of(**told, time=stamp(now - 9 * 86400), subject="git push -f", by=[RULE], reason="no force (rule git.push-force)"),
        entry_of(**asked, subject="make " + "x" * 200, by=[HANDLER]),
        entry_of(**told, time=stamp(now - 60), subject="git push -f", decision="none", would="deny", by=[observed], mode="observe"),
        entry_of(**failed, by=[broken]),
    ):
        append(entry, Options())
    quiet = f"{now:.3f} {ANY} Stop - 2.00 /work/b c\n{now:.3f} {ANY} PreToolUse Bash 4.00 /work/a\n"
    Path(log_folder(), f"{stamp(now)[:10]}.quiet").write_text(quiet)


def test_the_newest_is_last_and_fits_the_terminal(log):
    lines = run("log").splitlines()
    assert all(len(line) <= 80 for line in lines)
    shown = [line.split("  ")[1].strip() for line in lines if ":" in line[:3] and not line.startswith(" ")]
    assert shown == ["deny", "ask", "would deny", "error"]
    assert "git.push-force: no force" in lines[2]
    assert run("log", "-n", "1").count("\n") == 3


FILTERS = {
    ("--hosts", OTHER): ["ask"],
    ("--rule", "git.*"): ["deny", "none"],
    ("--rule", "git"): ["deny", "none"],
    ("--rule", "guard"): ["ask", "none"],
    ("--decision", "would-deny"): ["none"],
    ("--decision", "error"): ["none"],
    ("--project", "/work/b"): ["none"],
    ("--project", "/work"): ["deny", "ask", "none", "none"],
    ("--session", "t"): ["none"],
    ("--since", "7d"): ["ask", "none", "none"],
    ("--since", "30m"): ["none", "none"],
    ("--since", "2020-01-01", "-n", "1"): ["none"],
}


@pytest.mark.parametrize("words, decisions", FILTERS.items(), ids=map(" ".join, FILTERS))
def test_filters(log, words, decisions):
    assert [entry["decision"] for entry in json.loads(run("log", *words, "--json"))] == decisions


WRONG = ["log --hosts emacs", "log --since soon", "log show nothing", "log --decision maybe", "log nonsense", "stats --by moon"]


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage(words):
    run(*words.split(), code=2)


def test_an_empty_log_is_no_error():
    assert "No decision" in run("log") and "No event" in run("stats")
    assert run("log", "verify") == "0 lines in 0 files: the hash chain is intact.\n"


def test_follow_shows_what_is_written_from_then_on(log):
    words = [sys.executable, "-u", "-c", "from onehook.cli import main; main()", "log", "-f", "-n", "0", "--json", "--since", "10m"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [json.loads(process.stdout.readline())["error"] != "" for _ in range(2)] == [False, True]
        append(entry_of(subject="new"), Options())
        assert json.loads(process.stdout.readline())["subject"] == "new"
        process.kill()


def test_show_tells_the_whole_story(tmp_path):
    rules = tmp_path / "onehook.toml"
    rules.write_text('packs = ["git"]\n')
    fire(rules, tool_payload(ANY, "sudo git push --force"), "--host", ANY)
    (entry,) = logged()
    shown = run("log", "show", entry["id"][-6:])
    for text in (
        "deny: sudo git push --force", f"deny by the rule git.push-force, {rules}:1", "unchanged since then",
        "read as: git push --force (through sudo)",
        "sent      not kept;", f"{ANY} is told: ", "<reason>",
        "matches now: git.push-force (deny)", f"on {', '.join(HOSTS[:2])}", f"onehook explain 'sudo git push --force' --rules {rules}",
    ):  # fmt: skip
        assert text in shown, shown
    story = json.loads(run("log", "show", entry["id"], "--json"))
    assert story["findings"][0]["rule"] == "git.push-force" and story["id"] == entry["id"]
    assert set(HOSTS[:2]) <= set(story["answers"]) and all(entry["reason"] in json.dumps(answer) for answer in story["answers"].values())
    rules.write_text('packs = ["docker"]\n')
    changed = run("log", "show", entry["id"])
    assert "changed since then" in changed and "matches now" not in changed


def test_show_has_what_the_agent_sent_and_what_would_have_been_told(tmp_path):
    """For an observed denial, with a log that keeps payloads."""
    rules = tmp_path / "onehook.toml"
    rules.write_text('mode = "observe"\npacks = ["git"]\n[log]\ncontent = true\n')
    fire(rules, tool_payload(ANY, "git push --force # it's \u00fc"), "--host", ANY)
    (entry,) = logged()
    shown = run("log", "show", entry["id"])
    assert f"sent      {json.dumps(entry['content'])}" in shown and "git push --force" in json.dumps(entry["content"])
    assert f"on {', '.join(HOSTS[:2])}" in shown and f"    {ANY} would be told: " in shown
    (again,) = re.findall("To try it again: (onehook .*)", shown)
    assert json.loads(run(*shlex.split(again)[1:], "--json"))["findings"][0]["rule"] == "git.push-force"


def test_verify_exits_with_1_for_a_log_that_was_changed(log):
    files = sorted(Path(log_folder()).glob("*.jsonl"))  # one per day: three where the fixture's last hour crosses midnight
    assert f"4 lines in {len(files)} files: the hash chain is intact." in run("log", "verify")
    path = files[0]
    path.write_bytes(path.read_bytes().replace(b'"deny"', b'"allow"'))
    assert "the log was changed" in run("log", "verify", code=1)
    assert json.loads(run("log", "verify", "--json", code=1))["ok"] is False


# --- stats -------------------------------------------------------------------------------------------------------------------------


def counted(by, *words):
    found = json.loads(run("stats", "--by", by, "--json", *words))
    fields = ("events", "denied", "asked", "would_deny", "errors")
    return {group["name"]: tuple(group[field] for field in fields) for group in [found["total"], *found["groups"]]}


def test_stats_by_each(log):
    total = (5, 0, 1, 1, 1)
    assert counted("rule") == {"all": total, "git.push-force": (1, 0, 0, 1, 0)}
    assert counted("handler") == {"all": total, "guard": (2, 0, 1, 0, 1)}
    assert counted("agent") == {"all": total, ANY: (4, 0, 0, 1, 1), OTHER: (1, 0, 1, 0, 0)}
    assert counted("project") == {"all": total, "/work/a": (3, 0, 1, 1, 0), "/work/b": (1, 0, 0, 0, 1), "/work/b c": (1, 0, 0, 0, 0)}
    assert counted("rule", "--since", "30d")["git.push-force"] == (2, 1, 0, 1, 0)
    assert sum(counts[0] for name, counts in counted("day").items() if name != "all") == 5


def test_stats_of_some_agents_and_projects(log):
    assert counted("rule", "--hosts", OTHER) == {"all": (1, 0, 1, 0, 0)}
    assert set(counted("project", "--project", "/work/b")) == {"all", "/work/b"}  # and not "/work/b c"
    assert counted("agent", "--project", "/work", "--hosts", f"{ANY},{OTHER}") == counted("agent")


def test_a_deny_during_a_pause_counts_as_overridden(log):
    append(
        entry_of(
            decision="none", would="deny", by=[{**RULE, "observed": True}], pause={"until": stamp(time.time()), "rules": [], "reason": ""}
        ),
        Options(),
    )
    assert json.loads(run("stats", "--json"))["total"]["overridden"] == 1


def test_percentiles_are_within_two_percent(log):
    total = json.loads(run("stats", "--json"))["total"]
    assert total["p50"] == pytest.approx(2, rel=0.02) and total["p99"] == pytest.approx(20, rel=0.02)


def test_stats_names_silent_rules_and_exceptions_that_end_soon(log, tmp_path):
    soon, later = (time.strftime("%Y-%m-%d", time.localtime(time.time() + days * 86400)) for days in (3, 40))
    text = 'packs = ["git"]\n' + "".join(
        f'[[exception]]\nrule = "git.{name}"\nreason = "moving"\ncommand = "git push"\nuntil = {day}\n'
        for name, day in (("push-force", soon), ("reset-hard", later))
    )
    (tmp_path / "onehook.toml").write_text(text)
    found = json.loads(run("stats", "--json"))
    assert "git.reset-hard" in found["never_fired"] and "git.push-force" not in found["never_fired"]
    assert [(one["rule"], one["until"]) for one in found["exceptions"]] == [("git.push-force", soon)]
    for by in ("agent", "project", "day", "handler"):
        assert json.loads(run("stats", "--by", by, "--json"))["never_fired"] == found["never_fired"]
    assert f"The exception for git.push-force ends on {soon}" in run("stats")


def test_stats_names_agents_without_a_policy(log, tmp_path):
    (tmp_path / ".claude").mkdir()
    assert json.loads(run("stats", "--json"))["agents_without_policy"] == ["claude"]


def test_the_table_fits_80_columns(log):
    assert all(len(line) <= 80 for line in run("stats", "--by", "project").splitlines())
