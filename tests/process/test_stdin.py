"""Any input on stdin: no traceback on stdout, no hang, and no allow under fail=closed."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from harness import (
    ANY,
    HOSTS,
    ISOLATIONS,
    PATIENCE,
    PRE,
    STOP,
    Result,
    answered,
    assert_blocked,
    assert_blocked_blindly,
    assert_error,
    assert_unreadable,
    fire,
    launcher,
    reason_of,
    spread,
    stop_payload,
    tool_payload,
    with_tool,
)

from onehook import Hooks, deny
from onehook.hosts import load
from onehook.runner import MAX_PAYLOAD
from tests.host_folders import facts

DENY_RM = "return deny('no rm') if 'rm' in event.command else None"

UNREADABLE = {
    "empty": (b"", "the payload is empty"),
    "blank": (b" \r\n\t ", "the payload is empty"),
    "only a BOM": (b"\xef\xbb\xbf", "the payload is empty"),
    "text": (b"hello", "not JSON"),
    "cut off": (b'{"tool_name": "Bash"', "not JSON"),
    "a string cut off": (b'{"tool_na', "not JSON"),
    "a list": (b"[1, 2]", "not a JSON object"),
    "null": (b"null", "not a JSON object"),
    "two documents": (b"{} {}", "more than one JSON document"),
    "NaN": (b'{"a": NaN}', "not JSON"),
    "Infinity": (b'{"a": -Infinity}', "not JSON"),
    "invalid UTF-8": (b'{"a": "\xff\xfe"}', "not UTF-8"),
    "UTF-16 without a BOM": ('{"a": 1}'.encode("utf-16-le"), "not JSON"),
    "half a UTF-16 character": (b"\xff\xfe{", "not UTF-8"),
    "a NUL": (b"\0", "not JSON"),
    "an integer of 50,000 digits": (b'{"a": ' + b"9" * 50_000 + b"}", "not JSON"),
    "nested 100,000 lists deep": (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
    "nested 100,000 objects deep": (b'{"a": ' * 100_000, "nested too deeply"),
}


@spread(UNREADABLE)
def test_an_unreadable_payload_is_an_error_and_no_opinion(policy, host, case):
    data, text = case
    assert_unreadable(fire(policy(DENY_RM), data, "--host", host), host, text)


@spread(UNREADABLE)
def test_an_unreadable_payload_of_a_known_event_is_denied_in_the_hosts_words_when_closed(policy, host, case):
    data, text = case
    result = fire(policy(DENY_RM), data, "--host", host, "--fail", "closed", "--event", PRE[host])
    assert_blocked(result, host, text)


@spread(UNREADABLE)
def test_an_unreadable_payload_of_an_unknown_event_is_blocked_by_exit_2_when_closed(policy, host, case):
    data, text = case
    assert_blocked_blindly(fire(policy(DENY_RM), data, "--host", host, "--fail=closed"), text)


@pytest.mark.parametrize("data, text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_payload_of_an_unknown_host_is_blocked_by_exit_2_when_closed(policy, data, text):
    assert_blocked_blindly(fire(policy(DENY_RM, options="fail='closed'"), data), text)
    assert_error(fire(policy(DENY_RM), data), text)


def test_an_unreadable_payload_of_a_stop_never_keeps_the_agent_working(policy, host):
    result = fire(policy(DENY_RM), b"{", "--host", host, "--fail", "closed", "--event", STOP[host])
    assert_unreadable(result, host, "not JSON")


def guard():
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda event: deny("no rm") if "rm" in event.command else None)
    return hooks


@pytest.mark.parametrize("data, text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_payload_is_answered_alike_on_every_host(data, text):
    for host in HOSTS:
        assert_unreadable(answered(host, data, guard), host, text)
        assert_blocked(answered(host, data, guard, PRE[host], fail="closed"), host, text)
        assert_blocked_blindly(answered(host, data, guard, fail="closed"), text)
        assert_unreadable(answered(host, data, guard, STOP[host], fail="closed"), host, text)


WRONG_TYPES = {
    "input a list": {"input": ["rm"]},
    "input null": {"input": None},
    "input a number": {"input": 7},
    "command a number": {"input": {"command": 7}},
    "command a list": {"input": {"command": ["rm", "-rf", "/"]}},
    "name null": {"name": None},
    "name empty": {"name": ""},
    "name a number": {"name": 5},
    "name an object": {"name": {}},
}


def is_taken(host, payload):
    """Whether the agent takes such an input, and would run it: Cline does where models forget what belongs around a list."""
    try:
        return bool(load(host).parse(payload, PRE[host]).command)
    except Exception:  # an event reports it like any other error
        return False


@spread(WRONG_TYPES, names="changed, host")
def test_wrong_types_inside_a_payload_are_an_error_and_denied_when_closed(policy, host, changed):
    payload = with_tool(host, tool_payload(host, "rm"), **changed)
    if is_taken(host, payload):
        assert reason_of(fire(policy(DENY_RM), payload, "--host", host, "--event", PRE[host]), host) == "no rm"
        return
    assert_unreadable(fire(policy(DENY_RM), payload, "--host", host, "--event", PRE[host]), host)
    assert_blocked(fire(policy(DENY_RM), payload, "--host", host, "--fail", "closed", "--event", PRE[host]), host)


@pytest.mark.parametrize("changed", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_types_inside_a_payload_are_answered_alike_on_every_host(changed):
    for host in HOSTS:
        payload = with_tool(host, tool_payload(host, "rm"), **changed)
        if is_taken(host, payload):
            assert reason_of(answered(host, payload, guard, PRE[host]), host) == "no rm"
            continue
        assert_unreadable(answered(host, payload, guard, PRE[host]), host)
        assert_blocked(answered(host, payload, guard, PRE[host], fail="closed"), host)


def names_its_event(host):
    return PRE[host] in tool_payload(host).values()


@pytest.mark.parametrize("name", [host for host in HOSTS if names_its_event(host)])
def test_the_event_that_a_wrong_payload_names_decides_whether_it_is_denied(policy, name):
    tool_call = with_tool(name, tool_payload(name), name=None)
    assert_blocked(fire(policy(DENY_RM), tool_call, "--host", name, "--fail", "closed"), name, "tool name")
    if "tool_name" in stop_payload(name):
        return  # an agent that has this key in every payload
    stop = {**stop_payload(name), "tool_name": None}
    assert_error(fire(policy(DENY_RM), stop, "--host", name, "--fail", "closed"), "tool name", host=name)


@pytest.mark.parametrize("event", [[], {}, 7, None, "NoSuchEvent"], ids=repr)
@pytest.mark.parametrize("arguments", [("--host", ANY), ("--host", HOSTS[1]), ()], ids=["its host", "another", "detected"])
def test_an_event_name_of_another_kind_is_an_error(policy, event, arguments):
    payload = {**tool_payload(ANY), "hook_event_name": event}
    assert_error(fire(policy(DENY_RM), payload, *arguments))
    assert_blocked_blindly(fire(policy(DENY_RM), payload, *arguments, "--fail", "closed"))


ENCODINGS = {
    "UTF-8": lambda text: text.encode(),
    "UTF-8 with a BOM": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16 with a BOM": lambda text: text.encode("utf-16"),
    "UTF-16 big-endian with a BOM": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "blanks around": lambda text: f"\r\n\t {text} \n\n".encode(),
}


@spread(ENCODINGS, names="encode, host")
def test_every_encoding_of_a_payload_reaches_the_handler(policy, host, encode):
    text = json.dumps(tool_payload(host, "rm -rf caf\u00e9 \U0001f600"), ensure_ascii=False)
    result = fire(policy("return deny(event.command)"), encode(text), "--host", host)
    assert reason_of(result, host) == "rm -rf caf\u00e9 \U0001f600"


@spread(ISOLATIONS, names="isolation, host")
def test_a_payload_of_10_megabytes_works(policy, host, isolation):
    big = tool_payload(host, "rm", filler="x" * 10_000_000)
    result = fire(policy("return deny(str(len(event.tool_input['filler'])))"), big, "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "10000000"


@spread(ISOLATIONS, names="isolation, host")
def test_a_reason_of_3_megabytes_works(policy, host, isolation):
    result = fire(policy("return deny('x' * 3_000_000)"), tool_payload(host), "--host", host, "--isolation", isolation)
    reason = reason_of(result, host)
    assert set(reason) == {"x"} and len(reason) == min(3_000_000, facts(host).LONGEST_REASON)


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_payload_over_the_cap_is_read_to_its_end_and_refused(policy, fail):
    hook = subprocess.Popen(
        launcher(policy(DENY_RM), "--host", ANY, "--event", PRE[ANY], "--fail", fail),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert hook.stdin is not None
    block = b" " * (1 << 20)
    for _ in range((MAX_PAYLOAD >> 20) + 2):
        hook.stdin.write(block)  # raises BrokenPipeError if the hook has gone
    hook.stdin.flush()
    stdout, stderr = hook.communicate(timeout=PATIENCE)
    assert b"larger than 64 MB" in stderr
    assert hook.returncode == (2 if fail == "closed" else 1)
    assert bool(stdout) == (fail == "closed")


@spread(ISOLATIONS, names="isolation, host")
def test_lone_surrogates_go_in_and_out(policy, host, isolation):
    data = json.dumps(tool_payload(host, "rm \ud800 x")).encode()  # as an escape, which is how hosts send it
    result = fire(policy("print(event.command)\nreturn deny(event.command)"), data, "--host", host, "--isolation", isolation)
    assert reason_of(result, host) == "rm \ud800 x"


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_printing_what_the_locale_cannot_spell_does_not_break_a_handler(policy, isolation, locale):
    payload = tool_payload(ANY, "rm \u2192 \ud800")
    result = fire(policy("print(event.command)\nreturn deny('no')"), payload, "--isolation", isolation, env={"LC_ALL": locale})
    assert reason_of(result, ANY) == "no"
    assert "\\ud800" in result.stderr


def test_a_number_without_a_json_form_in_the_input_cannot_turn_a_rewrite_into_an_allow(policy, isolation):
    data = json.dumps(tool_payload(ANY, "ls", x=7)).replace("7}", "1e999}").encode()
    rewrite = "return allow(modified_input={'command': 'true'})"
    assert_blocked(fire(policy(rewrite, options="fail='closed'"), data, "--isolation", isolation), ANY, "as JSON")
    assert_error(fire(policy(rewrite), data, "--isolation", isolation), "as JSON")


def start(arguments, closing, **streams):
    """A hook with some of its descriptors closed, as a careless host starts it."""
    shell = " ".join(f"{descriptor}{'<' if descriptor == 0 else '>'}&-" for descriptor in closing)
    words = launcher(*arguments)
    return subprocess.run(["sh", "-c", f'exec "$@" {shell}', "sh", *words], timeout=PATIENCE, check=False, **streams)


def test_a_closed_stdin_is_an_empty_payload(policy):
    done = start([policy(DENY_RM), "--host", ANY], [0], capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"the payload is empty" in done.stderr
    done = start([policy(DENY_RM), "--host", ANY, "--fail", "closed"], [0], capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("closing", [[1], [2], [1, 2]], ids=["stdout", "stderr", "both"])
def test_closed_outputs_leave_the_exit_code_and_the_rest(policy, isolation, closing):
    path = policy("import os\nprint('noise', flush=True)\nos.system('echo more')\nreturn deny('no')")
    arguments = [path, "--host", ANY, "--isolation", isolation]
    done = start(arguments, closing, input=json.dumps(tool_payload(ANY)).encode(), capture_output=True)
    assert done.returncode == 2
    if 1 not in closing:
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    else:
        assert done.stdout == b""
    assert (done.stderr == b"noise\nmore\nno\n") == (2 not in closing)


@pytest.mark.parametrize("broken", ["stdout", "stderr"])
def test_a_broken_pipe_leaves_the_exit_code(policy, isolation, broken):
    read_end, write_end = os.pipe()
    os.close(read_end)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, broken: write_end}
    words = launcher(policy("print('noise')\nreturn deny('no')"), "--host", ANY, "--isolation", isolation)
    done = subprocess.run(words, input=json.dumps(tool_payload(ANY)).encode(), timeout=PATIENCE, check=False, **streams)
    os.close(write_end)
    assert done.returncode == 2
    assert (done.stdout or done.stderr) and b"Traceback" not in (done.stdout or b"") + (done.stderr or b"")


def test_non_blocking_pipes_are_read_and_written_whole(policy, isolation):
    stdin_read, stdin_write = os.pipe()
    stdout_read, stdout_write = os.pipe()
    for descriptor in (stdin_read, stdout_write):
        os.set_blocking(descriptor, False)
    words = launcher(policy("return deny('x' * 500_000)"), "--host", ANY, "--isolation", isolation)
    hook = subprocess.Popen(words, stdin=stdin_read, stdout=stdout_write, stderr=subprocess.DEVNULL)
    os.close(stdin_read)
    os.close(stdout_write)
    data = json.dumps(tool_payload(ANY, "y" * 500_000)).encode()
    with open(stdin_write, "wb") as stdin:
        stdin.write(data)
    with open(stdout_read, "rb") as stdout:
        answer = json.load(stdout)
    assert hook.wait(PATIENCE) == 2
    assert len(answer["hookSpecificOutput"]["permissionDecisionReason"]) == 500_000


def test_a_stdin_that_is_never_closed_ends_at_the_deadline(policy, host):
    read_end, write_end = os.pipe()
    os.write(write_end, json.dumps(tool_payload(host)).encode())
    arguments = ("--host", host, "--event", PRE[host], "--timeout", "0.3", "--fail", "closed")
    done = subprocess.run(launcher(policy(DENY_RM), *arguments), stdin=read_end, capture_output=True, timeout=PATIENCE, check=False)
    os.close(read_end)
    os.close(write_end)
    assert b"stdin was not closed within 0.3 s" in done.stdout + done.stderr
    assert_blocked(Result(done.returncode, done.stdout, done.stderr), host)
