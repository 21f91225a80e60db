"""`onehook pause`: for a while nothing takes effect, or one rule does not; only if a person wrote it, and never for what is managed."""

from __future__ import annotations

import getpass
import json
import os
import time
from pathlib import Path

import jsonschema
import pytest
from harness import ANY, HOSTS, assert_blocked, fire, launcher, process, reason_of, tool_payload

from onehook import pause
from onehook.core import Pause, Response
from onehook.hostkit.reverse import sample, unified_events
from onehook.hosts import load
from onehook.log.chain import verify
from onehook.log.reader import entries
from onehook.manifest.needs import events_of
from onehook.rules.compile import compile_layers
from onehook.rules.explain import sample_event
from onehook.rules.load import Rules, Table
from onehook.runner import answer

SCHEMA = Path(__file__).parent.parent / "docs" / "schema" / "log.json"
POLICY = """from onehook import Hooks, deny
hooks = Hooks({options})

@hooks.on("PreToolUse", tool="Bash")
def guard(event):
    {body}

@hooks.on("PreToolUse", tool="Bash")
def second(event):
    return deny("the second says no") if "second" in event.command else None
"""
NO = 'return deny("no rm") if event.command.startswith("rm") else None'


@pytest.fixture
def python(tmp_path: Path):
    def write(body: str = NO, options: str = "") -> Path:
        path = tmp_path / "policy.py"
        path.write_text(POLICY.format(body=body, options=options), encoding="utf-8")
        return path

    return write


def asked(policy: Path, command: str = "rm x", *more: str, host: str = ANY, cold: bool = False):
    return fire(policy, tool_payload(host, command), "--host", host, *more, cold=cold)


def passes(result, host: str = ANY) -> bool:
    return load(host, "reverse").answer(sample("PreToolUse", "Bash"), result.stdout, result.stderr, result.exit_code).decision != "deny"


@pytest.mark.parametrize("host", HOSTS)
def test_while_all_is_paused_a_deny_has_no_effect_and_is_reported(python, host):
    policy = python()
    assert reason_of(asked(policy, host=host), host) == "no rm"
    pause.add("", 60, "the release")
    result = asked(policy, host=host)
    assert passes(result, host) and result.exit_code == 0
    assert "[onehook] paused until" in result.stderr and "(the release)" in result.stderr and "would deny: no rm" in result.stderr
    pause.remove()
    assert reason_of(asked(policy, host=host), host) == "no rm"


def test_a_pause_ends_by_itself(python, monkeypatch):
    policy = python()
    pause.add("", 5, "")
    assert passes(asked(policy))
    monkeypatch.setattr(time, "time", lambda now=time.time: now() - 6)
    pause.add("", 5, "")
    monkeypatch.undo()
    result = asked(policy)  # the file is still there
    assert reason_of(result, ANY) == "no rm" and "paused" not in result.stderr


@pytest.mark.parametrize(
    "body, options",
    [("raise RuntimeError('broken')", 'fail="closed"'), ("import time; time.sleep(30)", 'fail="closed", timeout=0.5')],
    ids=["raises", "hangs"],
)
def test_a_policy_that_fails_closed_can_be_paused(python, body, options):
    policy = python(body, options)
    assert_blocked(asked(policy), ANY)
    pause.add("", 60, "")
    assert passes(asked(policy))


def test_a_policy_that_does_not_parse_and_a_payload_that_does_not_can_be_paused(tmp_path):
    policy = tmp_path / "policy.py"
    policy.write_text('fail="closed"\ndef (:\n', encoding="utf-8")
    pause.add("", 60, "")
    assert passes(asked(policy))
    assert process(launcher(policy, "--host", ANY, "--event", "PreToolUse", "--fail", "closed"), b"no json").exit_code != 2


def test_one_paused_handler_leaves_the_others_in_force(python):
    policy = python()
    pause.add("guard", 60, "")
    result = asked(policy)
    assert passes(result) and "guard is paused until" in result.stderr and "would deny: no rm (guard)" in result.stderr
    assert reason_of(asked(policy, "rm second"), ANY) == "the second says no"


@pytest.mark.parametrize("text", ['packs = ["git"]\n', '[permissions]\ndeny = ["Bash(git push:*)"]\n'], ids=["rule", "permission"])
def test_one_paused_rule_leaves_the_others_in_force(tmp_path, text):
    path = tmp_path / "onehook.toml"
    path.write_text(text + '\n[[rule]]\nid = "no-rm"\nreason = "no"\ncommand = "rm"\nlevel = "deny"\n', encoding="utf-8")
    name = "git.push-force" if "packs" in text else "Bash(git push:*)"
    assert not passes(asked(path, "git push --force"))
    pause.add(name, 60, "")
    result = asked(path, "git push --force")
    assert passes(result) and f"(rule {name})" in result.stderr, result
    assert not passes(asked(path, "rm x"))
    pause.add("no-rm", 60, "")
    assert passes(asked(path, "rm x")) and passes(asked(path, "git push --force"))


