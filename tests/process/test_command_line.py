"""Which host, which policy, which options; and what a wrong command line means."""

from __future__ import annotations

import sys

import pytest
from harness import (
    ANY,
    HOSTS,
    ISOLATIONS,
    assert_blocked,
    assert_blocked_blindly,
    assert_error,
    cold_process,
    fire,
    launcher,
    policy_text,
    process,
    reason_of,
    spread,
    stop_payload,
    tool_payload,
)

from onehook.hosts import READ_BY

DENY = "return deny(event.host)"
SCRIPT_END = "\nif __name__ == '__main__':\n    from onehook import run\n    run(hooks{arguments})\n"


@pytest.fixture
def script(policy):
    """A policy that is also a program."""

    def write(handler, arguments="", **parts):
        path = policy(handler, **parts)
        path.write_text(path.read_text() + SCRIPT_END.format(arguments=arguments))
        return path

    return write


def entries(path):
    return {
        "launcher": launcher(path),
        "module": [sys.executable, "-I", "-m", "onehook", "run", path],
        "verb": [sys.executable, "-I", "-c", "from onehook.cli import main; main()", "run", path],
        "program": [sys.executable, path],
    }


ENTRIES = ("launcher", "module", "verb", "program")


@spread(ENTRIES, {"--host ID": ["--host", "{}"], "--host=ID": ["--host={}"], "detected": []}, names="entry, way, host")
def test_every_way_to_start_a_policy_finds_the_host(script, host, entry, way):
    words = [*entries(script(DENY))[entry], *(word.format(host) for word in way)]
    result = cold_process(words, tool_payload(host))
    assert reason_of(result, host) == host


@spread(ENTRIES, names="entry, host")
def test_every_way_to_start_a_policy_fails_closed(script, host, entry):
    path = script("raise ValueError('bang')", options="fail='closed'")
    result = cold_process([*entries(path)[entry], "--host", host], tool_payload(host))
    assert_blocked(result, host, "bang")


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_way_to_start_a_policy_fails_open(script, entry):
    assert_error(cold_process(entries(script("raise ValueError('bang')"))[entry], tool_payload(ANY)), "bang")


def test_run_with_a_host_needs_no_option_and_wins_over_it(script, host):
    path = script(DENY, f", host={host!r}")
    other = HOSTS[HOSTS.index(host) - 1]
    assert reason_of(process([sys.executable, path], tool_payload(host)), host) == host
    assert reason_of(process([sys.executable, path, "--host", other], tool_payload(host)), host) == host


def test_options_of_run_win_over_those_of_hooks(script, host):
    path = script("raise ValueError('bang')", ", fail='closed'", options="fail='open'")
    assert_blocked(process([sys.executable, path, "--host", host], tool_payload(host)), host, "bang")


@spread([", timeout='soon'", ", timeouts=3", ", fail='closed', timeout=0"], names="arguments, host")
def test_a_wrong_option_of_run_is_an_error_that_keeps_fail_closed(script, host, arguments):
    closed = script(DENY, arguments, options="fail='closed'")
    assert_blocked(process([sys.executable, closed, "--host", host], tool_payload(host)), host, "timeout")
    if "closed" not in arguments:
        assert_error(process([sys.executable, script(DENY, arguments), "--host", host], tool_payload(host)), "timeout", host=host)


def test_a_program_whose_stdout_is_closed_still_exits_with_2(script):
    words = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, script(DENY), "--host", ANY]
    assert process(words, tool_payload(ANY)).exit_code == 2


def test_an_unknown_host_is_an_error_that_names_the_hosts(policy):
    result = fire(policy(DENY), tool_payload(ANY), "--host", "emacs")
    assert_error(result, "unknown agent 'emacs'", ", ".join(HOSTS))


def test_an_unknown_host_blocks_a_tool_call_and_not_a_stop_when_closed(policy):
    arguments = ("--host", "emacs", "--fail", "closed")
    assert_blocked_blindly(fire(policy(DENY), tool_payload(ANY), *arguments), "unknown agent")
    assert_error(fire(policy(DENY), stop_payload(ANY, active=True), *arguments), "unknown agent")


@pytest.mark.parametrize("payload", [{}, {"a": 1}, {"hook_event_name": "PreToolUse"}], ids=repr)
def test_a_payload_of_no_known_host_is_an_error_and_there_is_no_default(policy, payload):
    assert_error(fire(policy(DENY), payload), "name it with --host ID")
    assert_blocked_blindly(fire(policy(DENY), payload, "--fail", "closed"), "name it with --host ID")


@pytest.mark.parametrize(
    "owner, borrower",
    sorted({(host, reader) for host in HOSTS for key, reader in READ_BY.get(host, {}).items() if key in tool_payload(reader)}),
)
def test_a_host_that_borrows_anothers_config_is_answered_in_its_own_words(policy, owner, borrower):
    result = fire(policy(DENY), tool_payload(borrower), "--host", owner)
    assert reason_of(result, borrower) == borrower


