"""`onehook replay`: recorded events through one policy or two, without side effects."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from click.testing import CliRunner
from harness import ANY, HOSTS, fire, policy_text, stop_payload, tool_payload

from onehook.cli.replay import command
from onehook.hosts import load
from onehook.record import replay
from tests.host_folders import captures, transcripts, with_folders
from tests.replaying import in_forks


@pytest.fixture
def write(tmp_path):
    def policy(name, handler, **parts):
        path = tmp_path / name
        path.write_text(policy_text(handler, **parts), encoding="utf-8")
        return str(path)

    return policy


@pytest.fixture
def log(tmp_path):
    def captures(*payloads, name="log.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps({"stdin": payload}) + "\n" for payload in payloads), encoding="utf-8")
        return str(path)

    return captures


def run(*words, home=None, forks=True):
    with in_forks(forks):
        result = CliRunner().invoke(command, [*map(str, words)], env={"HOME": str(home)} if home else {})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def rows(result):
    *found, last = [json.loads(line) for line in result.stdout.splitlines()]
    return found, last["summary"]


UNREAD = next(host for host in HOSTS if host not in with_folders("transcripts"))
DENY_RM = "return deny('no rm') if event.command.startswith('rm') else None"


@pytest.mark.parametrize("host", [host for host in HOSTS if "cwd" in tool_payload(host)])
def test_each_decision_is_shown_with_what_the_host_would_do(host, write, log):
    found, summary = rows(run(log(tool_payload(host, "ls"), tool_payload(host, "rm x")), write("p.py", DENY_RM), "--json"))
    assert [(row["host"], row["tool"], row["about"], row["effect"], row["reason"]) for row in found] == [
        (host, "Bash", "rm x", "blocked", "no rm")
    ]
    assert summary["events"] == 2 and summary["effects"] == {"runs": 1, "blocked": 1}


def test_all_shows_the_events_without_an_opinion_too(write, log):
    found, _ = rows(run(log(tool_payload(ANY, "ls")), write("p.py", DENY_RM), "--json", "--all"))
    assert [row["effect"] for row in found] == ["runs"]


def test_a_recorded_session_is_replayed(write, tmp_path):
    live = write("live.py", DENY_RM)
    for words in ("ls", "rm -r x"):
        fire(live, tool_payload(HOSTS[1], words), "--host", HOSTS[1], env={"ONEHOOK_RECORD": str(tmp_path / "kept")})
    found, summary = rows(run(tmp_path / "kept", live, "--json", forks=False))
    assert [(row["host"], row["about"], row["effect"]) for row in found] == [(HOSTS[1], "rm -r x", "blocked")]
    assert summary["events"] == 2


def test_an_event_that_reaches_no_handler_live_reaches_none_here(write, log):
    again = {"session_id": "s", "transcript_path": "/h/.qwen/x.jsonl", "cwd": "/p", "hook_event_name": "UserPromptSubmit", "prompt": ""}
    policy = write("p.py", "return deny('no')", event="UserPromptSubmit")
    found, summary = rows(run(log({**again, "timestamp": "2026-11-15T19:34:44Z"}), policy, "--json"))
    assert found == [] and summary["effects"] == {"continues": 1}


def test_against_shows_only_what_changes(write, log):
    events = log(*(tool_payload(ANY, command) for command in ("ls", "rm x", "mv a b", "cp a b")))
    old = write("old.py", "return deny('old words') if event.command.startswith(('rm', 'mv')) else None")
    new = write("new.py", "return deny('new words') if event.command.startswith(('rm', 'cp')) else None")
    found, summary = rows(run(events, new, "--against", old, "--json"))
    assert [(row["after"]["about"], row["before"]["effect"], row["after"]["effect"]) for row in found] == [
        ("mv a b", "blocked", "runs"),
        ("cp a b", "runs", "blocked"),
    ]
    assert summary["changed"] == 2
    shown = run(events, new, "--against", old)
    assert "- blocked: old words" in shown.stdout and "+ blocked: new words" in shown.stdout
    assert "2 decisions changed" in shown.stderr


def test_a_changed_rewrite_is_a_change(write, log):
    old = write("old.py", "return allow(modified_input={'command': 'a'})")
    new = write("new.py", "return allow(modified_input={'command': 'b'})")
    found, _ = rows(run(log(tool_payload(ANY)), new, "--against", old, "--json"))
    assert [(row["before"]["modified_input"], row["after"]["modified_input"]) for row in found] == [({"command": "a"}, {"command": "b"})]


def test_two_policies_with_helpers_of_the_same_name_do_not_mix(tmp_path, log):
    for name, word in (("one", "first"), ("two", "second")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "helper.py").write_text(f"WORD = {word!r}")
        (tmp_path / name / "policy.py").write_text(policy_text("from helper import WORD\nreturn allow(modified_input={'command': WORD})"))
    found, _ = rows(run(log(tool_payload(ANY)), tmp_path / "two/policy.py", "--against", tmp_path / "one/policy.py", "--json", forks=False))
    assert [(row["before"]["modified_input"], row["after"]["modified_input"]) for row in found] == [
        ({"command": "first"}, {"command": "second"})
    ]


def test_exit_code_tells_whether_there_was_something_to_show(write, log):
    events, policy = log(tool_payload(ANY, "rm x")), write("p.py", DENY_RM)
    assert run(events, policy).exit_code == 0
    assert run(events, policy, "--exit-code").exit_code == 1
    assert run(events, policy, "--against", policy, "--exit-code").exit_code == 0


def test_rows_come_in_the_order_of_the_events_although_several_processes_work(write, log):
    payloads = [{**tool_payload(ANY, f"rm {number}"), "session_id": f"s-{number % 7}"} for number in range(300)]
    found, summary = rows(run(log(*payloads), write("p.py", DENY_RM), "--json", "--workers", "3", forks=False))
    assert [row["about"] for row in found] == [f"rm {number}" for number in range(300)]
    assert summary["events"] == 300


@pytest.mark.parametrize("small, cores, count", [(10**9, 4, 1), (1, 4, 2), (1, 1, 1)])
def test_a_second_worker_is_started_only_for_much_to_do(small, cores, count, write, log, monkeypatch):
    started, really = [], replay._started
    monkeypatch.setattr(replay, "SMALL", small)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(replay, "_started", lambda stack, orders: started.append(len(orders)) or really(stack, orders))
    payloads = [{**tool_payload(ANY, f"rm {number}"), "session_id": f"s-{number}"} for number in range(6)]
    found, _ = rows(run(log(*payloads), write("p.py", DENY_RM), "--json"))
    assert started == [count] and len(found) == 6


def test_a_session_remembers_within_the_replay_and_nothing_is_left_or_taken_from_live(write, log):
    policy = write("p.py", "n = event.session.increment('n')\nreturn deny(f'call {n}')")
    payloads = [{**tool_payload(ANY), "session_id": f"s-{number % 2}"} for number in range(6)]
    for _ in range(2):
        found, _ = rows(run(log(*payloads), policy, "--json"))
        assert [row["reason"] for row in found] == ["call 1", "call 1", "call 2", "call 2", "call 3", "call 3"]
    assert not os.path.exists(os.environ["ONEHOOK_STATE_DIR"])


def test_stops_are_counted_apart_from_live_too(write, log):
    policy = write("p.py", "return deny('go on')", event="Stop", options="stop_limit=1")
    found, _ = rows(run(log(stop_payload(ANY), stop_payload(ANY, active=True)), policy, "--json", "--all"))
    assert [row["effect"] for row in found] == ["keeps working", "stops"]
    assert not os.path.exists(os.environ["ONEHOOK_STATE_DIR"])


@pytest.mark.parametrize(
    "body",
    [
        "import subprocess; subprocess.run(['touch', {0!r}])",
        "import os; os.system('touch ' + {0!r})",
        "import os; os.fork() or os._exit(0)",
    ],
)
def test_a_policy_starts_no_programs_in_a_replay_unless_it_is_let(body, write, log, tmp_path):
    made = tmp_path / "made"
    policy = write("p.py", body.format(str(made)))
    found, _ = rows(run(log(tool_payload(ANY)), policy, "--json"))
    assert [row["effect"] for row in found] == ["error, continues"] and "a replay does not start programs" in found[0]["reason"]
    assert not made.exists()
    found, _ = rows(run(log(tool_payload(ANY)), policy, "--json", "--run-programs"))
    assert found == [] and ("fork" in body or made.exists())


def test_a_policy_can_tell_that_it_is_a_replay(write, log):
    policy = write("p.py", "import os\nreturn deny(os.environ['ONEHOOK_REPLAY'])")
    assert rows(run(log(tool_payload(ANY)), policy, "--json"))[0][0]["reason"] == "1"


def test_a_handler_that_raises_is_shown_and_under_fail_closed_it_blocks(write, log):
    for options, effect in (("", "error, continues"), ("fail='closed'", "blocked")):
        found, _ = rows(run(log(tool_payload(ANY)), write("p.py", "raise ValueError('bang')", options=options), "--json"))
        assert [(row["effect"], "bang" in row["reason"]) for row in found] == [(effect, True)]


@pytest.mark.skipif(os.name == "nt", reason="there are no timers")
def test_a_handler_that_hangs_is_ended_by_the_policys_deadline(write, log):
    policy = write("p.py", "import time; time.sleep(100)", options="timeout=0.2")
    found, _ = rows(run(log(tool_payload(ANY), tool_payload(ANY)), policy, "--json"))
    assert len(found) == 2 and "timeout" in found[0]["reason"]


def test_what_a_policy_prints_does_not_get_among_the_rows(write, log):
    found, _ = rows(run(log(tool_payload(ANY)), write("p.py", "print('{')\nimport os; os.write(1, b'{')\nreturn deny('no')"), "--json"))
    assert [row["reason"] for row in found] == ["no"]


@pytest.mark.parametrize(
    "top, said", [("import nothing_of_that_name", "No module named"), ("def (:", "SyntaxError"), ("raise SystemExit(0)", "does not load")]
)
def test_a_policy_that_does_not_load_is_an_error(top, said, write, log):
    result = run(log(tool_payload(ANY)), write("p.py", "", top=top), forks=False)
    assert result.exit_code == 1 and said in result.stderr


def test_a_policy_that_ends_the_process_is_an_error(write, log):
    result = run(log(tool_payload(ANY)), write("p.py", "import os; os._exit(4)"), forks=False)
    assert result.exit_code == 1 and "exited with 4" in result.stderr


def test_payloads_of_no_known_host_are_counted_and_can_be_named(write, log):
    events, policy = log({"tool_name": "Shell", "tool_input": {"command": "rm x"}, "strange": 1}, [1]), write("p.py", DENY_RM)
    result = run(events, policy)
    assert "unusable event" in result.stderr
    found, _ = rows(
        run(
            log(
                {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm x"}, "timestamp": 1}
            ),
            policy,
            "--json",
            "--host",
            ANY,
        )
    )
    assert [row["effect"] for row in found] == ["blocked"]


def test_captures_of_real_agents_are_replayed(write):
    files = [path for host in HOSTS for path in captures(host)]
    _, summary = rows(run(*files, write("p.py", "return deny('no')"), "--json"))
    assert summary["unusable"] == {} and summary["effects"]["blocked"] > 10


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    for host in with_folders("transcripts"):
        shutil.copytree(transcripts(host), folder, dirs_exist_ok=True)
    return folder


def test_transcripts_say_what_a_policy_would_have_stopped(write, home):
    policy = write("p.py", "return deny('no rm') if 'rm -rf' in event.command else None")
    result = run("--transcripts", ",".join(with_folders("transcripts")), "--since", "2026-11-01", policy, "--json", home=home)
    found, summary = rows(result)
    assert sorted(row["host"] for row in found) == with_folders("transcripts")
    assert {(row["about"], row["effect"]) for row in found} == {("rm -rf build", "blocked")}
    readers = [load(host, "transcripts") for host in with_folders("transcripts")]
    files = len({path for reader in readers for pattern in reader.FILES for path in (home / reader.FOLDER).glob(pattern)})
    assert summary["files"] == files > len(readers) and summary["unknown"] == {} and summary["unusable"] == {}
    text = run("--transcripts", "all", "--since", "2026-11-01", policy, home=home)
    assert "claude PreToolUse Bash  rm -rf build  blocked: no rm" in text.stdout and f"{files} files" in text.stderr


def test_no_transcript_is_reported_with_the_folders(write, tmp_path):
    result = run("--transcripts", ANY, write("p.py", ""), home=tmp_path)
    assert result.exit_code == 1 and "~/.claude/projects" in result.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["p.py"], "name a LOG before the policy"),
        (["none.jsonl", "p.py"], "log not found: none.jsonl"),
        ([".", "p.py"], "contains no .jsonl file"),
        (["x", "--transcripts", "all", "p.py"], "give only one of"),
        (["--transcripts", UNREAD, "p.py"], f"cannot read transcripts of {UNREAD!r}"),
        (["no.py"], "policy not found"),
    ],
)
def test_wrong_words_are_answered_with_what_to_do(words, said, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("p.py", "")
    result = run(*words)
    assert result.exit_code == 2 and said in result.stderr