# --- what is managed


def test_a_managed_policy_is_not_paused_unless_it_says_so(python):
    pause.add("", 60, "")
    pause.add("guard", 60, "")
    assert reason_of(asked(python(), "rm x", "--layer", "managed"), ANY) == "no rm"
    assert passes(asked(python(options="pausable=True"), "rm x", "--layer", "managed"))
    assert reason_of(asked(python(options="pausable=False")), ANY) == "no rm"
    assert_blocked(asked(python("raise RuntimeError", 'fail="closed"'), "rm x", "--layer", "managed"), ANY)


def test_a_managed_rules_file_is_not_paused_wherever_it_is(tmp_path):
    path = tmp_path / "anywhere.toml"
    path.write_text('[permissions]\ndeny = ["Bash(rm:*)"]\n', encoding="utf-8")
    pause.add("", 60, "")
    assert passes(asked(path, "rm x"))
    assert not passes(asked(path, "rm x", "--layer", "managed"))


def rules_of(tmp_path: Path, **files: str) -> Rules:
    layers = []
    for layer, text in files.items():
        (tmp_path / f"{layer}.toml").write_text(text, encoding="utf-8")
        layers.append((layer, str(tmp_path / f"{layer}.toml")))
    return Rules(Table(*compile_layers(layers)))


def decided(rules: Rules, command: str, paused: Pause) -> str | None:
    event = sample_event(command, "/home/dev/p")
    event._pause = paused
    return rules.dispatch(event).decision


MANAGED = 'packs = ["git"]\n[policies.protected_paths]\npatterns = ["~/.aws/**"]\n'
PROJECT = '[permissions]\ndeny = ["Bash(rm:*)"]\n'


def test_of_several_layers_the_machines_continues(tmp_path):
    everything = Pause(time.time() + 60)
    rules = rules_of(tmp_path, managed=MANAGED, project=PROJECT)
    assert decided(rules, "git push --force", everything) == "deny"
    assert decided(rules, "cat ~/.aws/credentials", everything) == "deny"
    assert decided(rules, "rm x", everything) is None
    assert rules.options["pausable"] is False  # an error is not let through either
    rules = rules_of(tmp_path, managed=f"pausable = true\n{MANAGED}", project=PROJECT)
    assert decided(rules, "git push --force", everything) is decided(rules, "cat ~/.aws/credentials", everything) is None


def test_the_weaker_word_of_a_layer_above_counts_while_that_below_is_paused(tmp_path):
    """A deny below must not hide the remaining ask above."""
    rules = rules_of(tmp_path, managed='packs = ["git"]\n[levels]\n"git" = "ask"\n', project='packs = ["git"]\n')
    assert decided(rules, "git push --force", Pause(time.time() + 60)) == "ask"


# --- the file