WRONG = {
    "an unknown option": (["POLICY", "--bogus", "1"], "--bogus: unknown option 'bogus'"),
    "an unknown option without a value": (["POLICY", "--bogus"], "--bogus needs a value"),
    "an unknown option first": (["--bogus", "POLICY"], "--bogus: unknown option"),
    "a missing value": (["POLICY", "--timeout"], "--timeout needs a value"),
    "a missing value before an option": (["POLICY", "--event", "--timeout", "3"], "--event needs a value"),
    "an empty value": (["POLICY", "--event="], "--event needs a value"),
    "no number": (["POLICY", "--timeout", "soon"], "--timeout:"),
    "not a number": (["POLICY", "--timeout", "nan"], "--timeout:"),
    "zero": (["POLICY", "--timeout", "0"], "--timeout:"),
    "infinity": (["POLICY", "--stop-limit=inf"], "--stop-limit:"),
    "an unknown choice": (["POLICY", "--isolation", "none"], "must be one of process, thread"),
    "two policies": (["POLICY", "other.py"], "unexpected argument 'other.py'"),
    "no policy": ([], "no policy given"),
    "help": (["--help"], "usage: onehook run POLICY"),
}


def words_of(arguments, path):
    return [str(path) if word == "POLICY" else word for word in arguments]


@pytest.mark.parametrize("arguments, text", WRONG.values(), ids=WRONG)
def test_a_wrong_command_line_is_an_error(policy, arguments, text):
    result = process(launcher(*words_of(arguments, policy(DENY)), "--host", ANY), tool_payload(ANY))
    assert_error(result, text, "usage: onehook run POLICY")


@spread(WRONG, ["first", "last", "first with =", "last with ="], names="case, place, host")
def test_a_wrong_command_line_denies_where_fail_closed_is_on_it(policy, host, case, place):
    arguments, text = case
    closed = ["--fail=closed"] if place.endswith("=") else ["--fail", "closed"]
    words = [*words_of(arguments, policy(DENY)), "--host", host]
    words = [*closed, *words] if place.startswith("first") else [*words, *closed]
    assert_blocked(process(launcher(*words), tool_payload(host)), host, text)


WRONG_WITH_A_POLICY = {name: row for name, row in WRONG.items() if "POLICY" in row[0]}


@spread(WRONG_WITH_A_POLICY)
def test_a_wrong_command_line_denies_where_the_policy_fails_closed(policy, host, case):
    arguments, text = case
    path = policy(DENY, options="fail='closed'")
    assert_blocked(process(launcher(*words_of(arguments, path), "--host", host), tool_payload(host)), host, text)


@spread({" ".join(words): words for words in (["--fail", "close"], ["--fail=OPEN"], ["--fail"], ["--fail="])}, names="fail, host")
def test_a_fail_that_cannot_be_understood_is_closed(policy, host, fail):
    assert_blocked(fire(policy(DENY), tool_payload(host), "--host", host, *fail), host, "fail")


def test_a_wrong_command_line_on_a_stop_never_sends_the_agent_back_to_work(policy, host):
    result = fire(policy(DENY), stop_payload(host, active=True), "--host", host, "--fail", "closed", "--bogus", "1")
    assert_error(result, "unknown option", host=host)


def test_a_policy_with_a_space_and_other_letters_in_its_path(policy, tmp_path):
    path = tmp_path / "my p\u00f6licy; $(x) 'q'.py"
    path.write_text(policy_text(DENY))
    assert reason_of(fire(path, tool_payload(ANY)), ANY) == ANY


FOUND = {
    "the one named hooks": ("hooks = Hooks(); other = Hooks()", "hooks"),
    "the only one": ("policy = Hooks()", "policy"),
    "the only one under two names": ("policy = Hooks(); again = policy", "policy"),
    "made by define_hook": ("from onehook import define_hook\nrules = define_hook({})", "rules"),
    "named hooks is something else": ("hooks = [1]; rules = Hooks()", "rules"),
}


@pytest.mark.parametrize("source, name", FOUND.values(), ids=FOUND)
def test_the_hooks_object_is_found(tmp_path, isolation, source, name):
    path = tmp_path / "policy.py"
    path.write_text(f"from onehook import Hooks, deny\n{source}\n{name}.on('PreToolUse')(lambda event: deny('found'))\n")
    assert reason_of(fire(path, tool_payload(ANY), "--isolation", isolation), ANY) == "found"


NOT_FOUND = {
    "none": ("x = 1", "has no Hooks object; write `hooks = Hooks()` in it"),
    "an empty file": ("", "has no Hooks object"),
    "two": ("from onehook import Hooks\na = Hooks(); b = Hooks()", "has 2 Hooks objects and none named `hooks`"),
}


@spread(NOT_FOUND, ISOLATIONS, names="case, isolation, host")
def test_a_policy_without_its_hooks_object_is_an_error(tmp_path, host, isolation, case):
    source, text = case
    path = tmp_path / "policy.py"
    path.write_text(source)
    assert_error(fire(path, tool_payload(host), "--host", host, "--isolation", isolation), text, host=host)
    result = fire(path, tool_payload(host), "--host", host, "--isolation", isolation, "--fail", "closed")
    assert_blocked(result, host, text)
