"""A program that gives no answer: depending on its own `fail`, a denial that names it, or a warning that names it and no decision."""

from __future__ import annotations

import json
import shlex

import pytest
from harness import ANY, HOSTS, PRE, fire, reason_of, stop_payload, tool_payload

from onehook.hostkit.reverse import sample
from onehook.hosts import load
from tests.host_folders import facts
from tests.manifest.kit import guard, manifest_of, sh

BAD = {
    "missing": ('run = ["./not-there"]', "could not be started: No such file"),
    "not executable": ('run = ["./onehook.toml"]', "could not be started: Permission denied"),
    "hangs": ('run = ["sleep", "60"]\ntimeout = 0.3', "took longer than 0.3 s"),
    "writes 10 MB": ('run = ["head", "-c", "10000000", "/dev/zero"]', "wrote more than 1 MB"),
    "garbage": ('run = ["echo", "{nonsense"]', "JSON"),
    "exit 1": ('run = ["false"]', "exit code 1"),
}


@pytest.mark.parametrize("dialect", ["contract", "claude", "codex", "onehook"])
@pytest.mark.parametrize(("run", "text"), BAD.values(), ids=BAD)
def test_closed_is_a_denial_and_open_a_warning(tmp_path, dialect, run, text):
    hook = f'name = "the guard"\nevents = ["PreToolUse"]\nspeaks = "{dialect}"\n{run}\n'
    closed = fire(manifest_of(tmp_path / "c", hook + 'fail = "closed"'), tool_payload("claude"), "--host", "claude")
    assert "'the guard'" in reason_of(closed, "claude") and text in reason_of(closed, "claude"), closed
    opened = fire(manifest_of(tmp_path / "o", hook + 'fail = "open"'), tool_payload("claude"), "--host", "claude")
    assert (opened.exit_code, opened.stdout) == (0, ""), opened
    assert "[onehook] warning: the hook 'the guard'" in opened.stderr and text in opened.stderr, opened


CUT = ['{"decision":"deny","reason":"x"', '{"hookSpecificOutput":{"permissionDecision":"deny"', '{"decision":"deny"} and more']


@pytest.mark.parametrize("said", CUT)
@pytest.mark.parametrize("dialect", [*HOSTS, "onehook"])
def test_an_answer_that_is_cut_short_is_an_error_in_every_dialect(tmp_path, dialect, said):
    hook = sh(f"printf %s {shlex.quote(said)}", dialect, more='name = "the guard"\nfail = "closed"')
    result = fire(manifest_of(tmp_path, hook), tool_payload(ANY), "--host", ANY)
    assert "JSON" in reason_of(result, ANY), result


@pytest.mark.parametrize("said", ["all is well", '{"level": "info"}\n{"level": "debug"}', "[info] ready"])
def test_plain_text_is_context_where_it_is_for_the_dialects_own_agent(tmp_path, said):
    event = sample("SessionStart", source="startup")
    assert load("claude", "reverse").answer(event, said, "", 0).additional_context == said


LOST = {host: facts(host).LOST_AT_START for host in HOSTS if facts(host).LOST_AT_START}


@pytest.mark.parametrize("dialect", LOST)
def test_what_only_the_programs_own_host_can_do_is_lost_with_a_warning_and_the_rest_counts(tmp_path, dialect):
    said, field = LOST[dialect]
    hook = f'name = "titles"\nevents = ["SessionStart"]\nspeaks = "{dialect}"\nshell = true\nrun = {json.dumps(f"echo {said!r}")}'
    payload = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "SessionStart", "timestamp": "t", "source": "startup"}
    result = fire(manifest_of(tmp_path, hook), payload, "--host", "gemini")
    assert result.answer["hookSpecificOutput"]["additionalContext"] == "note"
    assert f"[onehook] warning: the hook 'titles': its answer sets {field}, which only" in result.stderr


def redacting(fail):
    said = """{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "***"}}"""
    command = json.dumps(f"echo {said!r}")
    return f'name = "redact"\nevents = ["PostToolUse"]\nspeaks = "claude"\nshell = true\nrun = {command}\nfail = "{fail}"'


def result_payload(host):
    event = sample("PostToolUse", "Bash", command="cat secret", session_id="s", cwd="/r", tool_response={"stdout": "secret"})
    return load(host, "reverse").payload(event)


def test_a_result_that_a_program_redacts_is_redacted_on_another_host(tmp_path):
    result = fire(manifest_of(tmp_path, redacting("open")), result_payload("codex"), "--host", "codex")
    assert result.answer == {"decision": "block", "reason": "***"}
    assert "warning" not in result.stderr


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_where_a_host_cannot_replace_a_result_that_is_reported_and_closed_ends_the_turn(tmp_path, fail):
    result = fire(manifest_of(tmp_path, redacting(fail)), result_payload("qwen"), "--host", "qwen")
    assert "qwen PostToolUse: 'modified_output' dropped: Qwen Code cannot replace a result" in result.stderr
    assert (result.answer or {}).get("continue") == (None if fail == "open" else False)


