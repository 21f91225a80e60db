"""The decision log: what a line contains, for every agent; and that an answer does not depend on the log unless it is required."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import stat
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import jsonschema
import pytest
from harness import (
    ANY,
    HOSTS,
    ISOLATIONS,
    PACKAGE,
    assert_blocked,
    fire,
    honours,
    launcher,
    policy_text,
    process,
    reason_of,
    stop_payload,
    tool_payload,
)
from hypothesis import example, given, strategies

from onehook.core import Options
from onehook.hosts import load
from onehook.log.reader import entries, log_folder, outcome, quiet_events
from onehook.log.stats import stats
from onehook.logger import append, new_id, stamp

SCHEMA = json.loads((Path(__file__).parent.parent / "docs" / "schema" / "log.json").read_text(encoding="utf-8"))
DENY = "return deny('no such thing')"
RULES = """
[[rule]]
id = "no-rm"
reason = "do not delete the token files"
level = "{level}"
severity = "high"
command = "rm"
"""
PROGRAM = '[[hook]]\nname = "checker"\nevents = ["PreToolUse"]\nspeaks = "claude"\nrun = ["sh", "-c", "echo checked >&2; exit 2"]\n'


@pytest.fixture
def policy(tmp_path):
    def make(text, name="policy.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make


def logged(count=1):
    """The lines that were written, validated against the published schema. Where credentials are masked, they arrive a moment later."""
    deadline = time.monotonic() + 20
    while len(found := list(entries())) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    for entry in found:
        jsonschema.Draft202012Validator(SCHEMA).validate(entry)
    assert len(found) == count
    return found


def entry_of(**fields):
    now = time.time()
    blank = dict.fromkeys(("agent_version", "session", "project", "tool", "reason", "error", "policy", "policy_hash"), "")
    own = {"would": None, "by": [], "effects": [], "dropped": [], "ms": 1.5, "mode": "enforce", "pause": None, "approver": None}
    told = {"time": stamp(now), "id": new_id(now), "agent": ANY, "event": "PreToolUse", "subject": "", "decision": "deny"}
    return {**told, **blank, **own, **fields}


# --- what is in a line -----------------------------------------------------------------------------------------------------------


def test_every_field_on_every_agent(policy, host, tmp_path):
    path = policy(policy_text(DENY))
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    payload = json.loads(json.dumps(tool_payload(host, "ls -la")).replace("/home/dev/p", str(tmp_path / "src")))
    assert reason_of(fire(path, payload, "--host", host), host) == "no such thing"
    (entry,) = logged()
    sent = load(host).parse(payload, "")
    project = str(tmp_path) if sent.cwd else ""
    assert {name: entry[name] for name in ("agent", "agent_version", "session", "project", "event", "tool", "subject")} == {
        "agent": host, "agent_version": sent.host_version, "session": sent.session_id, "project": project, "event": "PreToolUse",
        "tool": "Bash", "subject": "ls -la",
    }  # fmt: skip
    line = 1 + path.read_text().splitlines().index('@hooks.on("PreToolUse")')
    assert entry["by"] == [{"kind": "handler", "name": "guard", "file": str(path), "line": line, "said": "deny", "reason": "no such thing"}]
    told = {name: entry[name] for name in ("decision", "reason", "would", "error", "mode")}
    assert told == {"decision": "deny", "reason": "no such thing", "would": None, "error": "", "mode": "enforce"}
    assert (entry["policy"], entry["policy_hash"]) == (str(path), hashlib.sha256(path.read_bytes()).hexdigest())
    assert 0 < entry["ms"] < 60_000 and abs(time.time() - _epoch(entry["time"])) < 60
    assert entry["pause"] is None and entry["approver"] is None


def _epoch(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@given(strategies.integers(0, 253402300799999))
@example(951782400000)  # 29 February 2000
@example(4107542400000)  # 1 March 2100, which has no leap day
def test_a_time_is_what_the_calendar_says(milliseconds):
    calendar = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    assert stamp((milliseconds + 0.5) / 1000) == f"{calendar:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def test_the_rule_that_decided_is_named_with_its_place(policy):
    path = policy(RULES.format(level="deny"), "onehook.toml")
    fire(path, tool_payload(ANY, "rm x"), "--host", ANY)
    (entry,) = logged()
    (by,) = entry["by"]
    assert (by["kind"], by["name"], by["pack"], by["said"], by["severity"]) == ("rule", "no-rm", "", "deny", "high")
    assert (by["file"], by["line"]) == (str(path), 2) and by["reason"] == "do not delete the token files"
    assert entry["reason"] == "do not delete the token files (rule no-rm)"


@pytest.mark.parametrize(
    "text, kind, name",
    [
        ('packs = ["git"]\n', "rule", "git.push-force"),
        ('[permissions]\ndeny = ["Bash(git push:*)"]\n', "permission", "Bash(git push:*)"),
        ("[policies.git_guard]\n", "policy", "policies.git_guard"),
        (PROGRAM, "program", "checker"),
    ],
)
def test_packs_permissions_ready_policies_and_programs_are_named(policy, text, kind, name):
    path = policy(text, "onehook.toml")
    fire(path, tool_payload(ANY, "git push --force origin main"), "--host", ANY)
    (entry,) = logged()
    assert entry["decision"] == "deny" and (kind, name) in [(by["kind"], by["name"]) for by in entry["by"]]
    assert all(by["file"] == str(path) for by in entry["by"])


def test_under_observe_the_line_says_what_would_have_been(policy):
    fire(policy(policy_text(DENY)), tool_payload(ANY), "--host", ANY, "--mode", "observe")
    (entry,) = logged()
    assert (entry["decision"], entry["would"], entry["mode"], entry["by"][0]["observed"]) == ("none", "deny", "observe", True)


def test_a_rule_at_level_log_is_logged_and_would_do_nothing(policy):
    fire(policy(RULES.format(level="log"), "onehook.toml"), tool_payload(ANY, "rm x"), "--host", ANY)
    (entry,) = logged()
    assert (entry["decision"], entry["would"], entry["by"][0]["said"]) == ("none", None, "log")


EXCEPTION = """
[[exception]]
rule = "no-rm"
command = "rm build"
reason = "it is made anew"
"""


def test_what_an_exception_lets_pass_is_logged_with_the_exception(policy):
    path = policy(RULES.format(level="deny") + EXCEPTION, "onehook.toml")
    result = fire(path, tool_payload(ANY, "rm build"), "--host", ANY)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    (entry,) = logged()
    (by,) = entry["by"]
    assert (entry["decision"], entry["would"], outcome(entry)) == ("none", "deny", "excepted")
    assert (by["name"], by["said"], by["exception"]) == ("no-rm", "deny", "it is made anew") and "observed" not in by
    line = 1 + path.read_text().splitlines().index("[[exception]]")
    assert by["exception_at"] == f"{path}:{line}"
    assert reason_of(fire(path, tool_payload(ANY, "rm build; rm src"), "--host", ANY), ANY).startswith("do not delete")
    both = logged(2)[1]
    assert [("exception" in by, by["said"]) for by in both["by"]] == [(True, "deny"), (False, "deny")] and outcome(both) == "deny"
    total = stats()["total"]
    assert (total["overridden"], total["denied"], total["would_deny"]) == (1, 1, 0)


@pytest.mark.parametrize("fail, decision", [("open", "none"), ("closed", "deny")])
def test_an_error_names_its_handler(policy, fail, decision):
    fire(policy(policy_text("raise ValueError('broken')")), tool_payload(ANY), "--host", ANY, "--fail", fail)
    (entry,) = logged()
    assert (entry["decision"], entry["by"][0]["name"], entry["by"][0]["said"]) == (decision, "guard", "error")
    assert "ValueError: broken" in entry["error"]


def test_what_cannot_be_read_is_logged_too(policy):
    fire(policy(policy_text(DENY)), b"{", "--host", ANY, "--fail", "closed")
    (entry,) = logged()
    assert (entry["agent"], entry["decision"], entry["by"]) == (ANY, "deny", []) and entry["error"]


def test_a_downgraded_ask_says_so(policy):
    host = next(host for host in HOSTS if not honours(host, "PreToolUse", "ask"))
    fire(policy(policy_text("return ask('sure?')")), tool_payload(host), "--host", host)
    (entry,) = logged()
    assert entry["decision"] == "deny" and entry["by"][0]["said"] == "ask"
    assert [(drop["kind"], drop["becomes"]) for drop in entry["dropped"]] == [("downgraded", "deny")]


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_where_nobody_has_a_say_the_event_is_counted(policy, isolation):
    path = policy(policy_text("return None"))
    fire(path, tool_payload(ANY), "--host", ANY, "--isolation", isolation)
    fire(path, stop_payload(ANY), "--host", ANY, "--isolation", isolation)
    assert [(quiet.agent, quiet.event, quiet.tool) for quiet in quiet_events()] == [(ANY, "PreToolUse", "Bash"), (ANY, "Stop", "")]
    assert all(quiet.ms > 0 for quiet in quiet_events()) and not list(entries())


@pytest.mark.parametrize("answer", ["", '{"decision": "allow"}'])
def test_a_program_that_lets_an_event_pass_had_no_say(policy, answer):
    text = f"[[hook]]\nevents = ['PreToolUse']\nspeaks = 'contract'\nrun = ['echo', '{answer}']\n"
    fire(policy(text, "onehook.toml"), tool_payload(ANY), "--host", ANY)
    assert [quiet.event for quiet in quiet_events()] == ["PreToolUse"] and not list(entries())


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_policy_in_a_thread_is_logged_like_one_in_a_process(policy, isolation):
    fire(policy(policy_text(DENY)), tool_payload(ANY), "--host", ANY, "--isolation", isolation)
    assert logged()[0]["by"][0]["name"] == "guard"


def test_a_script_that_calls_run_is_logged(policy):
    path = policy(policy_text(DENY) + f"\nfrom onehook import run\nrun(hooks, host={ANY!r})\n")
    done = subprocess.run(
        [sys.executable, str(path)], input=json.dumps(tool_payload(ANY)).encode(), capture_output=True, check=False, timeout=60
    )
    assert b"no such thing" in done.stdout + done.stderr
    assert logged()[0]["policy"] == str(path)


def test_probes_and_echoes_and_fire_are_not_logged(policy):
    from click.testing import CliRunner

    from onehook.cli import main

    path = policy(policy_text(DENY))
    fire(path, tool_payload(ANY), "--host", ANY, "--probe", "deny")
    CliRunner().invoke(main, ["fire", str(path), "Bash", "ls", "--hosts", ANY])
    assert not os.path.exists(log_folder())


# --- options ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["command line", "Hooks", "rules file", "rules file, as a table"])
def test_the_log_can_be_switched_off(policy, where):
    path = policy(policy_text(DENY, options='log="off"' if where == "Hooks" else ""))
    if where.startswith("rules file"):
        head = '[log]\nwrite = "off"\n' if "table" in where else 'log = "off"\n'
        path = policy(head + RULES.format(level="deny"), "onehook.toml")
    result = fire(path, tool_payload(ANY, "rm x"), "--host", ANY, *(["--log", "off"] if where == "command line" else []))
    assert reason_of(result, ANY) and not os.path.exists(log_folder())


def test_whole_payloads_are_logged_only_if_asked_for(policy):
    text = policy_text("return deny('no')", event="UserPromptSubmit", options="{}")
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/p", "prompt": "my plan, --password=hunter2hunter2"}
    fire(policy(text.format("")), payload, "--host", "claude")
    fire(policy(text.format('log={"content": True}')), payload, "--host", "claude")
    plain, whole = logged(2)
    assert "content" not in plain and "my plan" not in json.dumps(plain)
    assert whole["content"]["prompt"] == "my plan, --password=[password]"


@pytest.mark.parametrize("given", ['log = "loud"', "[log]\nkeep = 0", "[log]\nkept = 1", '[log]\nwrite = "perhaps"'])
def test_wrong_options_are_refused(policy, given):
    result = fire(policy(f"{given}\n{RULES.format(level='deny')}", "onehook.toml"), tool_payload(ANY, "ls"), "--host", ANY)
    assert "[onehook] error" in result.stderr and "log" in result.stderr


# --- an answer does not depend on the log ------------------------------------------------------------------------------------------


def _is_a_file(folder):
    folder.parent.mkdir(parents=True)
    folder.write_text("")


def _line_is_a(make):
    def spoil(folder):
        folder.mkdir(parents=True)
        for name in ("head", f"{time.strftime('%Y-%m-%d', time.gmtime())}.jsonl", f"{time.strftime('%Y-%m-%d', time.gmtime())}.quiet"):
            make(folder / name)

    return spoil


SPOILT = {
    "folder is a file": _is_a_file,
    "directories": _line_is_a(lambda path: path.mkdir()),
    "FIFOs": _line_is_a(os.mkfifo),
    "links": _line_is_a(lambda path: path.symlink_to("/tmp/elsewhere")),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_without_a_log_the_answer_is_the_same(policy, spoil, isolation):
    spoil(Path(log_folder()))
    result = fire(policy(policy_text(DENY)), tool_payload(ANY), "--host", ANY, "--isolation", isolation, "--fail", "closed")
    assert reason_of(result, ANY) == "no such thing"
    quiet = fire(policy(policy_text("return None")), tool_payload(ANY), "--host", ANY, "--isolation", isolation, "--fail", "closed")
    assert (quiet.exit_code, quiet.stdout) == (0, "") and "was not counted" in quiet.stderr
    assert not os.path.exists("/tmp/elsewhere")


def test_in_a_folder_that_is_gone_the_answer_is_the_same(policy, tmp_path):
    (tmp_path / "gone").mkdir()
    words = launcher(policy(policy_text(DENY)), "--host", ANY, "--fail", "closed")
    result = process(["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *words], tool_payload(ANY), cwd=tmp_path / "gone")
    assert reason_of(result, ANY) == "no such thing"
    assert logged()[0]["decision"] == "deny"


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_if_it_is_required_no_log_means_no_action_under_fail_closed(policy, host, spoil):
    spoil(Path(log_folder()))
    for body in ("return allow()", "return None"):
        path = policy(policy_text(body, options='log="required"'))
        assert_blocked(fire(path, tool_payload(host), "--host", host, "--fail", "closed"), host, "not ")
    denied = fire(policy(policy_text(DENY, options='log="required"')), tool_payload(host), "--host", host, "--fail", "closed")
    assert reason_of(denied, host) == "no such thing"


def test_if_it_is_required_under_fail_open_the_answer_stands_and_the_problem_is_reported(policy):
    _is_a_file(Path(log_folder()))
    result = fire(policy(policy_text("return None", options='log="required"')), tool_payload(ANY), "--host", ANY)
    assert result.exit_code == 0 and "was not counted" in result.stderr


def test_if_it_is_required_the_line_is_there_before_the_answer(policy, tmp_path):
    """stdout is a full pipe that nobody reads: a process that writes the answer first never gets to the log."""
    path = policy(policy_text(f"return deny('x' * {1 << 20})", options='log="required"'))
    from harness import launcher

    with subprocess.Popen(launcher(path, "--host", ANY), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(json.dumps(tool_payload(ANY)).encode())
        child.stdin.close()
        (entry,) = logged()
        child.kill()
    assert len(entry["reason"]) == 500


@pytest.mark.parametrize("body", [DENY, "return None"])
def test_without_a_home_no_folder_is_made_in_the_project(policy, tmp_path, body):
    env = {"ONEHOOK_STATE_DIR": "~/no such user's"}
    result = fire(policy(policy_text(body)), tool_payload(ANY), "--host", ANY, env=env, cwd=tmp_path)
    assert not list(tmp_path.glob("~*")) and ("no home folder" in result.stderr or result.exit_code == 2)


def test_a_full_disk_leaves_no_half_line():
    append(entry_of(subject="first"), Options())
    path = next(Path(log_folder()).glob("*.jsonl"))
    before = path.read_bytes()

    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\nimport json\nfrom onehook.core import Options\n"
    code += "from onehook.logger import append\ntry: append(json.loads(sys.argv[1]), Options())\nexcept OSError as error: print(error)"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, len(before) + 100))

    words = [sys.executable, "-c", code, json.dumps(entry_of(subject="second"))]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=limit, check=False, timeout=60)
    assert "disk is full" in done.stdout, done
    assert path.read_bytes() == before
    append(entry_of(subject="third"), Options())
    assert [entry["subject"] for entry in logged(2)] == ["first", "third"]


def test_the_files_are_for_the_user_alone(policy):
    fire(policy(policy_text(DENY)), tool_payload(ANY), "--host", ANY)
    fire(policy(policy_text("return None")), tool_payload(ANY), "--host", ANY)
    modes = {path.suffix or path.name: stat.S_IMODE(path.stat().st_mode) for path in [Path(log_folder()), *Path(log_folder()).iterdir()]}
    assert modes == {"log": 0o700, "head": 0o600, ".jsonl": 0o600, ".quiet": 0o600}


# --- credentials -----------------------------------------------------------------------------------------------------------------


def test_credentials_are_masked_wherever_the_event_is_quoted(policy):
    path = policy(policy_text("return deny('not this: ' + event.command)"))
    secret = "hT7kQ2zL9wXc4Vb8"
    result = fire(path, tool_payload(ANY, f"curl -u admin:{secret} https://a.test"), "--host", ANY)
    assert secret in reason_of(result, ANY)
    (entry,) = logged()
    assert secret not in json.dumps(entry)
    assert entry["subject"] == "curl -u admin:[user-password] https://a.test"
    assert entry["reason"] == entry["by"][0]["reason"] == "not this: curl -u admin:[user-password] https://a.test"


def test_the_reason_of_a_rule_is_not_taken_for_a_credential(policy):
    """It is constant and often names what is secret: masking it would only take time."""
    fire(policy(RULES.format(level="deny"), "onehook.toml"), tool_payload(ANY, "rm x"), "--host", ANY)
    (entry,) = logged()
    from onehook.logger import is_long, texts_of

    assert is_long(entry["reason"]) and not any(map(is_long, texts_of(entry)))


def test_a_key_is_not_logged_in_part(policy):
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7\n" * 400
    fire(policy(policy_text(DENY)), tool_payload(ANY, f"echo '{key}"), "--host", ANY)
    assert logged()[0]["subject"] == "echo '"


def test_long_texts_are_cut(policy):
    fire(policy(policy_text(DENY)), tool_payload(ANY, "echo " + "ab " * 5000), "--host", ANY)
    assert len(logged()[0]["subject"]) == 500


# --- what it costs -----------------------------------------------------------------------------------------------------------------


def test_a_line_needs_no_module_more(policy):
    from harness import launcher, process

    words = launcher(policy(policy_text(DENY)), "--host", ANY)
    fire(policy(policy_text(DENY)), tool_payload(ANY), "--host", ANY)  # the first event creates the folder, and compiles
    account = process([words[0], "-X", "importtime", *words[1:]], tool_payload(ANY)).stderr
    names = [line.rpartition("|")[2].strip() for line in account.splitlines() if line.startswith("import time:")]
    assert "os" not in names and not [name for name in names if name.startswith("onehook.log")], names