def write(entries: object, mode: int = 0o600, **changes: float) -> Path:
    folder = Path(os.environ["ONEHOOK_STATE_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pause.json"
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(entries), encoding="utf-8")
    path.chmod(mode)
    return path


def entry(since: float = 0, until: float = 60, **more: object) -> dict[str, object]:
    return {"rule": "", "reason": "", "since": time.time() + since, "until": time.time() + until, **more}


FORGED = {
    "others can write": ([entry()], 0o622),
    "others can read": ([entry()], 0o644),
    "too long": ([entry(until=9 * 3600)], 0o600),
    "begins later": ([entry(since=3600, until=2 * 3600)], 0o600),
    "not a list": ({"paused": True}, 0o600),
    "another key": ([entry(forever=True)], 0o600),
    "no time": ([{**entry(), "until": True}], 0o600),
    "infinite": ([{**entry(), "until": float("inf")}], 0o600),
}


@pytest.mark.parametrize("case", FORGED)
def test_what_onehook_pause_does_not_write_is_not_a_pause(python, case):
    entries, mode = FORGED[case]
    write(entries, mode)
    assert reason_of(asked(python()), ANY) == "no rm"


def test_a_link_is_not_a_pause(python, tmp_path):
    path = write([entry()])
    assert passes(asked(python()))
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert reason_of(asked(python()), ANY) == "no rm"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_not_a_pause(python):
    os.chown(write([entry()]), 12345, 12345)
    assert reason_of(asked(python()), ANY) == "no rm"


def test_without_a_pause_nothing_of_it_is_loaded(python):
    policy = python("import sys; sys.stderr.write(' '.join(sys.modules)); return deny('no rm')")
    assert "onehook.pause" not in asked(policy, cold=True).stderr.split()
    pause.add("", 60, "")
    assert "onehook.pause" in asked(policy, cold=True).stderr.split()


# --- what is reported


@pytest.mark.parametrize("host", [host for host in HOSTS if "SessionStart" in unified_events(load(host).EVENTS)])
def test_the_start_of_a_session_says_so(python, host):
    """To the user where the agent can, otherwise to the model; an agent that can do neither starts without it."""
    wire, paused = load(host), Pause(time.time() + 60, reason="the release")
    event = wire.parse(load(host, "reverse").payload(sample("SessionStart", source="startup", session_id="s")), "")
    response, noise = pause.announced(paused, wire, event, Response(additional_context="mine"), "")
    caps = wire.caps(event)
    said = response.user_message or (response.additional_context or "").partition("\n\n")[2]
    able = any(caps[name].kind == "honoured" for name in ("user_message", "additional_context"))
    assert ("paused until" in said and "(the release)" in said and "onehook resume" in said) is able
    assert noise.startswith("[onehook] paused until") and (response.additional_context or "").startswith("mine")


@pytest.mark.parametrize("host", [host for host in HOSTS if "SessionStart" in unified_events(load(host).EVENTS)])
def test_a_rules_file_is_installed_for_the_start_of_a_session_which_says_so(tmp_path, host):
    path = tmp_path / "onehook.toml"
    path.write_text('[permissions]\ndeny = ["Bash(rm:*)"]\n', encoding="utf-8")
    wire, reverse = load(host), load(host, "reverse")
    payload = reverse.payload(sample("SessionStart", source="startup", session_id="s"))
    event = wire.parse(payload, "")
    able = any(wire.caps(event)[name].kind == "honoured" for name in ("user_message", "additional_context"))
    assert ("SessionStart" in events_of(load_policy(path), host)) is able
    assert "paused until" not in fire(path, payload, "--host", host, "--event", "SessionStart").stdout
    pause.add("", 60, "")
    assert ("paused until" in fire(path, payload, "--host", host, "--event", "SessionStart").stdout) is able
    path.write_text('pausable = false\n[permissions]\ndeny = ["Bash(rm:*)"]\n', encoding="utf-8")
    assert "SessionStart" not in events_of(load_policy(path), host)


def test_an_event_after_the_start_adds_nothing_to_the_answer(python):
    data = json.dumps(tool_payload(ANY, "ls")).encode()
    plain = answer(data, lambda: load_policy(python()), hosts=[ANY])
    paused = answer(data, lambda: load_policy(python()), hosts=[ANY], pause=Pause(time.time() + 60))
    assert plain.stdout == paused.stdout


def load_policy(path: Path):
    from onehook.policy import load_policy

    return load_policy(str(path))


def test_a_pause_its_end_and_a_refusal_are_lines_of_the_decision_log(monkeypatch):
    from click.testing import CliRunner

    from onehook.cli import main
    from onehook.setup import person

    for agent in ("", "an agent runs this command"):
        monkeypatch.setattr(person, "agent_above", lambda *_, agent=agent: agent)
        monkeypatch.setattr(person, "has_terminal", lambda: True)
        CliRunner().invoke(main, ["pause", "--for", "1m", "--reason", "why"])
    CliRunner().invoke(main, ["resume"])
    CliRunner().invoke(main, ["resume"])  # nothing was paused by then
    paused, refused, resumed = entries()
    for entry in (paused, refused, resumed):
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(entry)
    assert [entry["event"] for entry in (paused, refused, resumed)] == ["Pause", "Refused", "Resume"]
    assert (paused["subject"], paused["reason"], paused["approver"]) == ("everything", "why", getpass.getuser())
    assert paused["pause"]["rules"] == [] and paused["pause"]["until"] > paused["time"]
    assert (refused["subject"], refused["reason"], refused["approver"]) == ("run onehook pause", "an agent runs this command", None)
    assert verify().problems == [] and "Pause" in CliRunner().invoke(main, ["log"]).output


def test_what_keeps_the_agent_from_switching_it_off_is_not_paused_with_the_rest(tmp_path):
    """Otherwise the agent could use ten minutes to turn them into eight hours."""
    rules, python = tmp_path / "onehook.toml", tmp_path / "policy.py"
    rules.write_text('[permissions]\ndeny = ["Bash(rm:*)"]\n', encoding="utf-8")
    python.write_text("from onehook import Hooks\nfrom onehook.policies import self_protect\nhooks = Hooks()\nhooks.use(self_protect())\n")
    pause.add("", 60, "")
    longer = f"cp /tmp/x {os.environ['ONEHOOK_STATE_DIR']}/pause.json"
    for policy in (rules, python):
        assert not passes(asked(policy, longer)) and passes(asked(policy, "rm x"))
    pause.add("policies.self_protect", 60, "")
    pause.remove()
    pause.add("policies.self_protect", 60, "")
    assert passes(asked(rules, longer)) and not passes(asked(rules, "rm x"))