def test_on_its_own_host_the_result_is_redacted(tmp_path):
    said = sh(
        """echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "note"}}'""", "claude", '["PostToolUse"]'
    )
    result = fire(manifest_of(tmp_path, said, redacting("closed")), result_payload("claude"), "--host", "claude")
    assert result.answer["hookSpecificOutput"] == {"hookEventName": "PostToolUse", "additionalContext": "note", "updatedToolOutput": "***"}
    assert "warning" not in result.stderr


def test_on_its_own_host_a_hook_still_ends_the_turn(tmp_path):
    said = sh("""echo '{"continue": false, "stopReason": "enough"}'""", "claude", '["PostToolUse"]')
    answer = fire(manifest_of(tmp_path, said), result_payload("claude"), "--host", "claude").answer
    assert (answer["continue"], answer["stopReason"]) == (False, "enough")
    elsewhere = fire(manifest_of(tmp_path, said), result_payload("gemini"), "--host", "gemini").answer
    assert (elsewhere["decision"], elsewhere["reason"]) == ("deny", "enough")


def test_in_a_policy_that_holds_the_manifest_too(tmp_path):
    path = manifest_of(tmp_path, redacting("open"))
    policy = tmp_path / "policy.py"
    policy.write_text(
        f"from onehook.policy import load_policy\nfrom onehook import Hooks\nhooks = Hooks().use(load_policy({str(path)!r}))\n"
    )
    result = fire(policy, result_payload("claude"), "--host", "claude")
    assert result.answer["hookSpecificOutput"]["updatedToolOutput"] == "***"


def test_a_program_without_a_name_is_named_by_its_command(tmp_path):
    result = fire(manifest_of(tmp_path, 'events = ["PreToolUse"]\nspeaks = "claude"\nrun = ["./no", "-x"]'), tool_payload("claude"))
    assert "'./no -x'" in result.stderr


def test_a_broken_program_does_not_take_the_others_with_it(tmp_path):
    path = manifest_of(tmp_path, sh("exit 7", more='fail = "open"'), sh("""echo '{"additional_context": "note"}'"""))
    result = fire(path, tool_payload("claude"), "--host", "claude")
    assert result.answer["hookSpecificOutput"]["additionalContext"] == "note"
    assert "exit code 7" in result.stderr


def test_at_a_stop_closed_is_no_denial_since_that_would_mean_to_continue(tmp_path, host):
    path = manifest_of(tmp_path, sh("exit 7", events='["Stop"]', more='fail = "closed"'))
    result = fire(path, stop_payload(host), "--host", host)
    assert result.exit_code == 0 and "deny" not in result.stdout and "block" not in result.stdout, result
    assert "exit code 7" in result.stderr


@pytest.mark.parametrize(
    ("top", "mine", "other", "arguments", "denied"),
    [
        ("", "", "", (), False),
        ('fail = "closed"\n', "", "", (), True),
        ("", "", "", ("--fail", "closed"), True),
        ("", "", 'fail = "closed"', (), True),
        ('fail = "closed"\n', 'fail = "open"', "", (), False),
        ("", 'fail = "open"', 'fail = "closed"', ("--fail", "closed"), False),
        ('fail = "closed"\n', "", "", ("--fail", "open"), False),
    ],
)
def test_who_says_how_a_program_fails(tmp_path, top, mine, other, arguments, denied):
    path = manifest_of(tmp_path, sh("exit 7", more=mine), sh("true", more=other), top=top)
    result = fire(path, tool_payload("claude"), "--host", "claude", *arguments)
    assert (result.exit_code == 2) is denied, result


def test_an_unreadable_manifest_fails_as_it_says(tmp_path):
    path = manifest_of(tmp_path, guard("contract", 'fail = "closed"\nnonsense'))
    result = fire(path, tool_payload("claude"), "--host", "claude")
    assert "is not TOML" in reason_of(result, "claude")
    path.write_text(path.read_text().replace("closed", "open"))
    assert fire(path, tool_payload("claude"), "--host", "claude").exit_code == 1


def test_a_deadline_of_the_whole_event_is_kept_by_each_programs_own_rule(tmp_path):
    path = manifest_of(tmp_path, sh("sleep 60", more='fail = "open"\ntimeout = 60'), sh("""echo '{"user_message": "hi"}'"""))
    result = fire(path, tool_payload("claude"), "--host", "claude", "--timeout", "4")
    assert result.answer == {"systemMessage": "hi"}
    assert "took longer than" in result.stderr


def test_what_a_program_says_on_stderr_beside_its_answer_is_shown(tmp_path):
    path = manifest_of(tmp_path, sh('echo thinking >&2; echo \'{"decision": "deny", "reason": "no"}\''))
    for host in HOSTS:
        result = fire(path, tool_payload(host), "--host", host, "--event", PRE[host])
        assert reason_of(result, host) == "no"
        assert "thinking" in result.stderr, host


def test_a_manifest_can_be_added_to_a_policy(tmp_path):
    manifest = manifest_of(tmp_path, guard("contract"))
    policy = tmp_path / "policy.py"
    top = "from onehook import Hooks\nfrom onehook.policy import load_policy\n"
    policy.write_text(f"{top}hooks = Hooks().use(load_policy({json.dumps(str(manifest))}))\n")
    assert "sh guard" in reason_of(fire(policy, tool_payload("claude", "rm -rf x"), "--host", "claude"), "claude")
