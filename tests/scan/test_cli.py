"""onehook scan, and what stats counts about it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onehook.cli import main
from onehook.core import Options
from onehook.log.scans import scans
from onehook.logger import append, new_id, stamp
from tests.scan.service import SECRET, service


@pytest.fixture
def lakera(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with service("lakera") as running:
        (tmp_path / "onehook.toml").write_text(
            f'[policies.scanner]\nbackend = "lakera"\nurl = "{running.url}"\nseconds = 30\nfailures = 1\n'
        )
        yield running


def run(*words, stdin=None):
    done = CliRunner().invoke(main, ["scan", *words], input=stdin)
    return done.exit_code, done.output


def test_a_text_a_file_and_stdin_are_shown_to_the_scanner(lakera, tmp_path):
    (tmp_path / "a.md").write_text(f"key {SECRET}")
    assert run("hello")[0] == 0
    code, shown = run("a.md")
    assert code == 1 and "block: pii/aws_key at 4 to 24" in shown and SECRET not in shown
    code, told = run("-", "--json", stdin=SECRET)
    assert code == 1 and json.loads(told)["found"] == [{"category": "pii/aws_key", "start": 0, "end": 20, "action": "block"}]
    roles = [body["messages"][0]["role"] for body in lakera.bodies]
    assert roles == ["user", "assistant", "user"]


def test_verify_says_step_by_step_what_works(lakera):
    code, shown = run("verify")
    assert code == 0 and [line.split()[:2] for line in shown.splitlines()[1:]] == [
        ["ok", "key"],
        ["ok", "connection"],
        ["ok", "known-good"],
        ["ok", "known-bad"],
    ]


def test_verify_names_what_does_not_work(lakera, monkeypatch):
    lakera.forever = 500
    code, told = run("verify", "--json")
    steps = {step["name"]: step["ok"] for step in json.loads(told)["steps"]}
    assert code == 1 and steps == {"key": True, "connection": False}
    lakera.forever = None
    code, told = run("verify", "--json")  # the scanner is called although the breaker is open, and closes it
    assert code == 0 and json.loads(told)["breaker_before"] == "open"
    assert json.loads(run("verify", "--json")[1])["breaker_before"] == "closed"
    lakera.key = "Bearer ANOTHER"
    assert "refused the key" in run("verify")[1]
    code, told = run("verify", "--json", "--bad", "nothing bad at all")
    assert code == 1


def test_a_policy_in_python(lakera, tmp_path):
    policy = tmp_path / "policy.py"
    policy.write_text(
        f"from onehook import Hooks\nfrom onehook.policies import scanner\nhooks = Hooks().use(scanner('lakera', url={lakera.url!r}))\n"
    )
    assert run(SECRET, "--policy", str(policy))[0] == 1


@pytest.mark.parametrize(("words", "why"), [(["x", "--backend", "judge"], "options.model"), (["x", "--backend", "none"], "backend")])
def test_what_is_missing_is_wrong_usage(words, why):
    code, shown = run(*words)
    assert code == 2 and why in shown


def test_a_rules_file_without_a_scanner_is_wrong_usage(tmp_path, monkeypatch):
    (tmp_path / "onehook.toml").write_text('packs = ["git"]\n')
    monkeypatch.chdir(tmp_path)
    code, shown = run("x")
    assert code == 2 and "has no scanner" in shown


def line(number, action, ms, cached=0, **more):
    now = 1_790_000_000 + number
    scan = {"backend": "lakera", "action": action, "categories": [], "gates": [], "requests": 1 - cached, "cached": cached, "skipped": 0}
    by = [
        {"kind": "policy", "name": "policies.scanner", "said": "scan", "scan": {**scan, "chars": 1, "ms": ms, "breaker": "closed"}, **more}
    ]
    texts = dict.fromkeys(("agent_version", "session", "tool", "subject", "reason", "error", "policy", "policy_hash"), "")
    return {
        "time": stamp(now), "id": new_id(now), "agent": "claude", "project": "/p", "event": "PreToolUse", **texts, "decision": "none",
        "would": None, "by": by, "effects": [], "dropped": [], "ms": ms, "mode": "enforce", "pause": None, "approver": None,
    }  # fmt: skip


def test_the_log_is_counted_by_scanner():
    for entry in (
        line(1, "pass", 10),
        line(2, "block", 20),
        line(3, "mask", 30),
        line(4, "pass", 1, cached=1),
        line(5, "block", 5, observed=True),
    ):
        append(entry, Options())
    (found,) = scans()
    assert {name: found[name] for name in ("scans", "blocked", "masked", "observed", "requests", "cache_hits", "breaker")} == {
        "scans": 5, "blocked": 2, "masked": 1, "observed": 1, "requests": 4, "cache_hits": 1, "breaker": "closed",
    }  # fmt: skip
    assert 9.7 < found["p50"] < 10.3 and 29 < found["p99"] < 31
    assert scans(agents=["codex"]) == [] and scans(project="/q") == [] and scans(since="2099") == []
    shown = CliRunner().invoke(main, ["stats", "--since", "2020-01-01"]).output
    assert "lakera" in shown and "breaker" in shown
