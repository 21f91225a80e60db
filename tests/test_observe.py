"""Mode observe: every decision is computed and recorded, and none takes effect, for any kind of policy and any failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness import ANY, HOSTS, fire, reason_of, tool_payload

from onehook import Hooks, Response, allow, deny
from onehook.cli import main
from onehook.core import Event
from onehook.runner import answer

PYTHON = """from onehook import Hooks, deny
hooks = Hooks({options})

@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    {body}
"""
RULES = '{options}\n[permissions]\ndeny = ["Bash(rm:*)"]\n'
MANIFEST = """{options}
[[hook]]
name = "guard"
events = ["PreToolUse"]
tools = ["Bash"]
run = ["sh", "-c", "echo 'no rm' >&2; exit 2"]
speaks = "claude"
"""


def observing(**options: object) -> Hooks:
    hooks = Hooks(mode="observe", **options)  # type: ignore[arg-type]

    @hooks.on("PreToolUse", tool="Bash")
    def guard(event: Event) -> object:
        if event.command == "crash":
            raise RuntimeError("broken")
        return allow(modified_input={"command": "ls"}) if event.command == "rewrite" else deny("no rm")

    return hooks


def asked(hooks: Hooks, command: str, host: str = ANY, **given: str):
    return answer(json.dumps(tool_payload(host, command)).encode(), lambda: hooks, hosts=[host], given=given)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("command, record", [("rm x", "would deny: no rm"), ("rewrite", "would allow and change the input")])
def test_nothing_takes_effect_on_any_agent(host: str, command: str, record: str) -> None:
    output = asked(observing(fail="closed"), command, host)
    nothing = asked(Hooks(), command, host)
    assert output.exit_code == nothing.exit_code and f"[onehook] {record}" in output.stderr
    assert json.loads(output.stdout or "{}") == json.loads(nothing.stdout or "{}")


@pytest.mark.parametrize("host", HOSTS)
def test_an_error_under_fail_closed_is_recorded_too(host: str) -> None:
    output = asked(observing(fail="closed"), "crash", host)
    assert output.exit_code == asked(Hooks(), "crash", host).exit_code
    assert "would deny: onehook: handler 'guard' raised RuntimeError: broken (blocked: fail=closed)" in output.stderr
    assert output.error


def test_the_record_is_structured() -> None:
    output = asked(observing(), "rm x")
    assert output.answer is not None
    assert output.answer == Response(withheld=[{"by": "", "decision": "deny", "reason": "no rm"}])


def test_what_a_joined_policy_only_observes_stays_observed_and_nothing_else_does() -> None:
    hooks = Hooks()
    hooks.use(observing())

    @hooks.on("PreToolUse")
    def strict(event: Event) -> object:
        return deny("strict") if event.command == "id" else None

    watched = asked(hooks, "rm x").answer
    assert watched == Response(withheld=[{"by": "guard", "decision": "deny", "reason": "no rm"}])
    broken = asked(hooks, "crash").answer
    assert broken is not None and broken.withheld == [{"by": "guard", "error": "handler 'guard' raised RuntimeError: broken"}]
    stopped = asked(hooks, "id").answer
    assert stopped is not None and (stopped.decision, stopped.reason) == ("deny", "strict")


def test_a_policy_that_observes_is_not_switched_on_by_what_it_uses() -> None:
    strict = Hooks(mode="enforce")
    strict.on("PreToolUse")(lambda event: deny("strict"))
    watched = asked(observing().use(strict), "ls").answer
    assert watched is not None and watched.decision is None and watched.withheld


@pytest.mark.parametrize(
    "name, text", [("policy.py", PYTHON.replace("{body}", 'return deny("no rm")')), ("rules.toml", RULES), ("programs.toml", MANIFEST)]
)
@pytest.mark.parametrize("way", ["its own mode", "the command line"])
def test_every_kind_of_policy_observes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, way: str) -> None:
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    policy = tmp_path / name
    payload = tool_payload("claude", "rm x")
    policy.write_text(text.format(options=""))
    assert reason_of(fire(policy, payload, "--host", "claude"), "claude")
    policy.write_text(text.format(options='mode="observe"' if way == "its own mode" else ""))
    result = fire(policy, payload, "--host", "claude", *(["--mode", "observe"] if way == "the command line" else []))
    assert (result.exit_code, result.stdout) == (0, "") and "[onehook] would deny" in result.stderr


def test_programs_of_a_layer_that_observes_are_observed_beside_one_that_enforces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    user = tmp_path / "XDG_CONFIG_HOME" / "onehook" / "onehook.toml"
    user.parent.mkdir(parents=True)
    user.write_text(MANIFEST.format(options='mode = "observe"\nfail = "closed"'))
    policy = tmp_path / "onehook.toml"
    policy.write_text(RULES.format(options=""))
    assert reason_of(fire(policy, tool_payload("claude", "rm x"), "--host", "claude"), "claude")
    result = fire(policy, tool_payload("claude", "ls"), "--host", "claude")
    assert (result.exit_code, result.stdout) == (0, "") and "[onehook] would deny: no rm (guard)" in result.stderr


# --- install, status, doctor -----------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "ONEHOOK_STATE_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.chdir(folder)
    return folder


def onehook(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize(
    "name, text", [("policy.py", PYTHON.replace("{body}", 'return deny("no rm")')), ("rules.toml", RULES), ("programs.toml", MANIFEST)]
)
def test_install_observe_writes_the_mode_and_no_guard(project: Path, name: str, text: str) -> None:
    (project / name).write_text(text.format(options='fail="closed"'))
    assert "without --observe to enforce" in onehook("install", name, "--hosts", "claude,copilot,opencode", "--observe")
    written = (project / ".claude" / "settings.json").read_text()
    assert "--mode observe" in written and "--fail closed" not in written and "exit 2" not in written and "onFailure" not in written
    assert [row["mode"] for row in json.loads(onehook("status", "--json"))["installed"]] == ["observe"] * 3
    assert "observe" in onehook("status")
    assert "Nothing would change" in onehook("install", name, "--hosts", "claude", "--observe", "--dry-run")
    onehook("install", name, "--hosts", "claude,copilot,opencode")
    written = (project / ".claude" / "settings.json").read_text()
    assert "--mode" not in written and "--fail closed" in written
    assert {row["mode"] for row in json.loads(onehook("status", "--json"))["installed"]} == {"enforce"}
    onehook("uninstall")
    assert not (project / ".claude" / "settings.json").exists()


def test_observe_and_fail_closed_exclude_each_other(project: Path) -> None:
    (project / "rules.toml").write_text(RULES.format(options=""))
    assert "remove --fail-closed" in onehook("install", "rules.toml", "--hosts", "claude", "--observe", "--fail-closed", code=2)


@pytest.mark.parametrize("options, mode", [("", "enforce"), ('mode = "observe"', "observe")])
def test_status_shows_the_mode_of_a_rules_file_and_its_rules_by_severity(project: Path, options: str, mode: str) -> None:
    (project / "rules.toml").write_text(f'{options}\npacks = ["git"]\n')
    onehook("install", "rules.toml", "--hosts", "claude")
    row = json.loads(onehook("status", "--json"))["installed"][0]
    assert row["mode"] == mode and sum(row["rules"].values()) == 20 and row["rules"]["high"] > 0
    if mode == "enforce":
        (project / "rules.toml").write_text(
            'mode = "observe"\npacks = ["git"]\n[[rule]]\nid = "x"\nreason = "r"\ncommand = "x"\nmode = "enforce"\n'
        )
        assert json.loads(onehook("status", "--json"))["installed"][0]["mode"] == "mixed"


@pytest.mark.parametrize("options, mode", [("", "enforce"), ('mode="observe"', "observe")])
def test_status_reads_the_mode_of_a_python_policy_without_running_it(project: Path, options: str, mode: str) -> None:
    (project / "policy.py").write_text(PYTHON.format(options=options, body="return None"))
    onehook("install", "policy.py", "--hosts", "claude")
    (project / "policy.py").write_text(PYTHON.format(options=options, body="return None") + "\nraise SystemExit\n")
    assert json.loads(onehook("status", "--json"))["installed"][0]["mode"] == mode


def test_doctor_says_that_nothing_is_blocked_and_when_closed_came_later(project: Path) -> None:
    (project / "policy.py").write_text(PYTHON.format(options='mode="observe", fail="closed"', body='return deny("no")'))
    onehook("install", "policy.py", "--hosts", "claude")
    assert 'is in mode "observe": nothing is blocked' in _doctor()
    (project / "policy.py").write_text(PYTHON.format(options='fail="closed"', body='return deny("no")'))
    assert "fails closed, but was installed before it did" in _doctor()
    onehook("install", "policy.py", "--hosts", "claude", "--observe")
    assert "installed with --observe: nothing is blocked" in _doctor()
    onehook("install", "policy.py", "--hosts", "claude")
    assert "observe" not in _doctor() and "fails closed" not in _doctor()


def _doctor() -> str:
    return " ".join(CliRunner().invoke(main, ["doctor", "--hosts", "claude"]).output.split())
